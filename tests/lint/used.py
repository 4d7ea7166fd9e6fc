"""Each public function and table has a user in the program outside its own file."""
from ctext import definitions_of


def check(tree):
    if not tree.objects:
        return
    symbols = tree.symbols()
    needed = {name for _, undefined in symbols.values() for name in undefined}
    # sys/sdt.h puts a symbol into each file with static probes.
    for path in symbols:
        defined, _ = symbols[path]
        functions = {f.name: f.line for f in definitions_of(tree.text(path))}
        for name in sorted(defined - needed - {'main', '_.stapsdt.base'}):
            if name in functions:
                yield path, functions[name], f'{name}() has no caller outside this file', name
            else:
                yield path, 1, f'{name} is not used outside this file', name
