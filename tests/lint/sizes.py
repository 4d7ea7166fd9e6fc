"""How long files and functions may be."""
from ctext import functions_of

FILE_MAX = 800
FUNCTION_MAX = 100
FUNCTION_WARN = 60


def check(tree):
    for path in tree.c_files('src', 'include', 'demo', 'tests'):
        text = tree.text(path)
        lines = text.count('\n')
        if lines > FILE_MAX:
            yield path, lines, f'{lines} lines, the most is {FILE_MAX}'
        for name, first, last in functions_of(text):
            length = last - first + 1
            if length > FUNCTION_MAX:
                yield path, first, f'{name}() has {length} lines, the most is {FUNCTION_MAX}'
            elif length > FUNCTION_WARN and path.startswith(('src/', 'include/')):
                tree.warn(path, first, f'{name}() has {length} lines, aim at {FUNCTION_WARN}')
    for path in tree.files('.', '.py'):
        lines = tree.text(path).count('\n')
        if lines > FILE_MAX:
            yield path, lines, f'{lines} lines, the most is {FILE_MAX}'
