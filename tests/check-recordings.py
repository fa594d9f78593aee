#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stepsim beside PyTorch's own recordings, where they are at hand; else skipped (exit status 77).

usage: check-recordings.py SOURCE_ROOT STEPSIM requested|reserved|order|segments

  requested  the trace alone: the bytes of each phase's peak as asked for, without an allocator
  reserved   the whole: each phase, layer boundary and out-of-memory, allocated and reserved bytes
  order      each allocation in order, and the releases between each two of them
  segments   what the caching allocator asked of the driver and gave back

The recordings and the scripts that compare lie in SOURCE_ROOT/../shared.  What a scenario cannot
say yet is refused there and counts for nothing; what it can say must agree to the byte.  The
numbers below only rise: raise them when more comes to agree.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROWS_THAT_AGREE = 250
RECORDINGS = {'order': 61, 'segments': 6}

# Runs of torch.compile: docs/kernels.md says by how much they differ, and why.
_TUNED_ANEW = {f'compile-{run}' for run in (
    'llama1b-2l-1x2048', 'llama8b-2l-1x2048', 'llama8b-2l-1x2048-amp', 'llama3-8b-1x8192-inf',
    'llama3-8b-4x2048-inf')}
MAY_DIFFER = {
    'requested': _TUNED_ANEW,
    'reserved': _TUNED_ANEW | {f'compile-{run}' for run in (
        'llama3-8b-1x2048-h100', 'llama3-8b-1x2048-inf', 'llama3-8b-1x8192-h100',
        'llama3.2-1b-1x2048-h100', 'llama3.2-1b-1x2048-inf', 'llama3.2-1b-4x2048-h100',
        'llama3.2-1b-4x2048-inf')},
}

SKIPPED = 77


def compare_rows(shared, stepsim, how):
    with tempfile.NamedTemporaryFile(suffix='.json') as table:
        run = subprocess.run(
            [sys.executable, os.path.join(shared, 'truth', 'compare.py'), '--stepsim', stepsim,
             '--' + how, '-j', '2', '--json', table.name], capture_output=True, text=True)
        if not os.path.getsize(table.name):
            return [f'compare.py ended without a table: {run.stderr.strip()}']
        rows = [row for row in json.load(table) if 'refused' not in row]
    exact = sum(row['exact'] for row in rows)
    print(f'{exact} of {len(rows)} runs that a scenario can describe agree to the byte, {how}')
    problems = [f'{row["id"]} differs' for row in rows
                if not row['exact'] and row['id'] not in MAY_DIFFER[how]]
    problems += [f'{row["id"]} has another verdict' for row in rows if not row['verdict']]
    if exact < ROWS_THAT_AGREE:
        problems.append(f'{exact} rows agree, {ROWS_THAT_AGREE} did')
    return problems


def compare_events(shared, stepsim, how):
    options = ['--segments'] if how == 'segments' else []
    run = subprocess.run(
        [sys.executable, os.path.join(shared, 'truth', 'compare_events.py'), '--stepsim', stepsim,
         *options], capture_output=True, text=True)
    same = len(re.findall(r': same, \d+ blocks', run.stdout))
    print(f'{same} recordings have the same {how}')
    return [] if same >= RECORDINGS[how] else [f'{same} recordings are the same, {RECORDINGS[how]} '
                                               f'were\n{run.stdout}{run.stderr}']


def main():
    shared = os.path.join(sys.argv[1], '..', 'shared')
    stepsim, how = os.path.abspath(sys.argv[2]), sys.argv[3]
    if not os.path.exists(os.path.join(shared, 'truth', 'compare.py')):
        print('no recordings at hand')
        return SKIPPED
    compare = compare_events if how in RECORDINGS else compare_rows
    problems = compare(shared, stepsim, how)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
