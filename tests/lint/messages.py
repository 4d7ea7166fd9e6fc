#!/usr/bin/env python3
"""All messages for users stand in one table, tests/lint/messages.tbl, so that each new one is read beside the others: it names the
thing, what is wrong, and what to do instead. A row is `tacit "text"`, or `haproxy "text"` where the words are HAProxy's, which
tools look for. `messages.py --update` adds and removes rows; a new one is tacit's until it is marked by hand."""
import os
import re
import sys

from ctext import code_of
from openings import OPENING

TABLE = 'tests/lint/messages.tbl'
# Functions with a message among their arguments.
REPORTERS = '''
    cfg_error cfg_error_col cfg_warn cfg_note cfg_diag_add report_msg admin_msg rule_fail log_msg log_of_server log_frontend
    value_fail cond_fail option_fail fail_at fmt_fail pattern_fail master_report_failure bind_failed check_fail context_failed
    load_failed regex_fail refuse_file refuse_socket cannot_edit ocsp_why report_at_path report_at_times report_less
    check_rule_failed server_log_change'''.split()
CALL = re.compile(r'(?<!\w)(?:' + '|'.join(REPORTERS) + r')\(')
STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')
ROW = re.compile(r'(tacit|haproxy) "(.*)"$')


def end_of_call(code, start):
    """The place behind the parenthesis that closes the one before `start`."""
    depth = 1
    while start < len(code) and depth:
        depth += {'(': 1, ')': -1}.get(code[start], 0)
        start += 1
    return start


def messages_of(text):
    """[(line, message)] of a C file: strings that follow each other are one; single words are none."""
    code = code_of(text)
    found = []
    for call in CALL.finditer(code):
        if code[:call.start()].endswith('\n'):
            continue  # the definition
        parts = []
        behind = None
        for match in STRING.finditer(text, call.end(), end_of_call(code, call.end())):
            if code[match.start()] != '"':
                continue  # in a comment
            if behind is not None and not code[behind:match.start()].strip():
                parts[-1] += match.group(1)
            else:
                parts.append(match.group(1))
            behind = match.end()
        line = text.count('\n', 0, call.start()) + 1
        found += [(line, part) for part in parts if len(part.split()) > 2]
    return found


def collect(tree):
    """{message: (path, line)} of the first place."""
    found = {}
    for path in tree.c_files('src', 'include'):
        for line, message in messages_of(tree.text(path)):
            found.setdefault(message, (path, line))
    return found


def rows(text):
    """({message: (line, whose)}, [line that is no row])"""
    found, bad = {}, []
    for number, line in enumerate(text.split('\n'), 1):
        match = ROW.match(line)
        if match:
            found[match.group(2)] = (number, match.group(1))
        elif line and not line.startswith('#'):
            bad.append(number)
    return found, bad


def check(tree):
    if not tree.exists(TABLE):
        return
    table, bad = rows(tree.text(TABLE))
    found = collect(tree)
    for number in bad:
        yield TABLE, number, 'is no row: tacit "text" or haproxy "text"'
    for message, (path, line) in found.items():
        if message not in table:
            yield path, line, f'"{message}" is not in {TABLE}: does it name the thing, what is wrong, what to do? ' \
                'Then: tests/lint/messages.py --update'
    for message, (number, whose) in table.items():
        if message not in found:
            yield TABLE, number, f'"{message}" is in no call: tests/lint/messages.py --update'
        elif whose == 'tacit' and OPENING.match(message):
            yield TABLE, number, f'"{message}" begins with {OPENING.match(message).group(1)}'


def main():
    import lint
    if sys.argv[1:] != ['--update']:
        sys.exit(f'usage: {sys.argv[0]} --update')
    tree = lint.Tree(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    old = rows(tree.text(TABLE))[0] if tree.exists(TABLE) else {}
    lines = sorted((message, old.get(message, (0, 'tacit'))[1]) for message in collect(tree))
    with open(os.path.join(tree.root, TABLE), 'w', encoding='utf-8') as file:
        file.write('# Messages for users: see messages.py.\n')
        file.writelines(f'{whose} "{message}"\n' for message, whose in lines)
    print(f'{TABLE}: {len(lines)} messages, {sum(m not in old for m, _ in lines)} new, '
          f'{len(set(old) - {m for m, _ in lines})} gone')


if __name__ == '__main__':
    main()
