#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which file may include which: the arrows between the rooms.

    memory <- plan <- ops <- hw <- scenarios <- sim <- study <- output <- cli
    sim/engine, sim/stream: GLib only
    within ops/: core <- kinds <- checkpoint <- nn <- families; kinds <- optim

Each #include must be allowed by its room's row, and nothing that it brings along may be among what
the room must never see. No file of ops/ includes itself by way of others.
"""
import os
import re

from c_source import Violation, c_files, main, read, without_comments

CLOCK = r'sim/(engine|stream)\.[ch]'
# what a simulation comes to, self-contained
RESULTS = ('sim/recording.h', 'study/explanation.h', 'study/advice.h')
ANY_ROOM = r'(memory|plan|ops|hw|scenarios|sim|study|output|cli)/'

# ops/: a room within it, and what of ops/ it may see
OPS = (
    (r'core/', r'core/'),
    (r'(kernel-profile|ledger|precision)\.', r'(kernel-profile|ledger|precision)\.'),
    (r'kinds/', r'(core|kinds)/'),
    (r'checkpoint/', r'(core|kinds|checkpoint)/'),
    (r'optim/', r'(core|kinds|optim)/'),
    (r'nn/', r'(core|kinds|checkpoint|nn)/|kernel-profile\.'),
    (r'families/', r'(core|kinds|checkpoint|nn|families)/|(kernel-profile|ledger)\.'),
)


def ops_row(room, sees):
    return (rf'ops/{room}', rf'ops/({sees})|plan/|memory/(tensor|category|slab|stream-id)\.h',
            rf'ops/(?!{sees})|memory/alloc|(hw|scenarios|sim|study|output|cli)/')


# file, what it may include, what it must never see; patterns of paths, the first row that fits counts
TABLE = (
    (r'memory/', r'memory/', r'(?!memory/)' + ANY_ROOM),
    (r'plan/', r'plan/|memory/tensor\.h', r'memory/alloc|(ops|hw|scenarios|sim|study|output|cli)/'),
    *(ops_row(room, sees) for room, sees in OPS),
    (r'ops/', r'(ops|plan)/|memory/(tensor|category|slab|stream-id)\.h',
     r'memory/alloc|(hw|scenarios|sim|study|output|cli)/'),
    (r'hw/', r'hw/|ops/core/(op|target)\.h|memory/tensor\.h',
     r'ops/core/tape|memory/(alloc|slab)|(scenarios|sim|study|output|cli)/'),
    (r'scenarios/', r'(scenarios|hw|ops|plan|memory)/', r'(sim|study|output|cli)/'),
    (CLOCK, CLOCK, rf'(?!{CLOCK}){ANY_ROOM}'),
    (r'sim/', r'(sim|scenarios|hw|ops|plan|memory)/', r'(study|output|cli)/'),
    (r'study/', r'(study|sim|scenarios|hw|ops|plan|memory)/', r'(output|cli)/'),
    # and what RESULTS include
    (r'output/', r'output/|(sim/recording|study/(explanation|advice))\.h', r'(ops|hw|scenarios|cli)/'),
    (r'cli/', ANY_ROOM, None),
)

# libraries: only there
SYSTEM = (
    (r'libxml/', r'hw/'),
)
C_LIBRARY = r'(assert|errno|float|inttypes|limits|math|stdbool|stddef|stdint|stdlib|string)\.h'

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.M)


class Tree:
    def __init__(self, root):
        self.includes = {path: self._includes(root, path) for path in c_files(root)}

    @staticmethod
    def _includes(root, path):
        text = without_comments(read(root, path))
        return [(text.count('\n', 0, m.start()) + 1, m.group(1), m.group(2))
                for m in INCLUDE.finditer(text)]

    def closure(self, path):
        """{header: who includes it} of all that including `path` brings along, itself too."""
        seen, todo = {path: None}, [path]
        while todo:
            at = todo.pop(0)
            for _, header, _ in self.includes.get(at, ()):
                if header is not None and header not in seen:
                    seen[header] = at
                    todo.append(header)
        return seen


def way(closure, header):
    """"a.h, which includes b.h, ..." down to the header."""
    steps = [header]
    while closure[steps[0]] is not None:
        steps.insert(0, closure[steps[0]])
    return ', which includes '.join(steps)


def problem_of_header(tree, path, row, header):
    _, allowed, unseen = row
    if header not in tree.includes:
        return f'"{header}" is no header of a room: write "folder/file.h"'
    if header.endswith('-private.h'):
        home = os.path.dirname(header) + '/'
        if not path.startswith(home):
            return f'{header} is private to {home}'
    is_of_result = path.startswith('output/') and any(header in tree.closure(result)
                                                      for result in RESULTS)
    if not re.match(allowed, header) and not is_of_result:
        return f'may not include {header}'
    closure = tree.closure(header)
    for reached in closure:
        if unseen is not None and re.match(unseen, reached):
            return f'must never see {reached}: {way(closure, reached)}'
    return None


def problem_of_circle(tree, path, header):
    if path.startswith('ops/') and path in tree.closure(header):
        return f'includes itself: {way(tree.closure(header), path)}'
    return None


def problem_of_library(path, name):
    for library, home in SYSTEM:
        if re.match(library, name) and not re.match(home, path):
            return f'<{name}> belongs to {home}'
    if re.fullmatch(CLOCK, path) and name != 'glib.h' and not re.fullmatch(C_LIBRARY, name):
        return f'may include GLib only, not <{name}>'
    return None


def check(root):
    tree = Tree(root)
    violations = []
    for path, includes in tree.includes.items():
        row = next(row for row in TABLE if re.match(row[0], path))
        for line, header, library in includes:
            if header is not None:
                problem = (problem_of_header(tree, path, row, header)
                           or problem_of_circle(tree, path, header))
            else:
                problem = problem_of_library(path, library)
            if problem is not None:
                violations.append(Violation(path, line, problem))
    return violations


if __name__ == '__main__':
    main(check)
