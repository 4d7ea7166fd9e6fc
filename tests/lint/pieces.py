"""A unit is one file: how many public functions are called by one other file of their folder only, how many files a
folder has, and how many circles of files there are. The bounds only fall; lint reports when one can."""
import os
import re
from collections import Counter

from ctext import code_of, definitions_of
from graph import components_of

# Public functions that one file calls, of their own folder. A row of a table is not called by its name.
PUBLICS_MAX = 500
CIRCLES_MAX = 7
FOLDER_MAX = 35  # .c files


def users_of(symbols):
    """{symbol: {file that needs it}}"""
    users = {}
    for path, (_, undefined) in symbols.items():
        for name in undefined:
            users.setdefault(name, set()).add(path)
    return users


def publics_of(tree):
    """[(path, line, name, the one file that calls it)]"""
    symbols = tree.symbols()
    users = users_of(symbols)
    code = {path: code_of(tree.text(path)) for path in symbols}
    found = []
    for path, (defined, _) in symbols.items():
        for function in definitions_of(tree.text(path)):
            callers = users.get(function.name, set()) - {path}
            if function.name in defined and len(callers) == 1:
                caller = next(iter(callers))
                if os.path.dirname(caller) == os.path.dirname(path) and re.search(rf'\b{function.name}\s*\(', code[caller]):
                    found.append((path, function.line, function.name, caller))
    return found


def exceeds(tree, path, count, most, what):
    """[a violation], or a note if the bound can fall."""
    if count < most:
        tree.note(f'{count} {what}: the bound is {most} and can fall')
    return [(path, 1, f'{count} {what}, the most is {most}')] if count > most else []


def check(tree):
    here = 'tests/lint/pieces.py'
    folders = Counter(os.path.dirname(path) for path in tree.files('src', '.c'))
    for folder, count in sorted(folders.items()):
        if count > FOLDER_MAX:
            yield folder, 1, f'{count} files in {folder}, the most is {FOLDER_MAX}'
    if tree.objects:
        publics = publics_of(tree)
        what = 'public functions have one caller, in their own folder'
        yield from exceeds(tree, here, len(publics), PUBLICS_MAX, what)
        tree.note(f'{len(publics)} {what}; {sum(folders.values())} files in src')
        yield from exceeds(tree, here, len(components_of(tree.links())), CIRCLES_MAX, 'circles of files that need each other')


def main():
    from lint import HERE, Tree
    root = os.path.dirname(os.path.dirname(HERE))
    for path, line, name, caller in publics_of(Tree(root, os.path.join(root, 'build/obj'))):
        print(f'{path}:{line}: {name}() is called by {caller} only')


if __name__ == '__main__':
    main()
