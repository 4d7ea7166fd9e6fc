"""The table of messages: what counts as a message, and when it is red."""
import os
import subprocess

import lint
import messages
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.mark.parametrize('call,found', [
    ('cfg_error(ctx, 0, "\'%s\' expects a name.", name);', ["'%s' expects a name."]),
    ('cfg_error(ctx, f(0),\n\t"\'%s\' expects "\n\t"a name.", name);', ["'%s' expects a name."]),
    ('report_msg(r, x ? "one of two" : "the other one");', ['one of two', 'the other one']),
    ('cfg_error(ctx, 0, "(%s) is not closed", a /* "no such thing" */);', ['(%s) is not closed']),
    ('cfg_error(ctx, 0, "%s", "two words");', []),
    ('other_error("no call of a reporter", 1);', []),
    ('my_cfg_error("no call of a reporter", 1);', []),
    ('/* cfg_error("in a comment it is none"); */', []),
    ('cfg_error(ctx, 0, "a \\"quoted\\" word", ")");\n\tf("this is not in it");', ['a \\"quoted\\" word']),
])
def test_messages_are_the_strings_of_reporting_calls(call, found):
    assert [m for _, m in messages.messages_of('void\nf(void)\n{\n\t' + call + '\n}\n')] == found


@pytest.fixture(name='faults')
def _faults(tmp_path):
    """A function: the violations of a tree with this table and one message."""
    def check(table):
        for path, text in (('src/cfg/x.c', 'void\nf(void)\n{\n\tcfg_error(ctx, 0, "\'%s\' expects a name.", a);\n}\n'),
                           (messages.TABLE, table)):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        return [f'{path}:{line}: {text}' for path, line, text in messages.check(lint.Tree(str(tmp_path)))]
    return check


@pytest.mark.parametrize('table,red', [
    ('# A comment.\ntacit "\'%s\' expects a name."\n', None),
    ('haproxy "\'%s\' expects a name."\n', None),
    ('', 'src/cfg/x.c:4: "\'%s\' expects a name." is not in tests/lint/messages.tbl'),
    ('tacit "\'%s\' expects a name."\ntacit "gone since then"\n', 'tests/lint/messages.tbl:2: "gone since then" is in no call'),
    ('tacit "\'%s\' expects a name."\nours "x"\n', 'tests/lint/messages.tbl:2: is no row'),
])
def test_the_table_has_each_message_once(faults, table, red):
    found = faults(table)
    assert (len(found) == 1 and found[0].startswith(red)) if red else not found


def test_own_messages_begin_with_a_noun_or_a_verb(tmp_path):
    for path, text in (('src/cfg/x.c', 'void\nf(void)\n{\n\tcfg_warn("What follows is ignored.");\n}\n'),
                       (messages.TABLE, 'tacit "What follows is ignored."\n')):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    tree = lint.Tree(str(tmp_path))
    assert [text for _, _, text in messages.check(tree)] == ['"What follows is ignored." begins with What']
    (tmp_path / messages.TABLE).write_text('haproxy "What follows is ignored."\n')
    assert not list(messages.check(lint.Tree(str(tmp_path))))


def test_the_table_is_sorted_and_up_to_date():
    """As messages.py --update writes it."""
    with open(os.path.join(HERE, 'messages.tbl'), encoding='utf-8') as file:
        lines = [messages.ROW.match(line).group(2) for line in file.read().split('\n') if messages.ROW.match(line)]
    assert lines == sorted(lines) and len(lines) > 900
    done = subprocess.run([os.path.join(HERE, 'messages.py')], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and 'usage:' in done.stderr
