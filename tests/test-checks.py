#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The checks of the source find what they are for, and only that."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)


def load(name):
    path = os.path.join(HERE, name + '.py')
    spec = importlib.util.spec_from_file_location(name.replace('-', '_'), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ARROWS, ARGS, STYLE = load('check-arrows'), load('check-args'), load('check-style')
RECORDINGS = load('check-recordings')


def write_tree(root, files):
    for path, text in files.items():
        os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(root, path), 'w', encoding='utf-8') as file:
            file.write(text)


def found(violations):
    return [f'{path}:{line}: {message}' for path, line, message in sorted(violations)]


# A tree in which all is well.
HEADERS = {
    'memory/tensor.h': '#include <glib.h>\n',
    'memory/category.h': '',
    'memory/allocator.h': '#include "memory/category.h"\n',
    'memory/slab-private.h': '',
    'ops/core/op.h': '#include "memory/tensor.h"\n',
    'ops/core/target.h': '',
    'ops/core/tape.h': '#include "ops/core/op.h"\n',
    'ops/core/tape-private.h': '#include "ops/core/tape.h"\n',
    'hw/device.h': '#include "ops/core/target.h"\n#include "ops/core/op.h"\n',
    'hw/xml.c': '#include <libxml/tree.h>\n',
    'scenarios/scenario.h': '#include "hw/device.h"\n#include "ops/core/tape.h"\n'
                            '#include "memory/allocator.h"\n',
    'sim/engine.h': '#include <glib.h>\n',
    'sim/stream.h': '#include "sim/engine.h"\n',
    'sim/recording.h': '#include "memory/category.h"\n',
    'study/oom-message.h': '',
    'study/explanation.h': '#include "study/oom-message.h"\n',
    'sim/simulate.h': '#include "scenarios/scenario.h"\n#include "sim/recording.h"\n',
    'output/output.h': '#include "sim/recording.h"\n',
    'cli/command.h': '#include "sim/simulate.h"\n#include "output/output.h"\n',
}


class Arrows(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as root:
            write_tree(root, {**HEADERS, **files})
            return found(ARROWS.check(root))

    def test_what_the_table_allows_is_silent(self):
        for path, header in (('memory/a.c', 'memory/slab-private.h'),
                             ('ops/a.c', 'memory/category.h'),
                             ('ops/core/a.c', 'ops/core/tape-private.h'),
                             ('sim/engine.c', 'sim/engine.h'),
                             ('sim/stream.c', 'sim/engine.h'),
                             ('sim/rank.c', 'sim/stream.h'),
                             ('output/a.c', 'memory/category.h'),
                             ('output/a.c', 'study/explanation.h'),
                             ('output/a.c', 'study/oom-message.h'),
                             ('cli/a.c', 'sim/engine.h')):
            with self.subTest(path=path, header=header):
                self.assertEqual(self.check({path: f'#include "{header}"\n'}), [])

    def test_each_room_is_held_to_its_row(self):
        for path, header in (('memory/a.c', 'ops/core/op.h'),
                             ('ops/a.c', 'memory/allocator.h'),
                             ('ops/a.c', 'hw/device.h'),
                             ('hw/a.c', 'ops/core/tape.h'),
                             ('hw/a.c', 'memory/allocator.h'),
                             ('scenarios/a.c', 'sim/engine.h'),
                             ('scenarios/a.c', 'sim/recording.h'),
                             ('scenarios/a.c', 'output/output.h'),
                             ('sim/engine.c', 'memory/tensor.h'),
                             ('sim/engine.c', 'sim/recording.h'),
                             ('sim/stream.h', 'sim/simulate.h'),
                             ('sim/rank.c', 'output/output.h'),
                             ('output/a.c', 'memory/allocator.h'),
                             ('output/a.c', 'sim/simulate.h'),
                             ('output/a.c', 'sim/engine.h'),
                             ('output/a.c', 'ops/core/op.h'),
                             ('output/a.c', 'cli/command.h')):
            with self.subTest(path=path, header=header):
                self.assertIn(f'{path}:2: may not include {header}',
                              self.check({path: f'#include <glib.h>\n#include "{header}"\n'}))

    def test_rooms_of_ops_have_an_order(self):
        headers = {'ops/kinds/view.h': '#include "ops/core/tape.h"\n', 'ops/nn/linear.h': '',
                   'ops/checkpoint/segment.h': '', 'ops/optim/adam.h': '',
                   'ops/families/family.h': '#include "ops/nn/linear.h"\n', 'ops/ledger.h': ''}
        for path, header in (('ops/core/a.c', 'ops/kinds/view.h'),
                             ('ops/kinds/a.c', 'ops/nn/linear.h'),
                             ('ops/checkpoint/a.c', 'ops/nn/linear.h'),
                             ('ops/nn/a.c', 'ops/families/family.h'),
                             ('ops/nn/a.c', 'ops/ledger.h'),
                             ('ops/optim/a.c', 'ops/nn/linear.h'),
                             ('ops/families/a.c', 'ops/optim/adam.h'),
                             ('ops/ledger.c', 'ops/families/family.h')):
            with self.subTest(path=path, header=header):
                self.assertEqual(self.check({**headers, path: f'#include "{header}"\n'}),
                                 [f'{path}:1: may not include {header}'])
        for path, header in (('ops/kinds/a.c', 'ops/core/tape.h'),
                             ('ops/nn/a.c', 'ops/checkpoint/segment.h'),
                             ('ops/optim/a.c', 'ops/kinds/view.h'),
                             ('ops/families/a.c', 'ops/nn/linear.h'),
                             ('ops/loop.c', 'ops/families/family.h')):
            with self.subTest(path=path, header=header):
                self.assertEqual(self.check({**headers, path: f'#include "{header}"\n'}), [])

    def test_no_file_of_ops_includes_itself(self):
        self.assertEqual(
            self.check({'ops/nn/a.h': '#include "ops/nn/b.h"\n',
                        'ops/nn/b.h': '\n#include "ops/nn/a.h"\n'}),
            ['ops/nn/a.h:1: includes itself: ops/nn/b.h, which includes ops/nn/a.h',
             'ops/nn/b.h:2: includes itself: ops/nn/a.h, which includes ops/nn/b.h'])

    def test_what_an_allowed_header_brings_along_is_seen_too(self):
        self.assertEqual(
            self.check({'ops/core/op.h': '#include "ops/core/tape.h"\n', 'ops/core/tape.h': '',
                        'hw/device.h': '#include "ops/core/op.h"\n'}),
            ['hw/device.h:1: must never see ops/core/tape.h: ops/core/op.h, which includes ops/core/tape.h'])
        self.assertEqual(
            self.check({'sim/recording.h': '\n#include "hw/device.h"\n'}),
            ['output/output.h:1: must never see hw/device.h: sim/recording.h, '
             'which includes hw/device.h'])

    def test_private_headers_stay_at_home(self):
        for path in ('hw/a.c', 'cli/a.c', 'scenarios/a.c', 'ops/kinds/a.c'):
            with self.subTest(path=path):
                self.assertEqual(self.check({path: '\n\n#include "ops/core/tape-private.h"\n'}),
                                 [f'{path}:3: ops/core/tape-private.h is private to ops/core/'])

    def test_headers_are_named_with_their_folder(self):
        self.assertEqual(self.check({'ops/a.c': '#include "tape.h"\n'}),
                         ['ops/a.c:1: "tape.h" is no header of a room: write "folder/file.h"'])

    def test_libraries_stay_where_they_belong(self):
        self.assertEqual(self.check({'scenarios/a.c': '#include <libxml/tree.h>\n'}),
                         ['scenarios/a.c:1: <libxml/tree.h> belongs to hw/'])
        self.assertEqual(self.check({'sim/stream.c': '#include <gio/gio.h>\n#include <math.h>\n'}),
                         ['sim/stream.c:1: may include GLib only, not <gio/gio.h>'])

    def test_comments_include_nothing(self):
        self.assertEqual(self.check({'memory/a.c': '/* as in\n#include "ops/core/op.h"\n*/\n'
                                                   '// #include "ops/core/op.h"\n'}), [])

    def test_spacing_hides_nothing(self):
        self.assertEqual(self.check({'memory/a.c': '  #  include"ops/core/op.h"\n'}),
                         ['memory/a.c:1: may not include ops/core/op.h'])


class Args(unittest.TestCase):
    def check(self, text):
        return found(ARGS.check_text('a.c', text))

    def test_one_recording_argument_is_silent(self):
        for text in ('f (t, a, g (t, b));',
                     'f (t, g (t, h (t, a)));',
                     'f (size (a), size (b), g (t, c));',
                     'f (t, a); g (t, b);',
                     'if (f (t, a) && g (t, b)) h (t, c, d);',
                     'void f (void)\n{\n  g (t, a);\n  h (t, b), k (t, c);\n}\n',
                     'x = (SsValue *[]) { a, b, f (t, c) };',
                     'f (t, a /* , g (t, b), h (t, c) */);',
                     'f ("(t, a), g (t, b)", \'(\', g (t, c));',
                     'SsValue *f (SsTape *t, SsValue *(*g) (SsTape *t));'):
            with self.subTest(text=text):
                self.assertEqual(self.check(text), [])

    def test_two_recording_arguments_are_found_at_the_call(self):
        for text, name in (('f (t, g (t, a), h (t, b));', 'f'),
                           ('f (g (t, a), h (t));', 'f'),
                           ('f (t, x + g(t,a), (gint) h (t, b));', 'f'),
                           ('f (t, a->forward (t, a), b->forward (t, b));', 'f'),
                           ('f (t, (*g) (t, a), (*h) (t, b));', 'f'),
                           ('k (t, f (t, g (t, a), h (t, b)));', 'f'),
                           ('k (t, x[f (g (t, a), h (t, b))]);', 'f')):
            with self.subTest(text=text):
                self.assertEqual(self.check('\n' + text),
                                 [f'a.c:2: {name}: 2 arguments record'])

    def test_a_call_over_lines_is_found_where_it_begins(self):
        self.assertEqual(self.check('{\n  f (t,\n     g (t, a),\n     h (t, b),\n     k (t, c));\n}'),
                         ['a.c:2: f: 3 arguments record'])

    def test_initializers_have_no_order_either(self):
        self.assertEqual(self.check('x = f (t, 2, (SsValue *[]) { g (t, a), h (t, b) });'),
                         ['a.c:1: 2 elements of an initializer record'])

    def test_only_ops_is_looked_at(self):
        with tempfile.TemporaryDirectory() as root:
            text = 'f (t, g (t, a), h (t, b));\n'
            write_tree(root, {'ops/nn/a.c': text, 'sim/a.c': text})
            self.assertEqual(found(ARGS.check(root)), ['ops/nn/a.c:1: f: 2 arguments record'])


def source(*lines):
    return '\n'.join(('/* SPDX-License-Identifier: MIT */', *lines, ''))


def function(n_lines):
    """Of that many lines: the type, the name, the braces and statements."""
    return ['static void', 'f (int a,', '   int b)', '{', *['  g ();'] * (n_lines - 5), '}']


class Style(unittest.TestCase):
    def check(self, text, path='ops/a.c'):
        return found(STYLE.check_text(path, text))

    def test_good_files_are_silent(self):
        self.assertEqual(self.check(source('', *function(60))), [])
        self.assertEqual(self.check(source('', '#pragma once'), 'ops/a.h'), [])

    def test_the_licence_line_comes_first(self):
        message = 'ops/a.c:1: the first line is not "/* SPDX-License-Identifier: MIT"'
        self.assertEqual(self.check('int a;\n'), [message])
        self.assertEqual(self.check(''), [message])

    def test_headers_have_pragma_once(self):
        self.assertEqual(self.check(source('int a;'), 'ops/a.h'),
                         ['ops/a.h:1: a header without #pragma once'])

    def test_files_have_a_longest_length(self):
        self.assertEqual(self.check(source(*['int a;'] * 499)), [])
        self.assertEqual(self.check(source(*['int a;'] * 500)),
                         ['ops/a.c:501: 501 lines, at most 500 wanted in a .c file'])
        self.assertEqual(self.check(source('#pragma once', *['int a;'] * 199), 'ops/a.h'),
                         ['ops/a.h:201: 201 lines, at most 200 wanted in a .h file'])

    def test_functions_have_a_longest_length(self):
        self.assertEqual(self.check(source('', *function(61), '', *function(60))),
                         ['ops/a.c:3: a function of 61 lines, at most 60 wanted'])
        self.assertEqual(self.check(source('', 'Test (suite, name)', '{', *['  ;'] * 58, '}')),
                         ['ops/a.c:3: a function of 61 lines, at most 60 wanted'])

    def test_comments_and_directives_do_not_hide_a_function(self):
        body = ['#ifdef A', '/* { */', '  g ();', '#endif', ''] * 12
        self.assertEqual(self.check(source('', '/* says f () */', 'static void', 'f (void)', '{',
                                           *body, '}')),
                         ['ops/a.c:4: a function of 64 lines, at most 60 wanted'])

    def test_tables_are_no_functions(self):
        self.assertEqual(self.check(source('static const int a[] =', '{', *['  1,'] * 90, '};')), [])
        self.assertEqual(self.check(source('typedef struct', '{', *['  int a;'] * 90, '} A;')), [])

    def test_lines_have_a_longest_length_in_characters(self):
        self.assertEqual(self.check(source('/* ' + 'é' * 94 + ' */')), [])
        self.assertEqual(self.check(source('/* ' + 'e' * 95 + ' */')),
                         ['ops/a.c:2: 101 columns, at most 100 wanted'])

    def test_leftovers_are_found(self):
        undone = 'a note of what is not done: do it, or say what is'
        # put together, so that this file itself has none
        for line, message in (('/* TO' + 'DO: all */', undone), ('/* FIX' + 'ME */', undone),
                              ('# if 0', 'dead code'), ('int a; ', 'trailing blanks'),
                              ('int a;\t', 'trailing blanks'), ('int a;\r', 'trailing blanks')):
            with self.subTest(line=line):
                self.assertEqual(self.check(source(line)), [f'ops/a.c:2: {message}'])
        self.assertEqual(self.check(source('#if 00001', '/* METHODOLOGY */')), [])

    def test_rules_can_be_picked(self):
        text = source('int a; ', 'x' * 101)
        self.assertEqual(len(STYLE.check_text('a.c', text)), 2)
        self.assertEqual(len(STYLE.check_text('a.c', text, 'columns')), 1)
        self.assertEqual(STYLE.check_text('a.c', text, 'files', 'functions'), [])


class CommandLine(unittest.TestCase):
    def run_check(self, files, *arguments):
        with tempfile.TemporaryDirectory() as root:
            write_tree(root, files)
            return subprocess.run([sys.executable, os.path.join(HERE, 'check-style.py'),
                                   *(arguments or (root,))],
                                  capture_output=True, text=True, check=False)

    def test_violations_are_printed_by_file_and_line(self):
        result = self.run_check({'sim/b.c': source('int a; '), 'sim/a.c': source('#if 0')})
        self.assertEqual(result.stdout, 'sim/a.c:2: dead code\nsim/b.c:2: trailing blanks\n')
        self.assertEqual(result.returncode, 1)

    def test_a_clean_tree_is_a_success(self):
        result = self.run_check({'sim/a.c': source('int a;')})
        self.assertEqual((result.stdout, result.returncode), ('', 0))

    def test_a_wrong_call_is_told(self):
        for arguments in (('/nowhere',), (HERE, 'taste')):
            with self.subTest(arguments=arguments):
                result = self.run_check({}, *arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn('usage: check-style.py', result.stderr)


class Recordings(unittest.TestCase):
    """Of a compiled run: step 1's tuning buffer of 52,428,800 bytes, else the stated 2.2 %."""

    def excuses(self, line):
        return RECORDINGS.is_excused('compile-a', line, 2.2)

    def test_tuning_buffer(self):
        self.assertTrue(self.excuses('      step 1.1 forward   peak 100 recorded 52,428,900 -99 %'))
        self.assertFalse(self.excuses('      step 1.1 forward   peak 100 recorded 52,428,901 -99 %'))
        self.assertFalse(self.excuses('      step 2.1 forward   peak 100 recorded 52,428,900 -99 %'))
        self.assertFalse(self.excuses('      step 1.1 forward   peak 52,428,900 recorded 100 +99 %'))

    def test_stated_error(self):
        self.assertTrue(self.excuses('      peak of the run    978 recorded 1,000 -2.20 %'))
        self.assertFalse(self.excuses('      peak of the run    977 recorded 1,000 -2.30 %'))

    def test_nothing_else(self):
        self.assertFalse(self.excuses('      step 1.1 backward missing'))
        self.assertFalse(self.excuses('      verdict fits, recorded oom'))


if __name__ == '__main__':
    unittest.main()
