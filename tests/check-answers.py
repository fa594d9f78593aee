#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same run from every output: one peak, one headroom, one screen.

usage: check-answers.py SOURCE_ROOT STEPSIM

For each shipped scenario: what the report, the JSON, the timeline, a sweep of one point (table, CSV,
JSON) and the picture say of peak, need and headroom is the same, the answer holds in 24 rows of 80
columns, its first line is the verdict and its last what to do next.
"""
import csv
import glob
import io
import json
import os
import re
import subprocess
import sys
import tempfile

GIB = 1 << 30


def run(stepsim, *words):
    result = subprocess.run([stepsim, *words], capture_output=True, text=True, timeout=300)
    if result.returncode > 1:
        raise SystemExit(f'stepsim {" ".join(words)}: {result.returncode} {result.stderr}')
    return result.stdout


def gib(number, unit):
    return float(number) / {'GiB': 1, 'MiB': 1024, 'KiB': 1 << 20, 'B': GIB}[unit]


def check_report(text, figures, problems):
    lines = text.splitlines()
    if not lines[0].startswith(('FITS. ', 'OUT OF MEMORY ')):
        problems.append(f'the first line is no verdict: {lines[0]}')
    if not lines[-1].startswith('Next: '):
        problems.append(f'the last line is nothing to do: {lines[-1]}')
    if len(lines) > 24:
        problems.append(f'{len(lines)} rows')
    problems += [f'more than 80 columns: {line}' for line in lines[:-1] if len(line) > 80]
    words = ' '.join(lines[:4])
    headroom = re.search(r'[Hh]eadroom (-?[\d.]+) (\w+)', words)
    if abs(gib(*headroom.groups()) - figures['headroom']) > 0.101:
        problems.append(f'headroom {headroom.group(0)}, {figures["headroom"]:.2f} in JSON')
    need = re.search(r'(?:Peak|it needs) ([\d.]+) (\w+)', words)
    if abs(gib(*need.groups()) - figures['need']) > 0.051:
        problems.append(f'{need.group(0)}, {figures["need"]:.2f} in JSON')


def check_timeline(text, run_json, problems):
    rows = list(csv.DictReader(io.StringIO(text)))
    peak = max(int(row['reserved_bytes']) for row in rows) + run_json['device']['context_bytes']
    if peak != run_json['peak']['device_bytes']:
        problems.append(f'the timeline comes to {peak}, JSON {run_json["peak"]["device_bytes"]}')


def check_sweep(stepsim, scenario, figures, run_json, folder, problems):
    path = os.path.join(folder, 'sweep.csv')
    setting = f'training/steps={len(run_json["steps"]) if run_json["verdict"] == "fits" else 2}'
    table = run(stepsim, 'sweep', '-f', '-o', path, scenario, setting)
    with open(path) as file:
        row = next(csv.DictReader(file))
    entry = json.loads(run(stepsim, 'sweep', '--no-files', '--json', scenario, setting))[0]
    numbers = [(int(row['need_bytes']), int(row['headroom_bytes'])),
               (entry['need']['bytes'], entry['need']['headroom_bytes']),
               (entry['need_bytes'], entry['headroom_bytes']),
               (run_json['need_bytes'], run_json['headroom_bytes'])]
    if len(set(numbers)) > 1:
        problems.append(f'sweep CSV, its JSON twice and the run: {numbers}')
    cells = table.splitlines()[1].split()
    scale = {'GiB': 1, 'MiB': 1024}[table.splitlines()[2].split()[0]]
    if abs(float(cells[1]) / scale - figures['need']) > 0.051 \
            or abs(float(cells[2]) / scale - figures['headroom']) > 0.101:
        problems.append(f'the table of a sweep says {cells[1:3]}')


def check_picture(script, run_json, problems):
    """The peak's label has the most that a whole step reserves, with the context."""
    label = re.search(r"'peak(?: of step \d+)?:? ([\d.]+)'", script)
    whole = [step['peak_reserved_bytes'] for step in run_json['steps'] if step['time_ms'] is not None]
    if label is None or not whole:
        return
    peak = max(whole) + run_json['device']['context_bytes']
    if not any(abs(peak / scale - float(label.group(1))) <= 0.051 for scale in (GIB, GIB / 1024)):
        problems.append(f'the picture says {label.group(0)}, a step reserves {peak} with the context')


def check(stepsim, scenario, folder):
    problems = []
    run_json = json.loads(run(stepsim, '--json', '--no-files', '--no-advice', scenario))
    figures = {'need': run_json['need_bytes'] / GIB, 'headroom': run_json['headroom_bytes'] / GIB}
    if run_json['need_bytes'] + run_json['headroom_bytes'] != run_json['device']['capacity_bytes']:
        problems.append('need and headroom are not the capacity')
    if run_json['verdict'] == 'fits' and run_json['need_bytes'] != run_json['peak']['device_bytes']:
        problems.append('what a run that fits needs is not its peak')
    unlimited = json.loads(run(stepsim, '--json', '--no-files', '--no-advice',
                               '--capacity=unlimited', scenario))
    if run_json['verdict'] == 'oom' \
            and unlimited['peak']['device_bytes'] != run_json['need_bytes']:
        problems.append('the run without limit has another peak than was needed')
    check_report(run(stepsim, '--no-files', scenario), figures, problems)
    check_timeline(run(stepsim, '--csv', '--no-files', '--no-advice', scenario), run_json, problems)
    check_sweep(stepsim, scenario, figures, run_json, folder, problems)
    check_picture(run(stepsim, '--gnuplot-script', scenario), run_json, problems)
    return problems


def main():
    root, stepsim = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.chdir(root)
    is_wrong = False
    with tempfile.TemporaryDirectory() as folder:
        for scenario in sorted(glob.glob('scenarios/*.xml')):
            for problem in check(stepsim, scenario, folder):
                print(f'{scenario}: {problem}')
                is_wrong = True
    return 1 if is_wrong else 0


if __name__ == '__main__':
    sys.exit(main())
