"""Each unit has its test, and each test its unit."""
import re

from ctext import functions_of


def check(tree):
    for path in tree.files('src', '.c'):
        layer, name = path[len('src/'):].rsplit('/', 1)
        # a table has nothing to run: whoever reads it tests it
        if not functions_of(tree.text(path)):
            continue
        test = f'tests/unit/{layer}/test_{name}'
        if not tree.exists(test):
            yield path, 1, f'has no {test}'
    for path in tree.files('tests/unit', '.c'):
        match = re.fullmatch(r'tests/unit/([\w/]+)/test_(\w+)\.c', path)
        if not match:
            continue
        unit = f'{match.group(1)}/{match.group(2)}'
        if not any(tree.exists(p) for p in
                   (f'src/{unit}.c', f'include/{unit}.h', f'include/{unit}.tbl.h', f'src/{unit}.tbl.h')):
            yield path, 1, f'mirrors nothing: there is no src/{unit}.c'
