#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lays `stepsim dump-ops` beside what PyTorch's dispatcher ran, op by op.

usage: compare-ops.py STEPSIM SHARED [NAME ...]

SHARED holds data/pytorch/ops/NAME.csv.gz, one recording each, and truth/compare.py, which makes a
scenario of a recorded configuration; without them the exit status is 77 (skipped).  Recordings
whose configuration is not in configs.csv, or that stepsim refuses, are left out and counted.

Forward, loss and optimizer: the same ops by name, in the same order, with the same inputs and
outputs, and the same peak above what was allocated before, but for the rests that blocks keep.
Backward: the same ops, inputs and outputs, in any order, for the recorder's own presence changes
which gradients are summed in place.
"""
import collections
import csv
import gzip
import io
import os
import re
import subprocess
import sys
import tempfile

FAMILIES = r'^(fam\.)?(llama|gpt2|mistral|qwen2|qwen3)[^v]*$|^liger-'

# Recorded rows that have no counterpart, and why.
NO_KERNEL = {
    'profiler._record_function_enter_new.default': 'an annotation of the optimizer',
    'profiler._record_function_exit._RecordFunction': 'an annotation of the optimizer',
    'aten.squeeze.dim': 'a view',
    'aten.empty.memory_format': 'only allocates: the kernel that follows has the storage',
    'aten.empty_like.default': 'only allocates: the kernel that follows has the storage',
}
# Step counters of optimizers that keep them on the host, and numbers read from those: ops of no
# device.  They may stand between ours, on f32 scalars or on lists that end with one.
ON_THE_HOST = {
    'aten.lift_fresh.default', 'aten._local_scalar_dense.default', 'aten.add_.Tensor',
    'aten._foreach_add_.Tensor',
}
# Under a dispatch mode these are made out of place.
OUT_OF_PLACE = {'aten.add_.Tensor': 'aten.add.Tensor'}

# A block of the large pool keeps a rest of up to 1 MiB, as the state of the cache has it
# (kSmallSize of c10/cuda/CUDACachingAllocator.cpp); smaller requests are rounded to 512 bytes.
SMALL_BYTES = 1 << 20
DTYPE_BYTES = {'bool': 1, 'i64': 8, 'i32': 4, 'f32': 4, 'bf16': 2, 'f16': 2, 'torch.uint64': 8,
               'torch.float64': 8}

Row = collections.namedtuple('Row', 'op inputs outputs extra')


def elements(operand):
    """(dtype, number of elements): a Triton kernel is given flattened views."""
    dtype, sizes = operand[:-1].split('[')
    count = 1
    for size in filter(None, sizes.split('x')):
        count *= int(size)
    return dtype, count


def rests(row):
    """What the rests of its outputs may come to."""
    operands = row.outputs.split()
    if row.outputs.endswith(' tensors'):
        return int(operands[0]) * SMALL_BYTES
    large = [o for o in operands if elements(o)[1] * DTYPE_BYTES[elements(o)[0]] > SMALL_BYTES]
    return len(large) * SMALL_BYTES


def triton(row):
    """Outputs are inputs too, and may be inputs already: which tensors, not how often."""
    operands = f'{row.inputs} {row.outputs}'.split()
    return Row(row.op, ' '.join(sorted({'%s*%d' % elements(o) for o in operands})), '', row.extra)


def rows_of(table):
    """{(step, micro-batch, phase): [Row]}; what was only allocated counts for the next kernel."""
    phases, pending = {}, 0
    for r in table:
        extra = int(r['peak_in_op']) - int(r['allocated_before'])
        if r['op'].startswith('aten.empty'):
            pending += extra
            continue
        if r['op'] in NO_KERNEL:
            continue
        row = Row(r['op'], r['inputs'], r['outputs'], extra + pending)
        pending = 0
        if r['op'].startswith('triton.'):
            row = triton(row)
        if r['op'] == 'aten.lift_fresh.default':
            row = row._replace(inputs='', extra=0)    # its input was made unseen
        phases.setdefault((r['step'], r['micro_batch'], r['phase']), []).append(row)
    return phases


def may_be_on_the_host(row):
    lists = row.inputs.endswith(' tensors')
    scalars = set(row.inputs.split()) <= {'f32[]'}
    return row.op in ON_THE_HOST and row.extra == 0 and (lists or scalars)


def renamed(row):
    return row._replace(op=OUT_OF_PLACE.get(row.op, row.op))


def same_kernel(mine, true):
    """Equal but for the memory; a sum may be out of place here and in place there."""
    return renamed(mine)[:3] == renamed(true)[:3]


def compare_in_order(mine, true):
    problems, k = [], 0
    for row in true:
        here = mine[k] if k < len(mine) else None
        if here is None or not same_kernel(here, row):
            if may_be_on_the_host(row):
                continue
            problems.append(f'op {k}: recorded {row}, stepsim {here}')
            break
        k += 1
        if here.op == row.op and abs(here.extra - row.extra) > rests(row):
            problems.append(f'op {k - 1}: {row.op} {row.inputs}: '
                            f'recorded {row.extra:,} bytes in it, stepsim {here.extra:,}')
    else:
        if k < len(mine):
            problems.append(f'{len(mine) - k} ops more than recorded, the first {mine[k]}')
    return problems


def compare_as_sets(mine, true):
    count = lambda rows: collections.Counter(renamed(row)[:3] for row in rows)
    a, b = count(mine), count(true)
    return [f'{n} of {op} {i} -> {o} more than {where}'
            for where, more in (('recorded', a - b), ('stepsim has', b - a))
            for (op, i, o), n in more.items()]


def compare(name, config, mine, true):
    """[what differs], number of rows compared"""
    problems, n = [], 0
    mine, true = rows_of(mine), rows_of(true)
    for key, rows in true.items():
        step, _, phase = key
        # the recorder unpacked in step 1 what autograd kept, which runs checkpointed forwards again
        if phase == 'loss' and step == '1' and config['checkpointing'] == 'hf-nonreentrant':
            continue
        how = compare_as_sets if phase == 'backward' else compare_in_order
        problems += [f'{name} step {step} {phase}: {p}' for p in how(mine.get(key, []), rows)]
        n += len(rows)
    return problems, n


def dump(stepsim, text):
    """The rows, or None and why it was refused."""
    with tempfile.NamedTemporaryFile('w', suffix='.xml') as file:
        file.write(text)
        file.flush()
        run = subprocess.run([stepsim, 'dump-ops', file.name], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        return None, (run.stderr.strip().splitlines() or [f'exit status {run.returncode}'])[0]
    return list(csv.DictReader(io.StringIO(run.stdout))), ''


def main():
    stepsim, shared, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    logs = os.path.join(shared, 'data', 'pytorch', 'ops')
    if not os.path.isdir(logs):
        print('the recordings are not here')
        return 77
    sys.path.insert(0, os.path.join(shared, 'truth'))
    from compare import scenario
    with open(os.path.join(shared, 'data', 'pytorch', 'configs.csv')) as file:
        configs = {row['id']: row for row in csv.DictReader(file)}
    models = os.path.abspath(os.path.join(shared, 'data', 'hf_configs'))
    same = total = n_rows = refused = 0
    for file in sorted(os.listdir(logs)):
        name = file[:-len('.csv.gz')]
        config = configs.get(name) or configs.get('plain-' + name)
        if config is None or (name not in names if names else not re.search(FAMILIES, name)):
            continue
        mine, why = dump(stepsim, scenario(config, models))
        if mine is None:
            print(f'{name}: refused: {why}')
            refused += 1
            continue
        with gzip.open(os.path.join(logs, file), 'rt') as log:
            problems, n = compare(name, config, mine, list(csv.DictReader(log)))
        total, same, n_rows = total + 1, same + (not problems), n_rows + n
        print('\n'.join(problems) if problems else f'{name}: same, {n} ops')
    print(f'{same} of {total} recordings have the same ops ({n_rows} rows); {refused} refused')
    return 0 if total and same == total else 1


if __name__ == '__main__':
    sys.exit(main())
