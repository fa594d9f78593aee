#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mixtures of settings that nobody chose: no crash, no message, and figures that add up.

usage: check-mixtures.py SOURCE_ROOT STEPSIM [FIRST [COUNT]]

Each number is one mixture, always the same.  For each, with no limit to memory and with one that
is often met: categories add up to what is allocated, phases follow without gap, each release is of
something that was allocated before and has its size, and the largest sum of what is alive is the
peak.
"""
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile

FIRST, COUNT = 0, 40

MODELS = ['gpt2', 'gpt2-medium', 'llama3.2-1b', 'smollm2-360m', 'qwen2-0.5b', 'qwen3-8b',
          'mistral-7b']
LENGTHS = [130, 512, 777, 999, 1024, 1500, 2048, 3100]
LONGEST = {'gpt2': 1024, 'gpt2-medium': 1024}
RECIPES = ['fp32', 'bf16', 'bf16', 'bf16-amp', 'fp16-amp', 'bf16-mixed', 'bf16-mixed-fp32-grads']
IMPLEMENTATIONS = {
    'sgd': 3, 'momentum': 3, 'adam': 3, 'adamw': 3, 'adagrad': 2, 'rmsprop': 2, 'nadam': 2,
    'adafactor': 2,
}
CHECKPOINTING = [
    'policy="none"', 'policy="none"', 'policy="full"', 'policy="full" reentrant="yes"',
    'policy="every" every="2"', 'policy="block" layers="1"',
    'policy="block" layers="1" from="last"', 'policy="sequential" segments="2" reentrant="yes"',
    'policy="selective" keep="attention"', 'policy="selective" drop="norms mlp"',
    'policy="nested" levels="2 1"',
]
KERNELS = ['profile="liger"', 'profile="paper"'] + [
    f'profile="hf-sdpa" attention="{attention}" loss="{loss}"'
    for attention in ('sdpa', 'eager', 'sdpa-efficient', 'sdpa-math') for loss in ('hf', 'direct')]
TARGETS = ['q v', 'q k v o', 'q k v o gate up down']
ALLOCATORS = ['', 'expandable_segments:True', 'max_split_size_mb:128',
              'roundup_power2_divisions:4', 'garbage_collection_threshold:0.6']
DEVICES = ['h100-sxm-80gb', 'a100-sxm-80gb', 'rtx-4090']


def mixture(number):
    """The scenario's text, but for the capacity."""
    pick = random.Random(number)
    some = lambda share: pick.random() < share
    model = pick.choice(MODELS)
    optimizer = pick.choice(list(IMPLEMENTATIONS))
    implementation = pick.choice(['for-loop', 'foreach', 'fused'][:IMPLEMENTATIONS[optimizer]])
    length = pick.choice([n for n in LENGTHS if n <= LONGEST.get(model, n)])
    training = {
        'steps': '2', 'micro-batch': pick.choice('123'), 'sequence-length': str(length),
        'gradient-accumulation': pick.choice('1124'),
        'zero-grad': 'zero' if some(0.25) else 'none',
        'hold-outputs': 'yes' if some(0.25) else 'no',
        'resume': 'yes' if some(0.1) else 'no',
    }
    if some(0.3):
        training['clip-grad-norm'] = '1.0'
    if some(0.5):
        training['dropout'] = pick.choice(['0.0', '0.1'])
    adapter = ''
    if not model.startswith('gpt2') and some(0.3):
        adapter = (f'<adapter type="lora" rank="{pick.choice((8, 16))}" '
                   f'targets="{pick.choice(TARGETS)}" dtype="{pick.choice(("base", "fp32"))}"/>')
    return f'''<scenario name="mixture {number}">
  <model href="models/{model}.xml" layers="2"/>
  <hardware device="{pick.choice(DEVICES)}"/>
  <training {' '.join(f'{k}="{v}"' for k, v in training.items())}/>
  <precision recipe="{pick.choice(RECIPES)}"/>
  <optimizer type="{optimizer}" implementation="{implementation}"/>
  <checkpointing {pick.choice(CHECKPOINTING)}/>
  <kernels {pick.choice(KERNELS)}/>
  {adapter}
  <allocator type="caching" alloc-conf="{pick.choice(ALLOCATORS)}"/>
</scenario>
'''


def check_json(answer):
    peak, problems = answer['peak'], []
    if sum(peak['by_category'].values()) != peak['allocated_bytes']:
        problems.append('the categories of the peak do not add up')
    oom = answer['oom']
    if oom and sum(oom['by_category'].values()) != oom['allocated_bytes']:
        problems.append('the categories at the failure do not add up')
    phases = [phase for step in answer['steps'] for phase in step['phases']]
    for before, after in zip(phases, phases[1:]):
        if before['end_allocated_bytes'] != after['start_allocated_bytes']:
            problems.append(f'a gap between {before["phase"]} and {after["phase"]}')
    return problems


def check_events(text, peak_bytes):
    """`peak_bytes` None: what is allocated are blocks, larger than what was asked for."""
    alive, sum_bytes, most_bytes, problems = {}, 0, 0, []
    for row in csv.DictReader(io.StringIO(text)):
        n = int(row['bytes'])
        if row['action'] == 'alloc':
            if row['id'] in alive:
                problems.append(f'{row["id"]} is allocated twice')
            alive[row['id']] = n
            sum_bytes += n
            most_bytes = max(most_bytes, sum_bytes)
        elif row['action'] == 'free':
            if alive.pop(row['id'], None) != n:
                problems.append(f'{row["id"]} is released and was not there with {n} bytes')
            sum_bytes -= n
    if peak_bytes is not None and most_bytes != peak_bytes:
        problems.append(f'{most_bytes} bytes are alive at most, the peak is {peak_bytes}')
    return problems


def check(stepsim, path, options):
    """What is wrong; None: refused, as settings that contradict each other are."""
    def run(*arguments):
        return subprocess.run([stepsim, *arguments, path, *options], capture_output=True, text=True)

    answer = run('--json', '--no-files')
    if answer.returncode == 2 and f'{path}:' in answer.stderr:
        return None
    if answer.returncode not in (0, 1) or answer.stderr:
        return [f'exit status {answer.returncode}: {answer.stderr.strip()}']
    answer = json.loads(answer.stdout)
    problems = check_json(answer)
    peak_bytes = answer['peak']['allocated_bytes'] if 'allocator/type=exact' in options else None
    for command in ('dump-events', 'dump-ops'):
        dump = run(command)
        if dump.returncode not in (0, 1) or dump.stderr:
            problems.append(f'{command}: exit status {dump.returncode}: {dump.stderr.strip()}')
        elif command == 'dump-events':
            problems += check_events(dump.stdout, peak_bytes)
    return problems


def main():
    models, stepsim = os.path.join(sys.argv[1], 'scenarios', 'models'), os.path.abspath(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else FIRST
    count = int(sys.argv[4]) if len(sys.argv) > 4 else COUNT
    n_bad = n_refused = 0
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(models), os.path.join(folder, 'models'))
        path = os.path.join(folder, 'mixture.xml')
        for number in range(first, first + count):
            with open(path, 'w') as file:
                file.write(mixture(number))
            for options in (['--capacity=unlimited', '--set', 'allocator/type=exact'],
                            ['--capacity=3 GiB']):
                problems = check(stepsim, path, options)
                n_refused += problems is None
                if problems:
                    n_bad += 1
                    print(mixture(number), *options)
                    print(*problems[:5], sep='\n')
    print(f'{2 * count} runs of mixtures: {n_refused} refused, {n_bad} wrong')
    return 1 if n_bad or n_refused > count / 2 else 0


if __name__ == '__main__':
    sys.exit(main())
