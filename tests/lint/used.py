"""Each public function has a caller in the program, outside its own file."""
import re

from ctext import code_of, definitions_of


def check(tree):
    if not tree.objects:
        return
    symbols = tree.symbols()
    needed = {name for _, undefined in symbols.values() for name in undefined}
    for path in symbols:
        defined, _ = symbols[path]
        for function in definitions_of(tree.text(path)):
            name = function.name
            if function.static or name not in defined or name in needed or name == 'main':
                continue
            own = len(re.findall(rf'\b{name}\b', code_of(tree.text(path)))) > 1
            yield path, function.line, f'{name}() has no caller {"outside this file" if own else "in the program"}', name
