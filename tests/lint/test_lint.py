"""Lint must be able to fail: each violation is planted in a small clean tree, and its rule must turn red."""
import os
import subprocess

import pytest

import ctext
import lint

GOOD = '''\
#include "base/good.h"

/* free(x) in a comment and "malloc(" in a string are no calls */
int
good_add(int a, struct ops *o)
{
	return o->close(a) + (int)sizeof("strcpy(");
}
'''
TEST = '#include "base/good.h"\n\nint\nmain(void)\n{\n\treturn 0;\n}\n'


@pytest.fixture(name='root')
def _root(tmp_path):
    write(tmp_path, 'src/base/good.c', GOOD)
    write(tmp_path, 'include/base/good.h', 'struct ops;\nint good_add(int a, struct ops *o);\n')
    write(tmp_path, 'tests/unit/base/test_good.c', TEST)
    return tmp_path


def write(root, path, text):
    full = root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_text(text)


def broken(root, objects=None):
    return lint.run(lint.Tree(str(root), objects), lint.read_exceptions(str(root)))


def body(lines):
    return 'int\nlong_one(void)\n{\n' + '\t;\n' * lines + '}\n'


PLANTED = [
    ('layers', 'src/base/bad.c', '#include "event/loop.h"\n'),
    ('layers', 'src/event/bad.c', '#include "cfg/lexer.h"\n'),
    ('layers', 'src/proxy/bad.c', '#include "event/poller.h"\n'),
    ('layers', 'src/proxy/bad.c', '#include "tls/tls.h"\n'),
    ('layers', 'src/http/bad.c', '#include "net/addr.h"\n'),
    ('layers', 'include/net/bad.h', '#include "proxy/proxy.h"\n'),
    ('layers', 'src/base/bad.c', '#include "good.h"\n'),
    ('layers', 'src/other/bad.c', '#include "base/good.h"\n'),
    ('layers', 'src/event/bad.c', '#include <ev.h>\n'),
    ('layers', 'src/net/bad.c', '#include <openssl/ssl.h>\n'),
    ('layers', 'src/cfg/bad.c', '#include <jemalloc/jemalloc.h>\n'),
    ('mirror', 'src/base/bad.c', 'int\nbad(void)\n{\n\treturn 0;\n}\n'),
    ('mirror', 'tests/unit/base/test_gone.c', TEST),
    ('sizes', 'src/base/bad.c', 'int x;\n' * 801),
    ('sizes', 'include/base/bad.h', '\n' * 801),
    ('sizes', 'src/base/bad.c', body(98)),
    ('sizes', 'tests/unit/base/test_good.c', body(98)),
    ('sizes', 'src/base/bad.c', body(99).replace('int\n', 'static int ').replace(')\n{', ') {')),
    ('words', 'src/base/bad.c', 'static void *\nbad(void)\n{\n\treturn malloc(1);\n}\n'),
    ('words', 'src/base/bad.c', '#define COPY(a, b) strcpy(a, b)\n'),
    ('words', 'src/cfg/bad.c', 'static void\nbad(char *p)\n{\n\tfree (p);\n}\n'),
    ('words', 'src/net/bad.c', 'static void\nbad(void)\n{\n\tif (!recv(1, 0, 0, 0))\n\t\t;\n}\n'),
    ('words', 'src/proxy/bad.c', 'static void\nbad(void)\n{\n\tclose(1);\n}\n'),
    ('words', 'src/net/bad.c', 'static void\nbad(void)\n{\n\tprintf("x");\n}\n'),
    ('words', 'src/app/bad.c', 'static void\nbad(void)\n{\n\tsystem("x");\n}\n'),
    ('words', 'include/base/bad.h', 'static inline int\nbad(void)\n{\n\treturn atoi("1");\n}\n'),
    ('text', 'src/base/bad.c', 'int x; \n'),
    ('text', 'src/base/bad.c', 'int x;'),
    ('text', 'src/base/bad.c', 'int x;\n\n'),
    ('text', 'src/base/bad.c', '    int x;\n'),
    ('text', 'src/base/bad.c', '  \tint x;\n'),
    ('text', 'src/base/bad.c', '/* ' + 'x' * 98 + ' */\n'),
    ('text', 'src/base/bad.c', '\t' * 12 + 'int x;\n'),
    ('text', 'README.md', 'run it in /' + 'work/main\n'),
    ('text', 'conf/bad.cfg', '# /' + 'root/x\n'),
    ('text', 'src/base/bad.c', '/* TO' + 'DO: all of it */\n'),
    ('text', 'man/bad.8', '<<<<' + '<<< HEAD\n'),
]


def test_a_clean_tree_is_green(root):
    assert not any(broken(root).values())


@pytest.mark.parametrize('rule,path,text', PLANTED, ids=[f'{n}-{p[0]}' for n, p in enumerate(PLANTED)])
def test_each_planted_violation_is_red(root, rule, path, text):
    write(root, path, text)
    assert [line for line in broken(root)[rule] if path in line]


@pytest.mark.parametrize('path,text', [
    ('src/base/mem.c', 'static void *\nx(void)\n{\n\treturn malloc(1);\n}\n'),
    ('src/base/sys_linux.c', 'static int\nx(void)\n{\n\treturn close(1);\n}\n'),
    ('src/app/cli.c', 'static void\nx(void)\n{\n\tputs("usage");\n}\n'),
    ('src/proxy/x.c', '#include "event/loop.h"\n#include "event/timer.h"\n'),
    ('src/event/poller_ev.c', '#include <ev.h>\n'),
    ('src/base/x.c', '#include "x.c"\n'),
    ('include/base/wide.tbl.h', '/* ' + 'x' * 150 + ' */\n'),
])
def test_what_is_in_its_place_is_green(root, path, text):
    write(root, path, text)
    write(root, 'tests/unit/' + path[4:-2].replace('/', '/test_') + '.c', TEST)
    found = broken(root)
    assert not found['words'] and not found['layers'] and not found['text']


def test_an_exception_counts_and_must_be_needed(root):
    write(root, 'src/base/bad.c', 'static void\nbad(void)\n{\n\tclose(1);\n}\n')
    write(root, 'tests/unit/base/test_bad.c', TEST)
    write(root, 'tests/lint/exceptions', 'words\tsrc/base/bad.c:close\tto show it\n')
    assert not any(broken(root).values())
    write(root, 'src/base/bad.c', 'static void\nbad(void)\n{\n\tread(1);\n}\n')
    found = broken(root)['words']
    assert len(found) == 2 and any('needs no exception' in line for line in found)


@pytest.mark.parametrize('text,red', [
    ('int counter = 1;\n', True),
    ('static int zero;\nint *f(void) { return &zero; }\n', True),
    ('int f(void) { static int n; return ++n; }\n', True),
    ('_Thread_local int mine;\n', True),
    ('const int table[] = { 1, 2 };\n', False),
    ('extern int other;\nint *const pointers[] = { &other };\n', False),
    ('const char *names[] = { "a" };\n', True),
    ('const char *const names[] = { "a" };\n', False),
])
def test_variables_are_seen_in_the_objects(root, text, red):
    write(root, 'src/base/good.c', text)
    out = root / 'obj/src/base/good.o'
    out.parent.mkdir(parents=True)
    subprocess.run(['gcc', '-O2', '-fPIE', '-c', '-o', out, root / 'src/base/good.c'], check=True)
    assert bool(broken(root, str(root / 'obj'))['objects']) == red


def test_a_unit_that_was_not_compiled_is_red(root):
    assert broken(root, str(root / 'obj'))['objects']


def test_a_function_is_measured_from_its_name_to_its_brace():
    text = 'static const int t[] = {\n\t1,\n};\n\nint\none(int a,\n    int b)\n{\n\treturn a;\n}\n\nint two(void);\n'
    assert ctext.functions_of(text) == [('one', 6, 10)]


def test_the_command_itself_fails(root):
    write(root, 'src/base/bad.c', 'int x; \n')
    tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lint.py')
    done = subprocess.run(['python3', tool, '--root', root, '--tally', root / 't'], capture_output=True, text=True)
    assert done.returncode == 1 and 'blanks at the end' in done.stdout
    assert (root / 't').read_text() == 'lint 5 1 0\n'
