"""Each public function has a caller in the program, outside its own file; inside is enough for one that tests call."""
import re

from ctext import code_of, definitions_of


def needed_by(symbols):
    return {name for _, undefined in symbols.values() for name in undefined}


def check(tree):
    if not tree.objects:
        return
    symbols = tree.symbols()
    needed = needed_by(symbols)
    tested = needed_by(tree.symbols_of([p for f in ('tests/unit', 'tests/sim', 'tests/fake') for p in tree.files(f, '.c')]))
    for path in symbols:
        defined, _ = symbols[path]
        for function in definitions_of(tree.text(path)):
            name = function.name
            if function.static or name not in defined or name in needed or name == 'main':
                continue
            own = len(re.findall(rf'\b{name}\b', code_of(tree.text(path)))) > 1
            if not own:
                yield path, function.line, f'{name}() has no caller in the program', name
            elif name not in tested:
                yield path, function.line, f'{name}() has no caller outside this file', name
