"""Each public function has a caller in the program outside its own file."""
from ctext import definitions_of


def check(tree):
    if not tree.objects:
        return
    symbols = tree.symbols()
    needed = {name for _, undefined in symbols.values() for name in undefined}
    for path in symbols:
        defined, _ = symbols[path]
        for function in definitions_of(tree.text(path)):
            name = function.name
            if not function.static and name in defined and name not in needed and name != 'main':
                yield path, function.line, f'{name}() has no caller outside this file', name
