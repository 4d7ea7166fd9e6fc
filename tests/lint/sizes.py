"""The maximum sizes of files and functions."""
from statistics import median

from ctext import functions_of

# (lines of a file, lines of a function)
MOST = {'src/': (800, 60), 'include/': (800, 60), 'demo/': (800, 60), 'tests/': (800, 100)}
MEDIAN_MAX = 12
TABLE_MAX = 800  # lines of a table or script


def check(tree):
    lengths = []
    for path in tree.c_files('src', 'include', 'demo', 'tests'):
        file_max, function_max = next(most for folder, most in MOST.items() if path.startswith(folder))
        text = tree.text(path)
        lines = text.count('\n')
        if lines > (TABLE_MAX if path.endswith('.tbl.h') else file_max):
            yield path, lines, f'{lines} lines, the most is {file_max}'
        for name, first, last in functions_of(text):
            length = last - first + 1
            if path.startswith('src/'):
                lengths.append(length)
            if length > function_max:
                yield path, first, f'{name}() has {length} lines, the most is {function_max}'
    middle = median(lengths or [0])
    tree.note(f'{len(lengths)} functions in src, their median is {middle:g} lines')
    if middle > MEDIAN_MAX:
        yield 'src', 0, f'the median of all functions is {middle:g} lines, the most is {MEDIAN_MAX}'
    for path in tree.files('.', '.py'):
        lines = tree.text(path).count('\n')
        if lines > TABLE_MAX:
            yield path, lines, f'{lines} lines, the most is {TABLE_MAX}'
