"""Functions that the texts about the code name with their file, as `name` (folder/file.c), are defined there, and the
overview stays short."""
import os
import re

import glossary

FILES = ('src/ARCHITECTURE.md', 'src/app/ARCHITECTURE.md', 'src/net/ARCHITECTURE.md')
LINES_MAX = 250  # without the rows of the glossary
PLACE = re.compile(r'`(\w+)(?:\(\))?`,?\s+\(((?:\w+/)+\w+\.[ch])\b')


def defines(text, name):
    """A function with its body, or an object with its value."""
    return re.search(rf"^(?:[A-Za-z_][\w \t*]*[ *])?{name}(?:\([^;]*?\)\s*\{{|(?:\[\w*\])? = )", text, re.MULTILINE)


def misplaced(tree, text, paths):
    for match in PLACE.finditer(text):
        name, where = match.groups()
        line = text.count('\n', 0, match.start()) + 1
        found = [p for p in paths if p.endswith('/' + where)]
        if not found:
            yield line, f'{where} does not exist', os.path.basename(where)
        elif not any(defines(tree.text(p), name) for p in found):
            yield line, f'{name} is not defined in {where}', name


def check(tree):
    paths = tree.c_files('src', 'include')
    for file in filter(tree.exists, FILES):
        text = tree.text(file)
        lines = text.count('\n') - len(glossary.rows(text))
        if lines > LINES_MAX:
            yield file, lines, f'{lines} lines (at most {LINES_MAX}): what is about one folder belongs there', file
        for line, what, key in misplaced(tree, text, paths):
            yield file, line, what, key
