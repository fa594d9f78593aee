#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""At most one argument of a call, or element of an initializer, may itself record an op.

C leaves open in which order they are evaluated, and the order of ops is the order of memory.  A call
records if its first argument is the tape: `ss_add (t, a, b)`.
"""
import re

from c_source import Violation, c_files, code_only, main, read

KEYWORDS = {'if', 'while', 'for', 'switch', 'return', 'sizeof'}

TOKEN = re.compile(r'(?P<open>[({\[])|(?P<close>[)}\]])|(?P<comma>,)|(?P<semicolon>;)|\n')
CALLEE = re.compile(r'(\w+|\))\s*\Z')
TAPE = re.compile(r'\(\s*t\s*[,)]')


class List:
    """An open bracket: of a call, of an initializer, or any other, whose parts are not counted."""

    def __init__(self, bracket, name, line):
        self.name = name
        self.line = line
        self.is_counted = bracket == '{' or bracket == '(' and name is not None
        self.this_part_records = False
        self.n_recording = 0

    def end_part(self):
        self.n_recording += self.this_part_records
        self.this_part_records = False

    def problem(self):
        self.end_part()
        if not self.is_counted or self.n_recording < 2:
            return None
        if self.name is None:
            return f'{self.n_recording} elements of an initializer record'
        return f'{self.name}: {self.n_recording} arguments record'


def callee_before(code, at):
    match = CALLEE.search(code, max(0, at - 200), at)
    if match is None or match.group(1) in KEYWORDS:
        return None
    return 'call' if match.group(1) == ')' else match.group(1)


def check_text(path, text):
    code = code_only(text)
    violations, stack, line = [], [], 1
    for token in TOKEN.finditer(code):
        if token.group() == '\n':
            line += 1
        elif token.group('open'):
            bracket = token.group()
            name = callee_before(code, token.start()) if bracket == '(' else None
            if name is not None and TAPE.match(code, token.start()):
                for around in stack:
                    around.this_part_records = True
            stack.append(List(bracket, name, line))
        elif not stack:
            continue
        elif token.group('comma'):
            stack[-1].end_part()
        elif token.group('semicolon'):
            # a block, not an initializer
            stack[-1].is_counted = False
        else:
            closed = stack.pop()
            problem = closed.problem()
            if problem is not None:
                violations.append(Violation(path, closed.line, problem))
    return violations


def check(root):
    return [violation for path in c_files(root, ('ops',))
            for violation in check_text(path, read(root, path))]


if __name__ == '__main__':
    main(check)
