#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""LoRA with dropout beside its recorded graph, phase by phase.

usage: check-graphs.py SOURCE-FOLDER STEPSIM

The graph (../shared/data/graphs, its README) has tensors only: a matrix library's workspace a thread
is added here; flash attention's random state is 16 bytes shorter in it. Exit status: 0 within 64 KiB
in every phase, 1 not, 77 there is no graph at hand.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile

WITHIN = 65536
WORKSPACE = 33554432
SCENARIO = '''<scenario name="dropout">
  <model href="models/llama3-8b.xml" layers="2"/>
  <hardware device="h100-sxm-80gb" capacity="unlimited"/>
  <training steps="2" micro-batch="1" sequence-length="2048"/>
  <adapter type="lora" rank="16" targets="q k v o gate up down" dropout="0.05"/>
  <allocator type="exact"/>
</scenario>
'''


def phases_of(path):
    """Start, peak and end of each phase."""
    live, phases, phase, now, has_workspace = {}, {}, None, 0, set()
    with gzip.open(path, 'rt') as lines:
        for line in map(json.loads, lines):
            if 'mark' in line:
                if phase:
                    phases[phase][2] = now
                phase = (line['step'], line['phase']) if line['mark'] == 'phase' else None
                if phase:
                    phases[phase] = [now, now, now]
            now -= sum(live.pop(storage) for storage in line.get('free', []))
            for storage, size in line.get('new', []):
                live[storage] = size
                now += size
            thread = line.get('backward', False)
            if line.get('op', '').split('.')[1:2] in (['mm'], ['bmm'], ['addmm']):
                now += 0 if thread in has_workspace else WORKSPACE
                has_workspace.add(thread)
            if phase:
                phases[phase][1] = max(phases[phase][1], now)
    return phases


def main():
    source, stepsim = sys.argv[1:3]
    path = os.path.join(source, '..', 'shared', 'data', 'graphs', 'method-lora-dropout.jsonl.gz')
    if not os.path.exists(path):
        print('no recorded graph at hand')
        return 77
    with tempfile.NamedTemporaryFile('w', suffix='.xml') as file:
        file.write(SCENARIO)
        file.flush()
        run = subprocess.run([stepsim, file.name, '--json', '--no-files', '--no-advice'],
                             capture_output=True, text=True, check=True)
    mine = {(step['step'], phase['phase']): phase
            for step in json.loads(run.stdout)['steps'] for phase in step['phases']}
    worst = 0
    for key, recorded in phases_of(path).items():
        if key in mine:
            names = ('start', 'peak', 'end')
            worst = max([worst, *(abs(mine[key][name + '_allocated_bytes'] - value)
                                  for name, value in zip(names, recorded))])
    print(f'{len(mine)} phases, at most {worst} bytes apart')
    return 0 if worst <= WITHIN else 1


if __name__ == '__main__':
    sys.exit(main())
