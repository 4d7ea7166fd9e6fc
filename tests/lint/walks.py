"""Functions that src/ARCHITECTURE.md names with their file, as `name` (folder/file.c), are defined there."""
import os
import re

FILE = 'src/ARCHITECTURE.md'
PLACE = re.compile(r'`(\w+)(?:\(\))?`,?\s+\(((?:\w+/)+\w+\.[ch])\b')


def defines(text, name):
    """A function with its body, or an object with its value."""
    return re.search(rf"^(?:[A-Za-z_][\w \t*]*[ *])?{name}(?:\([^;]*?\)\s*\{{|(?:\[\w*\])? = )", text, re.MULTILINE)


def check(tree):
    if not tree.exists(FILE):
        return
    text = tree.text(FILE)
    paths = tree.c_files('src', 'include')
    for match in PLACE.finditer(text):
        name, where = match.groups()
        line = text.count('\n', 0, match.start()) + 1
        found = [p for p in paths if p.endswith('/' + where)]
        if not found:
            yield FILE, line, f'{where} does not exist', os.path.basename(where)
        elif not any(defines(tree.text(p), name) for p in found):
            yield FILE, line, f'{name} is not defined in {where}', name
