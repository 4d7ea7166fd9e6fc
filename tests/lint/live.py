"""HAProxy's answers are recordings: tests start it through tests/system/oracle.py only, which writes them. Few tests need
HAProxy itself, each with a reason."""
import re

# Tests marked as oracle.live(); the number only falls.
MOST = 4
HOME = 'tests/system/oracle.py'
# The ways in which a program finds it, and the path that oracle.py has found, but for a comparison with it.
FOUND = re.compile(r'''which\(["']haproxy|["'][^"'\s]*/s?bin/haproxy["']|\[f?["']haproxy["'],|(?<!== )\boracle\.HAPROXY\b''')
LIVE = re.compile(r'\boracle\.live\(')


def check(tree):
    live = []
    for path in tree.files('tests/system', '.py') + tree.files('tests/vtc', '.py'):
        if path == HOME:
            continue
        text = tree.text(path)
        marks = [text.count('\n', 0, m.start()) + 1 for m in LIVE.finditer(text)]
        live += [(path, line) for line in marks]
        for m in FOUND.finditer(text):
            if not (marks and 'oracle.HAPROXY' in m[0]):
                yield path, text.count('\n', 0, m.start()) + 1, \
                    'starts haproxy: play it with oracle.both(), or mark the test with oracle.live(reason)'
                break
    for path, line in live[MOST:]:
        yield path, line, f'{len(live)} tests need haproxy itself, the most is {MOST}'
