"""The form of text files: blanks, width, and no words about anything but the project."""
import re

COLUMNS = 100  # tables (*.tbl.h) may be wider
MARKS = ('<<<<' + '<<< ', '>>>>' + '>>> ')

# Paths of one machine, tools used for writing, and hosts of package registries do not belong into the project.
# (The expressions are written so that they do not match themselves.)
PLACES = re.compile(
    r'(?<![\w./-])/(?:roo[t]|hom[e]/\w+|wor[k]|far[m]|tmp/w[t])/'
    r'|sub[-]?agen[t]|language mode[l]|chatbo[t]|\bLL[M]s?\b'
    r'|\b(?:pyp[i]\.org|npmj[s]\.com|crates\.i[o]|proxy\.golan[g]\.org|deb\.debia[n]\.org)', re.IGNORECASE)
UNDONE = re.compile(r'\b(?:TOD[O]|FIXM[E]|XX[X])\b')


def _width(line):
    return len(line.expandtabs(8))


def check(tree):
    for path in tree.text_files():
        text = tree.text(path)
        is_c = path.endswith(('.c', '.h'))
        if text and not text.endswith('\n'):
            yield path, text.count('\n') + 1, 'the last line has no end'
        if text.endswith('\n\n'):
            yield path, text.count('\n'), 'empty lines at the end'
        # Most files have neither: to search each line takes four times as long.
        places, undone = PLACES.search(text), UNDONE.search(text)
        for number, line in enumerate(text.split('\n'), 1):
            if line.rstrip(' \t\r') != line:
                yield path, number, 'blanks at the end of the line'
            if places and PLACES.search(line):
                yield path, number, 'names a machine or a tool that is no part of the project'
            if undone and UNDONE.search(line):
                yield path, number, 'is not finished'
            if line.startswith(MARKS):
                yield path, number, 'is left over from a merge'
            if not is_c:
                continue
            if re.match(r'\t* +\t', line) or re.match(r' (?!\*)', line):
                yield path, number, 'is indented with spaces'
            if _width(line) > COLUMNS and not path.endswith('.tbl.h'):
                yield path, number, f'{_width(line)} columns, the most is {COLUMNS}'
