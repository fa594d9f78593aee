# SPDX-License-Identifier: MIT
"""What the checks of the source share: which files there are, and C without comments and strings."""
import os
import re
import sys
from collections import namedtuple

ROOMS = ('memory', 'plan', 'ops', 'hw', 'scenarios', 'sim', 'study', 'output', 'cli')

Violation = namedtuple('Violation', 'path line message')

COMMENT = r'/\*.*?(?:\*/|\Z)|//[^\n]*'
LITERAL = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''


def _blank(match):
    return re.sub(r'[^\n]', ' ', match.group())


def without_comments(text):
    """Comments become blanks: lines and columns stay."""
    return re.sub(f'({LITERAL})|{COMMENT}', lambda m: m.group(1) or _blank(m), text, flags=re.S)


def code_only(text):
    """Comments, strings and characters become blanks."""
    return re.sub(f'{COMMENT}|{LITERAL}', _blank, text, flags=re.S)


def c_files(root, folders=ROOMS):
    """Paths of the .c and .h files below the folders, relative to root, sorted."""
    found = []
    for folder in folders:
        for place, _, names in os.walk(os.path.join(root, folder)):
            found += [os.path.relpath(os.path.join(place, name), root)
                      for name in names if name.endswith(('.c', '.h'))]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding='utf-8', newline='') as file:
        return file.read()


def main(check, rules=()):
    """Runs check (root, *rules) as the arguments say; exit status 1 if it found any violation."""
    arguments = sys.argv[1:]
    if not arguments or not os.path.isdir(arguments[0]) or not set(arguments[1:]) <= set(rules):
        print(' '.join(['usage:', os.path.basename(sys.argv[0]), 'SOURCE-FOLDER',
                        *(f'[{rule}]' for rule in rules)]), file=sys.stderr)
        sys.exit(2)
    violations = sorted(check(*arguments))
    for path, line, message in violations:
        print(f'{path}:{line}: {message}')
    sys.exit(1 if violations else 0)
