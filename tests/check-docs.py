#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What docs/ and the README say of the program is so.

usage: check-docs.py SOURCE_ROOT STEPSIM

stepsim.1 names every command and option there is and no others.  Console blocks of the Markdown
pages are run: what stands under a line `$ stepsim ...` (or `$ tools/run ...`) is its output, a line
of `...` any lines of it, and ` ...` at the end of a line the rest of that.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile


def read(root, *path):
    with open(os.path.join(root, *path), encoding='utf-8') as file:
        return file.read()


def help_of(stepsim, *words):
    return subprocess.run([stepsim, *words], capture_output=True, text=True, check=True).stdout


def commands_of(stepsim):
    """Words of `stepsim --help`: those with a line each, and those for checking."""
    text = help_of(stepsim, '--help').split('Commands (')[1].split('\n\n')[0]
    checking = re.search(r'^  for checking: (.*)$', text, re.M)
    words = re.findall(r'^  ([a-z-]+) {2,}\S', text, re.M)
    return words + (checking.group(1).split(', ') if checking else [])


def check_manual(root, stepsim):
    page = read(root, 'docs', 'stepsim.1')
    commands = commands_of(stepsim)
    options = set(re.findall(r'^ +(?:-\w, )?--([a-z-]+)', help_of(stepsim, '--help-all'), re.M))
    for command in commands:
        options |= set(re.findall(r'^ +(?:-\w, )?--([a-z-]+)', help_of(stepsim, command, '--help'),
                                  re.M))
    options |= {'help-all', 'version'}
    said_commands = set(re.findall(r'^\.It Cm ([a-z-]+)', page, re.M)) - {'auto'}
    said_options = set(re.findall(r'\bFl -([a-z-]+)', page))
    for what, there, said in (('command', set(commands), said_commands),
                              ('option', options, said_options)):
        for name in sorted(there - said):
            yield f'docs/stepsim.1: {what} {name} is missing'
        for name in sorted(said - there):
            yield f'docs/stepsim.1: there is no {what} {name}'


def console_blocks(text):
    """(line number, command, expected output) of each command in a console block."""
    lines = text.splitlines()
    inside, command, output, at = False, None, [], 0
    for number, line in enumerate([*lines, '```'], 1):
        if line.startswith('```'):
            if command is not None:
                yield at, command, output
            inside, command = line == '```console', None
        elif inside and line.startswith('$ '):
            if command is not None:
                yield at, command, output
            at, command, output = number, line[2:], []
        elif inside and command is not None:
            output.append(line)


def pattern_of(line):
    if line.strip() == '...':
        return r'(?:.*\n)*?.*'
    if line.endswith(' ...'):
        return re.escape(line[:-3]) + '.*'
    return re.escape(line)


def matches(expected, output):
    pattern = '\n'.join(pattern_of(line) for line in expected)
    return re.fullmatch(pattern, output.rstrip('\n')) is not None


def run_console(root, stepsim, place, command):
    words = shlex.split(command, comments=True)
    if words[:1] not in (['tools/run'], ['stepsim']):
        return None
    env = dict(os.environ, LC_ALL='C.UTF-8', COLUMNS='80', NO_COLOR='1')
    env.pop('SOURCE_DATE_EPOCH', None)
    run = subprocess.run([stepsim, *words[1:]], cwd=place, env=env, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.stdout


def check_console(root, stepsim, page):
    with tempfile.TemporaryDirectory() as place:
        os.symlink(os.path.join(root, 'scenarios'), os.path.join(place, 'scenarios'))
        for line, command, expected in console_blocks(read(root, page)):
            output = run_console(root, stepsim, place, command)
            while expected and not expected[-1].strip():
                expected.pop()
            if output is not None and not matches(expected, output):
                yield f'{page}:{line}: `{command}` prints\n{output}'


def main():
    root, stepsim = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    pages = ['README.md', *sorted(os.path.join('docs', name)
                                  for name in os.listdir(os.path.join(root, 'docs'))
                                  if name.endswith('.md'))]
    problems = [*check_manual(root, stepsim)]
    for page in pages:
        problems += check_console(root, stepsim, page)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
