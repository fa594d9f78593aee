#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stepsim beside PyTorch's own recordings, where they are at hand; else skipped (exit status 77).

usage: check-recordings.py SOURCE_ROOT STEPSIM

The recordings and the scripts that compare lie in SOURCE_ROOT/../shared.  What a scenario cannot
say yet is refused there and counts for nothing; what it can say must agree.  The numbers below only
rise: raise them when more comes to agree.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROWS_THAT_AGREE = 215
RECORDINGS_WITH_THE_SAME_ORDER = 50
RECORDINGS_WITH_THE_SAME_SEGMENTS = 6

SKIPPED = 77


def compare_rows(shared, stepsim):
    """Every phase, layer boundary and out-of-memory of each recorded run."""
    with tempfile.NamedTemporaryFile(suffix='.json') as table:
        run = subprocess.run(
            [sys.executable, os.path.join(shared, 'truth', 'compare.py'), '--stepsim', stepsim,
             '-j', '2', '--json', table.name], capture_output=True, text=True)
        if not os.path.getsize(table.name):
            return [f'compare.py ended without a table: {run.stderr.strip()}']
        rows = [row for row in json.load(table) if 'refused' not in row]
    agree = sum(row['agrees'] for row in rows)
    print(f'{agree} of {len(rows)} runs that a scenario can describe agree in every phase')
    problems = [f'{row["id"]} differs' for row in rows if not row['agrees']]
    if agree < ROWS_THAT_AGREE:
        problems.append(f'{agree} rows agree, {ROWS_THAT_AGREE} did')
    return problems


def compare_order(shared, stepsim, wanted, *options):
    """Every allocation in order, and the releases between each two of them."""
    run = subprocess.run(
        [sys.executable, os.path.join(shared, 'truth', 'compare_events.py'), '--stepsim', stepsim,
         *options], capture_output=True, text=True)
    same = len(re.findall(r': same, \d+ blocks', run.stdout))
    print(f'{same} recordings have the same order', *options)
    return [] if same >= wanted else [f'{same} recordings have the same order, {wanted} did'
                                      f'\n{run.stdout}{run.stderr}']


def main():
    shared = os.path.join(sys.argv[1], '..', 'shared')
    stepsim = os.path.abspath(sys.argv[2])
    if not os.path.exists(os.path.join(shared, 'truth', 'compare.py')):
        print('no recordings at hand')
        return SKIPPED
    problems = (compare_rows(shared, stepsim) +
                compare_order(shared, stepsim, RECORDINGS_WITH_THE_SAME_ORDER) +
                compare_order(shared, stepsim, RECORDINGS_WITH_THE_SAME_SEGMENTS, '--segments'))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
