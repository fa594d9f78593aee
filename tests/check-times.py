#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How good times are, on the measured steps and kernels that lie beside the project.

usage: check-times.py STEPSIM SHARED

The limits are those that the models were built to meet; docs/times.md has the figures themselves.
Exit status 77: the measurements are not here.
"""
import json
import os
import subprocess
import sys

# of a table: rows at least, median, 90th percentile and signed median of the error at most, percent
STEPS = (48, 5.5, 11, 3)
# the same of kernels' classes; products: A100, H100 and H200 together with others
KERNELS = {'memory': (60, 10, 32, 3)}


def validate(stepsim, *words):
    result = subprocess.run([stepsim, 'validate', '--json', *words], capture_output=True, text=True,
                            timeout=120)
    if result.returncode != 0:
        sys.exit(f'validate {" ".join(words)}: {result.returncode} {result.stderr}')
    return json.loads(result.stdout)['summary']


def problems_of(name, found, limits):
    n_rows, median, p90, signed = limits
    if found['rows'] < n_rows:
        yield f'{name}: {found["rows"]} rows, {n_rows} wanted'
    for key, value, limit in (('median', found['median_abs_error'], median),
                              ('p90', found['p90_abs_error'], p90),
                              ('signed median', abs(found['median_signed_error']), signed)):
        if value > limit:
            yield f'{name}: {key} {value:.2f} %, at most {limit} % wanted'


def main():
    stepsim, shared = sys.argv[1:]
    measured = os.path.join(shared, 'data', 'measured')
    if not os.path.isdir(measured):
        return 77
    steps = validate(stepsim, os.path.join(measured, 'steps.csv'))
    kernels = validate(stepsim, '--kernels', os.path.join(measured, 'kernels.csv'))
    problems = list(problems_of('steps', steps['time'], STEPS))
    for name, limits in KERNELS.items():
        problems += problems_of(name, kernels[name], limits)
    if steps['oom']['missed'] or steps['oom']['false']:
        problems.append(f'out of memory: {steps["oom"]}')
    print('\n'.join(problems))
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
