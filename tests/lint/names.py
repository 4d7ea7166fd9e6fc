"""A static function can be found by its name: it has more than one common word, and is defined in one file only."""
from ctext import definitions_of

WORD_MAX = 12


def check(tree):
    first = {}
    for path in tree.files('src', '.c'):
        for function in definitions_of(tree.text(path)):
            if not function.static:
                continue
            name = function.name
            if '_' not in name and len(name) <= WORD_MAX:
                yield path, function.line, f'{name}() has a name of one word', name
            elif first.setdefault(name, path) != path:
                yield path, function.line, f'{name}() is defined in {first[name]}, too', name
