"""HAProxy's answers are recordings: tests start it through tests/system/oracle.py only, which writes them. Few tests need
HAProxy itself, each with a reason. A recording belongs to a test that is there."""
import os
import re

# Tests marked as oracle.live(); the number only falls.
MOST = 5
HOME = 'tests/system/oracle.py'
# The ways in which a program finds it, and the path that oracle.py has found, but for a comparison with it.
FOUND = re.compile(r'''which\(["']haproxy|["'][^"'\s]*/s?bin/haproxy["']|\[f?["']haproxy["'],|(?<!== )\boracle\.HAPROXY\b''')
LIVE = re.compile(r'\boracle\.live\(')
RECORDED = re.compile(r'^(test_\w+)[^\n]*? @[0-9a-f]{8} = ', re.MULTILINE)


def check_recordings(tree):
    """Each file of answers against the tests of its name (oracle.py); vtc.txt against the scripts."""
    folder = os.path.join(tree.root, 'tests/oracle')
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = f'tests/oracle/{name}'
        if name == 'vtc.txt':
            there = {os.path.basename(p) for p in tree.files('tests/vtc', '.vtc')}
            found = re.findall(r'^[0-9a-f]{8} (\S+)$', tree.text(path), re.MULTILINE)
        else:
            tests = [p for stem in (name[:-4], 'oracle_' + name[:-4]) for p in tree.files('tests/system', f'/test_{stem}.py')]
            there = {test for p in tests for test in re.findall(r'^def (test_\w+)', tree.text(p), re.MULTILINE)}
            found = RECORDED.findall(tree.text(path))
        for test in sorted(set(found) - there):
            yield path, 1, f'there is no {test}: run make oracle'


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
    yield from check_recordings(tree)
    for path, line in live[MOST:]:
        yield path, line, f'{len(live)} tests need haproxy itself, the most is {MOST}'
