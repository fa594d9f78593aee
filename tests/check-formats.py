#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files that other programs read are what those want, and say what the run's JSON says.

usage: check-formats.py SOURCE_ROOT STEPSIM

Traces: the rules of Chrome's trace events as Perfetto and Kineto use them (docs/formats.md).
Snapshots: Python's own pickle reads them, and they are what torch.cuda.memory._snapshot gives.
"""
import bisect
import json
import os
import pickle
import pickletools
import subprocess
import sys

EXACT = ('-s', 'allocator/type=exact')
EXPANDABLE = ('--alloc-conf=expandable_segments:True',)
RUNS = [
    ('teaching-4layer.xml',), ('llama8b-h100.xml',), ('gpt2-a100.xml',),
    ('llama8b-h100-checkpointed.xml',), ('gpt3-layer-paper.xml',), ('llama8b-h100-mixed.xml',),
    ('teaching-4layer.xml', *EXACT), ('teaching-4layer.xml', *EXPANDABLE),
    ('llama1b-rtx4090.xml', *EXPANDABLE, '-s', 'training/gradient-accumulation=2'),
]
SEGMENT_KEYS = {'device', 'address', 'total_size', 'allocated_size', 'active_size',
                'requested_size', 'stream', 'segment_type', 'segment_pool_id', 'is_expandable',
                'frames', 'blocks'}
BLOCK_KEYS = {'address', 'size', 'requested_size', 'state', 'frames'}
ENTRY_KEYS = {'action', 'size', 'stream', 'time_us', 'compile_context', 'user_metadata', 'pool_id'}
# what MemoryViz.js understands
OPCODES = {'PROTO', 'EMPTY_DICT', 'EMPTY_LIST', 'MARK', 'SETITEMS', 'APPENDS', 'SHORT_BINUNICODE',
           'BINUNICODE', 'BININT1', 'BININT2', 'BININT', 'LONG1', 'NEWTRUE', 'NEWFALSE', 'TUPLE2',
           'BINGET', 'LONG_BINGET', 'MEMOIZE', 'STOP'}


class Wrong(Exception):
    pass


def want(condition, text):
    if not condition:
        raise Wrong(text)


def same(what, got, wanted):
    want(got == wanted, f'{what}: {got}, not {wanted}')


def output_of(stepsim, *words):
    run = subprocess.run([stepsim, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    want(run.returncode in (0, 1), run.stderr.decode())
    return run.stdout


def ns(number):
    """Microseconds with three decimals, in integers."""
    return round(number * 1000)


# ---- traces ----

def check_nesting(row, slices):
    open_until = []
    for start, end, name in sorted(slices, key=lambda s: (s[0], -s[1])):
        while open_until and open_until[-1] <= start:
            open_until.pop()
        want(not open_until or end <= open_until[-1], f'row {row}: {name} at {start} ns overlaps')
        open_until.append(end)


def rows_of(events):
    rows = {}
    for event in events:
        if event['ph'] == 'X':
            start = ns(event['ts'])
            want(event['dur'] >= 0, f'{event} lasts less than nothing')
            rows.setdefault(event['tid'], []).append(
                (start, start + ns(event['dur']), event['name']))
    return rows


def check_arrows(events, rows):
    ends = {}
    starts = {row: sorted(s[0] for s in slices) for row, slices in rows.items()}
    for event in events:
        if event['ph'] not in 'sf':
            continue
        key = (event['cat'], event['name'], event['id'])
        pair = ends.setdefault(key, {})
        want(event['ph'] not in pair, f'the id of {key} is not its own')
        pair[event['ph']] = ns(event['ts'])
        at = starts[event['tid']]
        index = bisect.bisect_left(at, ns(event['ts']))
        want(index < len(at) and at[index] == ns(event['ts']), f'{event} touches no slice')
        want(event['ph'] == 's' or event.get('bp') == 'e', f'{event} without bp e')
    for key, pair in ends.items():
        want(set(pair) == {'s', 'f'}, f'{key} has one end')
        want(pair['s'] <= pair['f'], f'{key} points backwards')
    return {kind: sum(key[0] == kind for key in ends) for kind in ('ac2g', 'fwdbwd')}


def check_names(events, rows):
    named = {event['tid'] for event in events if event['name'] == 'thread_name'}
    want(set(rows) <= named, f'rows without names: {set(rows) - named}')
    same('processes', {event['pid'] for event in events}, {1000000})
    for event in events:
        want(event['ph'] in 'XCisfM', f'{event} is of no kind')
        want(event['ph'] == 'M' or isinstance(event['ts'], (int, float)), f'{event} has no time')


def check_counters(events, run, capacity):
    points = [e for e in events if e['ph'] == 'C' and e['name'] == 'memory GiB']
    want(all(a['ts'] <= b['ts'] for a, b in zip(points, points[1:])), 'counters run back')
    states = [p['args'] for p in points if 'reserved' in p['args']]
    most = max(sum(v for k, v in s.items() if k != 'reserved') for s in states)
    peak = run['peak']
    want(abs(most - peak['allocated_bytes'] / 2**30) < 1e-5, f'peak {most} GiB')
    want(max(s['reserved'] for s in states) <= peak['reserved_bytes'] / 2**30 + 1e-6, 'reserved')
    want(all(v >= 0 for s in states for v in s.values()), 'less than nothing')
    limits = [p['args'] for p in points if 'capacity' in p['args']]
    same('limits', len(limits), 2 if capacity is not None else 0)
    busy = [e['args'] for e in events if e['ph'] == 'C' and e['name'] == 'utilization %']
    want(all(0 <= v <= 100 for b in busy for v in b.values()), 'utilization outside 0 to 100')


def check_trace(text, run):
    trace = json.loads(text)
    events = trace['traceEvents']
    rows = rows_of(events)
    check_names(events, rows)
    for row, slices in rows.items():
        check_nesting(row, slices)
    arrows = check_arrows(events, rows)
    kernels = [e for e in events if e['ph'] == 'X' and e.get('cat') == 'kernel']
    same('kernels', len(kernels), run['events']['ops'])
    same('calls', arrows['ac2g'], len(kernels))
    phases = {p['phase'] for s in run['steps'] for p in s['phases']}
    same('arrows to backward', arrows['fwdbwd'] > 0, 'backward' in phases)
    steps = [e for e in events if e['name'].startswith('ProfilerStep#')]
    same('steps', [e['name'] for e in steps],
         ['ProfilerStep#%d' % s['step'] for s in run['steps']])
    for event, step in zip(steps, run['steps']):
        if step['time_ms'] is not None:
            want(abs(event['dur'] / 1000 - step['time_ms']) < 1e-5, 'a step of another length')
    check_counters(events, run, run['device']['capacity_bytes'])
    same('marks', sum('OUT OF MEMORY' in e['name'] for e in events),
         1 if run['verdict'] == 'oom' else 0)


# ---- snapshots ----

def check_state(snapshot):
    end = 0
    for segment in snapshot['segments']:
        same('keys of a segment', set(segment), SEGMENT_KEYS)
        want(segment['address'] >= end, 'segments overlap or are in no order')
        at = segment['address']
        end = at + segment['total_size']
        for block in segment['blocks']:
            same('keys of a block', set(block), BLOCK_KEYS)
            same('where a block begins', block['address'], at)
            at += block['size']
        same('where the blocks of a segment end', at, end)
        used = [b for b in segment['blocks'] if b['state'] == 'active_allocated']
        same('in use', sum(b['size'] for b in used), segment['allocated_size'])
        same('asked', sum(b['requested_size'] for b in used), segment['requested_size'])
        want(all(b['requested_size'] <= b['size'] and b['frames'] for b in used), 'a block')
        for block in used:
            what, where = (frame['name'] for frame in block['frames'])
            # a module's weights are loaded; no op makes them
            if what.startswith('lm_head') and what.endswith(': parameters'):
                same('where a weight is made', where, 'load')


def replay(snapshot):
    """Live blocks and reserved bytes after the history, and the most that was reserved."""
    live, reserved, most, last = {}, 0, 0, 0
    pending = None
    for entry in snapshot['device_traces'][0]:
        action = entry['action']
        same('keys of an entry', set(entry) - {'addr', 'device_free', 'frames'}, ENTRY_KEYS)
        want(entry['time_us'] >= last, 'time runs back')
        last = entry['time_us']
        want((pending is None) == (action != 'free_completed'), 'a free is not in two neighbours')
        if action == 'alloc':
            want(entry['addr'] not in live, 'given out twice')
            live[entry['addr']] = entry['size']
        elif action == 'free_requested':
            same('size of a free', entry['size'], live.pop(entry['addr']))
            pending = entry['addr']
        elif action == 'free_completed':
            same('address of a free', entry['addr'], pending)
            pending = None
        elif action in ('segment_alloc', 'segment_map'):
            reserved += entry['size']
        elif action in ('segment_free', 'segment_unmap'):
            reserved -= entry['size']
            # the viewer looks for the segment of each block that is in use
            end = entry['addr'] + entry['size']
            want(not any(entry['addr'] <= at < end for at in live), 'a segment goes before a block')
        else:
            same('action', action, 'oom')
        most = max(most, reserved)
    return live, reserved, most


def check_snapshot(data, run):
    opcodes = {opcode.name for opcode, _, _ in pickletools.genops(data)}
    want(opcodes <= OPCODES, f'opcodes the viewer does not know: {opcodes - OPCODES}')
    snapshot = pickle.loads(data)
    check_state(snapshot)
    live, reserved, most = replay(snapshot)
    blocks = {b['address']: b['requested_size'] for s in snapshot['segments']
              for b in s['blocks'] if b['state'] == 'active_allocated'}
    same('blocks at the end', blocks, live)
    same('reserved at the end', sum(s['total_size'] for s in snapshot['segments']), reserved)
    same('most reserved', most, run['peak']['reserved_bytes'])
    in_use = sum(s['allocated_size'] for s in snapshot['segments'])
    ooms = [e for e in snapshot['device_traces'][0] if e['action'] == 'oom']
    if run['oom'] is not None:
        same('in use', in_use, run['oom']['allocated_bytes'])
        same('asked', [e['size'] for e in ooms], [run['oom']['requested_bytes']])
        same('free', [e['device_free'] for e in ooms], [run['oom']['free_bytes']])
    else:
        same('in use', in_use, run['steps'][-1]['phases'][-1]['end_allocated_bytes'])
        same('failed', ooms, [])


def main():
    root, stepsim = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    bad = 0
    for scenario, *options in RUNS:
        words = (os.path.join(root, 'scenarios', scenario), *options)
        try:
            run = json.loads(output_of(stepsim, '--json', '--no-files', *words))
            check_trace(output_of(stepsim, 'trace', *words), run)
            check_snapshot(output_of(stepsim, 'snapshot', *words), run)
        except Wrong as wrong:
            print(f'{scenario} {" ".join(options)}: {wrong}')
            bad += 1
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
