#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stepsim-scenario(5) out of scenario-reference.md, so that there is one reference and not two.

usage: scenario-manual.py REFERENCE.md MANUAL.5

Knows as much of Markdown as that page uses: headings, paragraphs, lists, code, tables.
"""
import re
import sys

HEAD = r'''.\" SPDX-License-Identifier: MIT
.\" made from scenario-reference.md
.Dd November 29, 2026
.Dt STEPSIM-SCENARIO 5
.Os
.Sh NAME
.Nm stepsim-scenario
.Nd scenario and model files of stepsim
.Sh DESCRIPTION'''

TAIL = '''.Sh SEE ALSO
.Xr stepsim 1'''


def escaped(text):
    text = text.replace('\\', '\\e')
    return re.sub(r"^([.'])", r'\\&\1', text)


def inline(text):
    """Code becomes quoted, links and emphasis their words."""
    text = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', text)
    text = re.sub(r'\*+([^*]+)\*+', r'\1', text)
    return re.sub(r'`([^`]*)`', r'\\(oq\1\\(cq', escaped(text).replace(' - ', ' \\(en '))


def sentences(text):
    """Each on a line of its own, as the macros want it."""
    return re.sub(r'(?<=[a-z)qB]\.) (?=[A-Z])', '\n', inline(' '.join(text.split())))


def argument(text):
    """One argument of a macro."""
    return '"%s"' % inline(text).replace('"', '""') if text else ''


def cells(line):
    return [cell.strip() for cell in line.strip().strip('|').split('|')]


def attribute_rows(rows):
    """Attribute, default, what it accepts, meaning."""
    yield '.Bl -tag -width Ds'
    for name, default, accepts, meaning in rows:
        default = {'`""`': '', 'required': ''}.get(default, default).strip('*`')
        yield f'.It Cm {name.strip("`")}' + (f' Bq {argument(default)}' if default else '')
        yield sentences(meaning[:1].upper() + meaning[1:] + '.')
        if accepts:
            yield sentences(f'Values: {accepts}.')
    yield '.El'


def other_rows(header, rows):
    yield '.Bl -tag -width Ds'
    for first, *others in rows:
        yield f'.It {argument(first)}'
        yield sentences('; '.join(f'{what}: {cell}' for what, cell in zip(header[1:], others) if cell))
    yield '.El'


def table(lines):
    header, rows = cells(lines[0]), [cells(line) for line in lines[2:]]
    return attribute_rows(rows) if header[0] == 'attribute' else other_rows(header, rows)


def bullets(lines):
    yield '.Bl -bullet'
    for item in re.split(r'^- ', '\n'.join(lines), flags=re.M)[1:]:
        yield '.It'
        yield sentences(item)
    yield '.El'


def heading(title, previous):
    if title.startswith('`<'):
        if not previous.startswith('`<'):
            yield '.Sh ELEMENTS'
            yield 'The default of an attribute stands in brackets.'
        yield f'.Ss {title.strip("`<>")}'
    else:
        yield f'.Sh {title.upper()}'


def blocks(text):
    """Markdown's blocks: a fenced one whole, others between empty lines."""
    for part in re.split(r'(^```.*?^```$)', text, flags=re.S | re.M):
        yield from [part] if part.startswith('```') else re.split(r'\n\n+', part.strip('\n'))


def manual(text):
    title, begins = '', True       # a section's first paragraph needs no macro
    yield HEAD
    for block in blocks(text):
        lines = block.splitlines()
        # italics are for the tables of the page
        if not lines or block.startswith(('# ', 'In the tables, a default in *italics*')):
            continue
        if block.startswith('## '):
            yield from heading(block[3:], title)
            title, begins = block[3:], True
            continue
        if block.startswith('```'):
            yield '.Bd -literal -offset indent'
            yield from map(escaped, lines[1:-1])
            yield '.Ed'
        elif block.startswith('|'):
            yield from table(lines)
        elif block.startswith('- '):
            yield from bullets(lines)
        else:
            if not begins:
                yield '.Pp'
            yield sentences(block)
        begins = False
    yield TAIL


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        text = file.read()
    with open(sys.argv[2], 'w', encoding='utf-8') as file:
        file.write('\n'.join(manual(text)) + '\n')


if __name__ == '__main__':
    main()
