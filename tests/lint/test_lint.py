"""Lint must be able to fail: each violation is planted in a small clean tree, and its rule must report it."""
import os
import subprocess

import pytest

import ctext
import layers
import lint
import live
import pauses
import pieces

GOOD = '''\
/* An example of a unit that breaks no rule. */
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
    ('layers', 'src/proxy/model/bad.c', '#include "event/poller.h"\n'),
    ('layers', 'src/rule/sample/bad.c', '#include "tls/tls.h"\n'),
    ('layers', 'src/proxy/bad.c', 'int x;\n'),
    ('layers', 'src/base/sub/bad.c', 'int x;\n'),
    ('layers', 'src/http/bad.c', '#include "net/addr.h"\n'),
    ('layers', 'include/net/bad.h', '#include "proxy/model/proxy.h"\n'),
    ('layers', 'src/base/bad.c', '#include "good.h"\n'),
    ('layers', 'src/proxy/model/bad.c', '#include "proxy/session/session.h"\n'),
    ('layers', 'src/proxy/backend/bad.c', '#include "proxy/relay/direction.h"\n'),
    ('layers', 'include/rule/sample/bad.h', '#include "rule/action/act.h"\n'),
    ('layers', 'src/proxy/other/bad.c', 'int x;\n'),
    ('layers', 'src/other/bad.c', '#include "base/good.h"\n'),
    ('layers', 'src/event/bad.c', '#include <ev.h>\n'),
    ('layers', 'src/net/bad.c', '#include <openssl/ssl.h>\n'),
    ('layers', 'src/cfg/bad.c', '#include <jemalloc/jemalloc.h>\n'),
    ('layers', 'src/rule/action/bad.c', '#include "http/h1_write.h"\n'),
    ('conns', 'src/proxy/relay/bad.c', '/* Reads c->fd. */\nint\nbad(struct conn *c)\n{\n\treturn c->fd;\n}\n'),
    ('conns', 'src/proxy/relay/bad.c', 'void\nbad(struct session *s)\n{\n\tconn_close(s->conn[CLIENT].fd);\n}\n'),
    ('conns', 'src/proxy/relay/bad.c', 'void\nbad(struct conn *c)\n{\n\tloop_again(c->loop, 1, DIR_R);\n}\n'),
    ('tested', 'src/net/bad.c', 'int\nbad(void)\n{\n\treturn 0;\n}\n'),
    ('tested', 'src/proxy/model/bad.c', 'int\nbad(void)\n{\n\treturn 0;\n}\n'),
    ('tested', 'tests/unit/gone/test_bad.c', TEST),
    ('sizes', 'src/base/bad.c', 'int x;\n' * 801),
    ('sizes', 'include/base/bad.h', '\n' * 801),
    ('sizes', 'include/base/bad.tbl.h', '\n' * 801),
    ('sizes', 'tests/unit/base/test_bad.c', 'int x;\n' * 801),
    ('sizes', 'src/base/bad.c', body(58)),
    ('sizes', 'tests/unit/base/test_good.c', body(98)),
    ('sizes', 'src/base/bad.c', body(59).replace('int\n', 'static int ').replace(')\n{', ') {')),
    ('heads', 'src/base/bad.c', '#include "base/good.h"\n\n/* Too late. */\n'),
    ('heads', 'src/base/bad.c', '// Not a block.\n'),
    ('heads', 'src/base/bad.c', '/*\n */\n'),
    ('heads', 'src/base/bad.c', '/*\n * Four\n * lines are\n * one too\n * many.\n */\n'),
    ('pure', 'src/base/bad.c', 'static int\nis_bad(struct x *x)\n{\n\treturn 0;\n}\n'),
    ('pure', 'src/base/bad.c', 'int\nbad_has_room(int n,\n    char **x)\n{\n\treturn 0;\n}\n'),
    ('pure', 'src/base/bad.c', 'int\ncan_be_bad(const char **x)\n{\n\treturn 0;\n}\n'),
    ('pure', 'src/base/bad.c', 'int\nbad_may(int x[])\n{\n\treturn 0;\n}\n'),
    ('pure', 'include/base/bad.h', 'static inline int\nbad_wants_it(struct x *x)\n{\n\treturn 0;\n}\n'),
    ('names', 'src/base/bad.c', 'static int\nfind(void)\n{\n\treturn 0;\n}\n'),
    ('locked', 'src/base/bad.c', 'void\nput_locked(struct x *x)\n{\n\tx->a = 1;\n}\n'),
    ('locked', 'src/base/bad.c', 'void\nput(struct x *x)\n{\n\tput_locked(x);\n}\n'),
    ('locked', 'src/base/bad.c', 'void\nput(struct x *x)\n{\n\tput_locked(x);\n\tlock_take(&x->l);\n}\n'),
    ('owner', 'src/base/bad.c', 'int\ngood_add(int a, struct ops *o)\n{\n\treturn 0;\n}\n'),
    ('openings', 'src/base/bad.c', '/* A file. */\n/* What is there. */\nint x;\n'),
    ('openings', 'include/base/bad.h', '/*\n * Of the list.\n */\n'),
    ('openings', 'tests/unit/base/test_good.c', 'int x; /* It is one. */\n'),
    ('openings', 'demo/bad.c', '// And more.\n'),
    ('openings', 'src/base/bad.c', '/* A file. */\n/* --- where it goes --- */\n'),
    ('openings', 'tests/system/bad.py', 'def f():\n    """What is there."""\n'),
    ('openings', 'tests/system/bad.py', 'x = 1\n# Those of others.\n'),
    ('openings', 'tests/system/bad.py', 'x = 1  # It is one.\n'),
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
    ('live', 'tests/system/test_bad.py', 'HAPROXY = shutil.which("haproxy")\n'),
    ('live', 'tests/system/test_bad.py', 'subprocess.run(["haproxy", "-v"])\n'),
    ('live', 'tests/vtc/bad.py', 'subprocess.run(["/usr/sbin/haproxy", "-v"])\n'),
    ('live', 'tests/system/test_bad.py', 'def test_x():\n    run(oracle.HAPROXY)\n'),
    ('live', 'tests/system/test_bad.py', '@oracle.live("a reason")\ndef test_x():\n    run(shutil.which("haproxy"))\n'),
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
    ('src/app/process/cli.c', 'static void\nx(void)\n{\n\tputs("usage");\n}\n'),
    ('src/proxy/model/x.c', '#include "event/loop.h"\n#include "event/timer.h"\n'),
    ('src/event/poller_ev.c', '#include <ev.h>\n'),
    ('src/base/x.c', '#include "x.c"\n'),
    ('tests/system/x.py', '# One line\n# What follows it.\nx = "# What"\n'),
    ('include/base/wide.tbl.h', '/* ' + 'x' * 150 + ' */\n'),
    ('src/base/x.c', '/* Items, what they are. */\nconst char s[] = "/* It is no comment. */"; /* Tokens */\n'
     '/* --- names of what there is --- */\nint n; /* of it */\n'),
])
def test_calls_in_permitted_places_are_green(root, path, text):
    write(root, path, text)
    found = broken(root)
    assert not any(found[rule] for rule in ('words', 'layers', 'text', 'openings'))


@pytest.mark.parametrize('path,text', [
    ('src/base/x.c', '/* An x. */\nstatic int\nx_is_on(const struct x *x, int n, const char *const *a)\n{\n\treturn 0;\n}\n'),
    ('src/base/x.c', '/* An x. */\nint\nx_has(int (*f)(void *arg), const int x[])\n{\n\treturn 0;\n}\n'),
    ('src/base/x.c', '/* An x. */\nstatic void\nx_issue(struct x *x)\n{\n\tx->a = 1;\n}\n'),
    ('src/base/x.c', '/*\n * An x.\n */\nint\nfind(struct x *x)\n{\n\treturn 0;\n}\n'),
    ('src/base/x.c', '/* An x. */\nstatic void\nput_locked(struct x *x)\n{\n\tlock_assert_held(&x->l);\n\tx->a = 1;\n}\n\n'
     'void\nput(struct x *x)\n{\n\tlock_take(&x->l);\n\tput_locked(x);\n\tlock_drop(&x->l);\n}\n'),
    ('include/base/x.tbl.h', 'X(1)\n' * 700),
])
def test_pure_and_locked_functions_are_green(root, path, text):
    write(root, path, text)
    assert not any(broken(root).values())


GLOSSARY = ('# Architecture\n\n## Glossary\n\n| word | meaning | not |\n|---|---|---|\n'
            '| previous | the one before | former |\n| paused | stopped | stands/stand still |\n'
            '| message | of the mailbox | mail (comments), `poke_*`, `struct x *h` |\n\n## Then\n\n')


@pytest.mark.parametrize('path,text,red', [
    ('src/base/x.c', '/* Frees the former item. */\n', "'former' in a comment: the word is 'previous'"),
    ('include/base/x.h', '/*\n * A worker that stands\n * still.\n */\n', "'stands still' in a comment: the word is 'paused'"),
    ('src/base/x.c', '/* An x. */\nconst char s[] = "cannot " "stop the Former one";\n', "'Former' in a message"),
    ('tests/unit/base/test_good.c', '\nstatic void\na_former_item_is_freed(void **state)\n{\n}\n', "'former' in a test name"),
    ('tests/unit/base/test_good.c', '/* Mail. */\n', "'Mail' in a comment: the word is 'message'"),
    ('src/base/x.c', '/* An x. */\nint poke_all(void);\n', "'poke_all': the word is 'message'"),
    ('src/base/x.c', '/* An x. */\nint f(struct x *h);\n', "'struct x *h': the word is 'message'"),
    ('README.md', 'The\nformer one.\n', "README.md:2: glossary: 'former' in a text"),
    ('man/x.8', 'All workers stand\nstill.\n', "man/x.8:1: glossary: 'stand still' in a text"),
    ('src/base/x.c', '/* Performers, formerly former-x, st->former and `former`. */\nint former; int f(struct x *hh);\n', None),
    ('src/base/x.c', '/* An x. */\nconst char s[] = "mail to", t[] = "former";\n#include "base/former.h"\n', None),
    ('README.md', 'No mail, and `former`.\n', None),
    ('src/ARCHITECTURE.md', GLOSSARY + 'Plain.\n', None),
    ('src/ARCHITECTURE.md', GLOSSARY + 'It is former.\n', "src/ARCHITECTURE.md:13: glossary: 'former' in a text"),
])
def test_words_of_the_glossary(root, path, text, red):
    write(root, 'src/ARCHITECTURE.md', GLOSSARY)
    write(root, path, text)
    found = broken(root)['glossary']
    assert (len(found) == 1 and red in found[0]) if red else not found


@pytest.mark.parametrize('most,red', [(1, ['test_b.py']), (2, [])])
def test_tests_that_need_haproxy_are_counted(root, monkeypatch, most, red):
    monkeypatch.setattr(live, 'MOST', most)
    for name in 'ab':
        write(root, f'tests/system/test_{name}.py', '@oracle.live("a reason")\ndef test_x():\n    run(oracle.HAPROXY)\n')
    write(root, 'tests/system/test_c.py', 'def play(program):\n    return program == oracle.HAPROXY\n')
    assert [line.split(':')[0].split('/')[-1] for line in broken(root)['live']] == red


def test_a_recording_belongs_to_a_test_or_a_script(root):
    write(root, 'tests/system/test_oracle_a.py', 'def test_x():\n    pass\n')
    write(root, 'tests/vtc/a.vtc', '')
    write(root, 'tests/oracle/a.txt', '# HAProxy\ntest_x[1]: b @01234567 = 5\ntest_y @01234567 = (\n "test_z @01234567 = 5"\n )\n')
    write(root, 'tests/oracle/vtc.txt', '# HAProxy\n01234567 a.vtc\n01234567 b.vtc\n')
    write(root, 'tests/oracle/none.txt', 'test_x @01234567 = 5\n')
    assert [line.rsplit(': ', 2)[0] + ' ' + line.split(' no ')[1].split(':')[0] for line in broken(root)['live']] == [
        f'tests/oracle/{line}' for line in ('a.txt:1: live test_y', 'none.txt:1: live test_x', 'vtc.txt:1: live b.vtc')]


PAUSES = [
    ('import time\ntime.sleep(1)\n', 'a pause'),
    ('import asyncio\n\n\nasync def wait():\n    await asyncio.sleep(1)\n', 'a pause'),
    ('from time import sleep\nsleep(1)\n', 'a pause'),
    ('assert wait_for(lambda: 1)\n', 'a poll'),
    ('import facts\nfacts.becomes(f, 1)\n', 'a poll'),
    ('import time\nassert time.monotonic() - began < 5\n', 'elapsed time'),
    ('import time\nbegan = time.time()\n', 'elapsed time'),
    ('for _ in range(3):\n    if works():\n        break\n', 'a loop that tries again'),
    ('def f():\n    for _ in range(3):\n        with g():\n            return 1\n', 'a loop that tries again'),
    ('s.settimeout(5)\n', 'a limit'), ('run("x", timeout=59)\n', 'a limit'), ('d.proc.wait(.5)\n', 'a limit'),
    ('select.select(r, [], [], 1)\n', 'a limit'), ('socket.create_connection(a, 10)\n', 'a limit'),
    ('def f(what, limit=15):\n    pass\n', 'a limit'), ('def f(*, timeout=1):\n    pass\n', 'a limit'),
]
NO_PAUSES = ['for i in range(3):\n    if f(i):\n        break\n', 'for _ in range(3):\n    f()\n',
             'for _ in range(3):\n    while 1:\n        break\n', 'with news:\n    news.wait_for(f)\n', 'd.until("idle")\n',
             's.settimeout(60)\n', 's.settimeout(0)\n', 's.settimeout(WAIT)\n', 'log.wait(4)\n', 'p.log.wait(50)\n',
             'def f(limit=None, seconds=1):\n    pass\n']


@pytest.mark.parametrize('text,what', PAUSES)
def test_a_pause_is_red(root, text, what):
    write(root, 'tests/system/test_bad.py', text)
    (line,) = broken(root)['pauses']
    assert line.startswith('tests/system/test_bad.py:') and what in line
    write(root, 'tests/lint/pauses', '# why\nsleep,poll,elapsed,retry,limit\ttests/system/*.py\t1\ta reason\n')
    assert broken(root)['pauses'] == []


@pytest.mark.parametrize('text', NO_PAUSES)
def test_what_is_no_pause_is_green(root, text):
    write(root, 'tests/system/test_good.py', text)
    assert broken(root)['pauses'] == []


@pytest.mark.parametrize('line,red', [
    ('usleep(20000);', True), ('nanosleep(&ms, NULL);', True), ('sleep (1);', True), ('poll(NULL, 0, 5);', True),
    ('select(0, NULL, NULL, NULL, &tv);', True), ('is_asleep(path);', False), ('poll(&p, 1, 5);', False), ('/* usleep(1) */', False)])
def test_a_pause_in_c_is_red(root, line, red):
    write(root, 'tests/unit/test_a.c', f'int x;\n{line}\n')
    assert broken(root)['pauses'] == (['tests/unit/test_a.c:2: pauses: ' + pauses.KINDS['sleep']] if red else [])


def test_delays_of_scripts_are_bounded(root):
    write(root, 'tests/vtc/a.vtc', 'server s1 {\n    rxreq\n    delay .1\n} -start\n# delay 1\n')
    assert broken(root)['pauses'] == ['tests/vtc/a.vtc:3: pauses: a delay: wait for the fact']
    for line in ('shell "peer.py @a sleep:.1 shut"', 'shell "for i in 1 2; do sleep .1; done"'):
        write(root, 'tests/vtc/a.vtc', line + '\n')
        assert broken(root)['pauses'] == ['tests/vtc/a.vtc:1: pauses: a delay: wait for the fact']
    write(root, 'tests/lint/pauses', 'delay\ttests/vtc/*.vtc\t1\ta reason\n')
    assert broken(root)['pauses'] == []
    write(root, 'tests/vtc/b.vtc', 'delay 2\n')
    (line,) = broken(root)['pauses']
    assert 'tests/vtc/*.vtc has 2 of delay, the most is 1' in line


@pytest.mark.parametrize('text,red', [
    ('timeout server 1s', True), ('timeout http-request 500ms', True), ('timeout client 59s', True), ('timeout tunnel 200', True),
    ('timeout client 60s', False), ('timeout check 1m', False), ('timeout server {ms}ms', False),
    ('timeout server 1h', False), ('no timeout of 5', False)])
def test_a_short_timeout_is_red(root, text, red):
    what = pauses.KINDS['timeout']
    for path, content in (('tests/vtc/a.vtc', f'haproxy h1 -conf {{\n    {text}\n}}\n'), ('tests/system/test_a.py', f'CFG = """\n{text}\n"""\n')):
        write(root, path, content)
        assert broken(root)['pauses'] == ([f'{path}:2: pauses: {what}'] if red else [])
        (root / path).unlink()
    write(root, 'tests/unit/a.c', f'char x[] = "{text}";\n')
    assert broken(root)['pauses'] == []


def test_a_number_of_pauses_that_can_fall_is_reported(root):
    write(root, 'tests/lint/pauses', 'sleep\ttests/x.py\t1\ta reason\n')
    tree = lint.Tree(str(root))
    assert lint.run(tree, {})['pauses'] == []
    assert 'lint: tests/lint/pauses:1: tests/x.py has 0 of sleep: the number 1 can fall' in tree.notes


def test_the_list_of_pauses_is_short_and_has_reasons(root):
    write(root, 'tests/lint/pauses', 'sleep\ttests/x.py\t0\ta reason\n' * 21)
    assert broken(root)['pauses'] == ['tests/lint/pauses:21: pauses: 21 lines, the most is 20']
    write(root, 'tests/lint/pauses', 'sleep\ttests/x.py\t0\t \n')
    with pytest.raises(SystemExit):
        broken(root)


def test_words_that_no_parser_reads_are_red(root):
    table = '/* An x. */\nstatic const struct cfg_enum ways[] = {\n\t{ "a", 0, "A way." },\n\t{ 0 },\n};\n'
    shown = 'static const struct cfg_kw kws[] = { { .values = ways, }, /* ways */ { .values = ways } };\n'
    write(root, 'src/cfg/bad.c', table + shown)
    assert broken(root)['typed'] == [
        'src/cfg/bad.c:2: typed: no parser reads the words of ways: cfg_arg_enum() and cfg_enum_find() do']
    write(root, 'src/cfg/bad.c', table + 'static int\nparse(void)\n{\n\treturn cfg_arg_enum(ctx, 0, ways, &v);\n}\n' + shown)
    assert broken(root)['typed'] == []


def test_two_statics_of_one_name_are_red(root):
    for name in 'ab':
        write(root, f'src/base/{name}.c', '/* An x. */\nstatic int\ntake_one(void)\n{\n\treturn 0;\n}\n')
    assert broken(root)['names'] == ['src/base/b.c:3: names: take_one() is defined in src/base/a.c, too']


def test_a_declaration_in_another_header_is_red(root):
    write(root, 'include/base/other.h', 'int\nsplit_sub(\n    int a);\ntypedef void split_fn(int a);\n')
    write(root, 'src/base/split.c', '/* An x. */\n' + calls('split_sub').replace('(void)', '(int a)'))
    assert broken(root)['owner'] == ['src/base/split.c:3: owner: split_sub() is declared in include/base/other.h']
    write(root, 'include/proxy/model/split.h', 'int split_sub(int a);\n')
    assert broken(root)['owner'] == [
        'include/proxy/model/split.h:1: owner: split_sub() is declared in include/base/other.h, too']
    write(root, 'include/base/other.h', 'int split_add(int a);\n')
    assert broken(root)['owner'] == ['include/base/other.h:1: owner: split_add() is not defined']


@pytest.mark.parametrize('text,red', [
    ('`good_add` (base/good.c) adds', None),
    ('`good_add()`\n(base/good.c) adds', None),
    ('`good_add` (base/good.h) is only declared there', 'good_add is not defined in base/good.h'),
    ('`good_sub` (base/good.c) subtracts', 'good_sub is not defined in base/good.c'),
    ('`good_add` (base/gone.c) adds', 'base/gone.c does not exist'),
])
def test_a_walk_names_what_is_there(root, text, red):
    write(root, 'src/ARCHITECTURE.md', '# Architecture\n\n' + text + '\n')
    assert broken(root)['walks'] == ([f'src/ARCHITECTURE.md:3: walks: {red}'] if red else [])


@pytest.mark.parametrize('lines,red', [(250, False), (251, True)])
def test_an_overview_that_is_too_long_is_red(root, lines, red):
    write(root, 'src/ARCHITECTURE.md', '\n' * lines)
    assert bool(broken(root)['walks']) == red
    write(root, 'src/ARCHITECTURE.md', '## Glossary\n' + '| a | meaning | |\n' * 60 + '\n' * (lines - 1))
    assert bool(broken(root)['walks']) == red


def test_a_median_that_is_too_long_is_red(root):
    write(root, 'src/base/bad.c', '/* An x. */\n' + body(11) + body(10))
    assert [line for line in broken(root)['sizes'] if 'median' in line]


def test_an_exception_counts_and_must_be_needed(root):
    write(root, 'src/base/bad.c', '/* An x. */\nvoid\nbad(void)\n{\n\tclose(1);\n}\n')
    write(root, 'tests/lint/exceptions', 'words\tsrc/base/bad.c:close\tto show it\n')
    assert not any(broken(root).values())
    write(root, 'src/base/bad.c', '/* An x. */\nvoid\nbad(void)\n{\n\tread(1);\n}\n')
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


def compiled(root, files):
    """The violations in a tree of these files, with its objects: {rule: [line]}."""
    out = root / 'obj'
    for path, text in files.items():
        write(root, path, text)
        target = (out / path).with_suffix('.o')
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(['gcc', '-O2', '-w', '-c', '-o', target, root / path], check=True)
    return broken(root, str(out))


def calls(name, *others):
    return ''.join(f'int {o}(void);\n' for o in others) + \
        f'int\n{name}(void)\n{{\n\treturn {" + ".join(o + "()" for o in others) or 0};\n}}\n'


@pytest.mark.parametrize('files,red', [
    ({'src/proxy/a.c': calls('a', 'b'), 'src/rule/b.c': calls('b')}, False),
    ({'src/rule/a.c': calls('a', 'b'), 'src/proxy/b.c': calls('b')}, True),
    ({'src/event/a.c': calls('a', 'b'), 'src/cfg/b.c': calls('b')}, True),
    ({'src/proxy/session/a.c': calls('a', 'b'), 'src/proxy/model/b.c': calls('b')}, False),
    ({'src/proxy/model/a.c': calls('a', 'b'), 'src/proxy/session/b.c': calls('b')}, True),
    ({'src/proxy/relay/a.c': calls('a', 'b'), 'src/proxy/backend/b.c': calls('b')}, True),
    ({'src/net/a.c': 'extern int b[];\nint\na(void)\n{\n\treturn b[0];\n}\n',
      'src/http/b.c': 'const int b[2] = {1};\n'}, True),
    ({'src/net/a.c': 'extern int b(void);\nint (*const a)(void) = b;\n', 'src/http/b.c': calls('b')}, True),
], ids=['down', 'up', 'sideways', 'sub-down', 'sub-up', 'sub-sideways', 'data', 'pointer'])
def test_links_count_as_well_as_includes(root, files, red):
    found = compiled(root, files)['links']
    assert bool(found) == red
    if red:
        source = next(iter(files))
        assert found[0].startswith(f'{source}:1: links: needs {list(files)[1]}')


def ring(folder, *names):
    return {f'src/{folder}/{n}.c': calls(n, names[i - 1]) for i, n in enumerate(names)}


@pytest.mark.parametrize('files,red', [
    (ring('proxy', 'a', 'b', 'c'), 0),
    (ring('proxy', 'a', 'b', 'c', 'd'), 4),
    (ring('rule', 'a', 'b', 'c', 'd'), 4),
    (ring('app', 'a', 'b', 'c', 'd'), 4),
    (ring('app', 'a', 'b', 'c', 'd', 'e'), 5),
    ({**ring('app', 'a', 'b', 'c'), **ring('app', 'd', 'e', 'f')}, 0),
    ({'src/base/a.c': calls('a', 'b'), 'src/base/b.c': calls('b', 'c'), 'src/base/c.c': calls('c', 'd'),
      'src/base/d.c': calls('d', 'e'), 'src/base/e.c': calls('e')}, 0),
], ids=['3', '4', '4-rule', '4-app', '5', 'two-of-3', 'a-chain'])
def test_a_knot_does_not_grow(root, files, red):
    assert len(compiled(root, files)['knots']) == red


def test_headers_that_include_each_other_are_red(root):
    write(root, 'include/base/a.h', '#include "base/b.h"\n')
    write(root, 'include/base/b.h', '#include "base/c.h"\n')
    assert not broken(root)['knots']
    write(root, 'include/base/c.h', '#include "base/a.h"\n')
    assert broken(root)['knots']


def test_the_table_of_layers_has_no_cycle():
    assert not layers.circles()


def test_a_cycle_of_layers_is_red(root, monkeypatch):
    monkeypatch.setitem(layers.INSIDE, 'proxy', {'a': ('b',), 'b': ('a',)})
    assert broken(root)['layers']
    monkeypatch.undo()
    monkeypatch.setitem(layers.MAY, 'base', ('rule/',))
    assert broken(root)['layers']


def test_the_graph_is_printed(root):
    compiled(root, {**ring('proxy', 'a', 'b', 'c', 'd'), **{'src/base/e.c': calls('e', 'a')}})
    tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'graph.py')
    done = subprocess.run(['python3', tool, '--root', root, '--objects', root / 'obj'], capture_output=True, text=True,
                          check=True)
    assert 'component 1: 4 files, 4 links' in done.stdout
    assert 'upward links: 1, symbols: 1\n  src/base/e.c:1: -> src/proxy/a.c: a\n' in done.stdout


def test_a_function_without_a_caller_in_the_program_is_red(root):
    found = compiled(root, {
        'src/base/a.c': calls('a_used') + calls('a_own') + calls('a_dead') + 'int (*const a_table[])(void) = {a_own};\n',
        'src/base/b.c': calls('main', 'a_used'),
        'tests/unit/base/test_x.c': calls('test_x', 'a_own', 'a_dead')})['used']
    assert found == ['src/base/a.c:12: used: a_dead() has no caller outside this file',
                     'src/base/a.c:7: used: a_own() has no caller outside this file',
                     'src/base/a.c:1: used: a_table is not used outside this file']


def test_functions_with_one_caller_in_their_folder_are_counted(root, monkeypatch):
    monkeypatch.setattr(pieces, 'PUBLICS_MAX', 1)
    files = {
        'src/net/a.c': calls('a_one') + calls('a_two') + calls('a_other') + calls('a_row'),
        'src/net/b.c': calls('b', 'a_one', 'a_two') + 'extern int (a_row)(void);\nint (*const b_table[])(void) = {a_row};\n',
        'src/net/c.c': calls('c', 'a_two'), 'src/http/d.c': calls('d', 'a_other'), 'tests/unit/net/test_x.c': calls('main', 'b')}
    assert not compiled(root, files)['pieces']
    files['src/net/c.c'] = calls('c')
    assert compiled(root, files)['pieces'] == ['tests/lint/pieces.py:1: pieces: 2 public functions have one caller, '
                                               'in their own folder, the most is 1']


def test_circles_and_files_of_a_folder_are_counted(root, monkeypatch):
    monkeypatch.setattr(pieces, 'CIRCLES_MAX', 1)
    monkeypatch.setattr(pieces, 'FOLDER_MAX', 3)
    files = ring('net', 'a', 'b', 'c')
    assert not compiled(root, files)['pieces']
    found = compiled(root, {**files, **ring('http', 'd', 'e'), 'src/net/f.c': calls('f')})['pieces']
    assert [line.split(': ', 2)[2] for line in found] == [
        '4 files in src/net, the most is 3', '2 circles of files that need each other, the most is 1']


def test_a_unit_that_no_test_of_its_folder_links_is_red(root):
    found = compiled(root, {
        'src/base/a.c': calls('a', 'b'), 'src/base/b.c': calls('b'), 'src/base/c.c': calls('c'),
        'src/base/d.c': calls('d'), 'src/base/good.c': calls('good_add'),
        'tests/unit/base/test_x.c': calls('main', 'a', 'rig'), 'tests/sim/rig.c': calls('rig', 'good_add'), 'src/base/main.c': calls('main'),
        'tests/unit/base/test_y.c': '#include "../../../src/base/d.c"\n',
        'src/net/e.c': calls('e'), 'tests/unit/net/test_z.c': calls('main', 'c')})['tested']
    assert found == ['src/base/c.c:1: tested: is linked into no test of tests/unit/base',
                     'src/base/main.c:1: tested: is linked into no test of tests/unit/base',
                     'src/net/e.c:1: tested: is linked into no test of tests/unit/net']


def test_a_unit_that_was_not_compiled_is_red(root):
    assert broken(root, str(root / 'obj'))['objects']


def test_a_function_is_measured_from_its_name_to_its_brace():
    text = 'static const int t[] = {\n\t1,\n};\n\nint\none(int a,\n    int b)\n{\n\treturn a;\n}\n\nint two(void);\n'
    assert ctext.functions_of(text) == [('one', 6, 10)]


def test_the_command_itself_fails(root):
    write(root, 'src/base/bad.c', '/* An x. */\nint x; \n')
    tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lint.py')
    done = subprocess.run(['python3', tool, '--root', root, '--tally', root / 't'], capture_output=True, text=True)
    assert done.returncode == 1 and 'blanks at the end' in done.stdout
    assert (root / 't').read_text() == 'lint 23 1 0\n'
