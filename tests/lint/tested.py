"""Unit tests are filed by feature, not by file: each folder of src has a folder of tests with the same name, and each
.c with code is linked into a unit test of that folder. (`make cov` shows how much of it runs.)"""
import os

from ctext import functions_of
from graph import links_of


def is_test(path):
    return os.path.basename(path).startswith('test_')


def rigs_of(tree):
    """The other files that tests are linked with: the fake kernel, the simulated worlds."""
    return [p for folder in ('tests/fake', 'tests/sim') for p in tree.files(folder, '.c') if not is_test(p)]


def reached_by(tests, symbols, links):
    """The files that these tests need, directly or not, as a linker finds them."""
    owner = {name: source for source, (defined, _) in symbols.items() for name in defined}
    # a test that defines the same symbol has included the .c
    todo = [owner[name] for defined, undefined in tests for name in (defined | undefined) - {'main'} if name in owner]
    seen = set()
    while todo:
        source = todo.pop()
        if source not in seen:
            seen.add(source)
            todo += links[source]
    return seen


def check(tree):
    tests = {}
    symbols = {**tree.symbols(), **tree.symbols_of(rigs_of(tree))} if tree.objects else {}
    links = links_of(symbols)
    for path in tree.files('tests/unit', '.c'):
        if is_test(path):
            tests.setdefault(os.path.dirname(path)[len('tests/unit/'):], []).append(path)
    sources = {}
    for path in tree.files('src', '.c'):
        # tables have no code, and are tested with their readers
        if functions_of(tree.text(path)):
            sources.setdefault(os.path.dirname(path)[len('src/'):], []).append(path)
    for folder in sorted(set(tests) - set(sources)):
        yield tests[folder][0], 1, f'there is nothing to test in src/{folder}'
    for folder in sorted(sources):
        if folder not in tests:
            yield sources[folder][0], 1, f'has no tests in tests/unit/{folder}'
        elif tree.objects:
            reached = reached_by(tree.symbols_of(tests[folder]).values(), symbols, links)
            for path in sources[folder]:
                if path not in reached:
                    yield path, 1, f'is linked into no test of tests/unit/{folder}'
