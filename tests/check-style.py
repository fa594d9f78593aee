#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What of the C style can be counted: lengths, the licence line, include guards, leftovers."""
import re

from c_source import ROOMS, Violation, c_files, code_only, main, read

MAX_COLUMNS = 100
MAX_FUNCTION_LINES = 60
MAX_FILE_LINES = {'.c': 500, '.h': 200}
# .c files that are one table
PURE_TABLES = set()

LICENCE = '/* SPDX-License-Identifier: MIT'
LEFTOVERS = (
    (re.compile(r'\b(TODO|FIXME)\b'), 'a note of what is not done: do it, or say what is'),
    (re.compile(r'^[ \t]*#[ \t]*if[ \t]+0\b'), 'dead code'),
    (re.compile(r'[ \t\r]\Z'), 'trailing blanks'),
)


def lines_of(text):
    lines = text.split('\n')
    return lines[:-1] if lines[-1] == '' else lines


def files(path, text):
    lines = lines_of(text)
    suffix = path[-2:]
    limit = MAX_FILE_LINES[suffix]
    if not lines or not lines[0].startswith(LICENCE):
        yield 1, f'the first line is not "{LICENCE}"'
    if suffix == '.h' and '#pragma once' not in lines:
        yield 1, 'a header without #pragma once'
    if len(lines) > limit and path not in PURE_TABLES:
        yield limit + 1, f'{len(lines)} lines, at most {limit} wanted in a {suffix} file'


def functions(_, text):
    """A body stands between braces in the first column, the one above after the parameters; the
    function begins with its type, after a blank line or another brace."""
    first = opened = None
    before = ''
    for number, line in enumerate(lines_of(code_only(text)), 1):
        if line.startswith('{') and before.endswith(')'):
            opened = number
            first = first or number
        elif line.startswith('}'):
            if opened is not None and number - first + 1 > MAX_FUNCTION_LINES:
                yield first, (f'a function of {number - first + 1} lines, '
                              f'at most {MAX_FUNCTION_LINES} wanted')
            first = opened = None
        elif opened is None:
            if not line.strip() or line.startswith('#'):
                first = None
            else:
                first = first or number
        before = line.rstrip() or before


def leftovers(_, text):
    for number, line in enumerate(lines_of(text), 1):
        for pattern, message in LEFTOVERS:
            if pattern.search(line):
                yield number, message


def columns(_, text):
    for number, line in enumerate(lines_of(text), 1):
        if len(line) > MAX_COLUMNS:
            yield number, f'{len(line)} columns, at most {MAX_COLUMNS} wanted'


RULES = {rule.__name__: rule for rule in (files, functions, leftovers, columns)}


def check_text(path, text, *names):
    return [Violation(path, number, message)
            for name in names or RULES for number, message in RULES[name](path, text)]


def check(root, *names):
    """Violations of the rules of these names, or of all."""
    return [violation for path in c_files(root, (*ROOMS, 'tests'))
            for violation in check_text(path, read(root, path), *names)]


if __name__ == '__main__':
    main(check, RULES)
