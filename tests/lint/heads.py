"""Each .c of src begins with a comment of one to three lines that says what it is."""
import re

LINES_MAX = 3


def check(tree):
    for path in tree.files('src', '.c'):
        match = re.match(r'/\*(.*?)\*/\n', tree.text(path), re.DOTALL)
        lines = sum(1 for line in match.group(1).split('\n') if line.strip(' *')) if match else 0
        if lines == 0:
            yield path, 1, 'does not begin with a comment that says what it is'
        elif lines > LINES_MAX:
            yield path, 1, f'its first comment has {lines} lines, the most is {LINES_MAX}'
