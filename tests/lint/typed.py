"""The words that an entry of the manual lists come out of the table that a parser reads: a table that is only named as
`.values` was typed beside it, and may be behind it."""
import re


def check(tree):
    for path in tree.c_files('src'):
        code = re.sub(r'/\*.*?\*/', lambda m: re.sub(r'[^\n]', ' ', m[0]), tree.text(path), flags=re.DOTALL)
        for name in sorted(set(re.findall(r'\.values = (\w+)', code))):
            uses = [m.start() for m in re.finditer(rf'\b{name}\b', code)]
            shown = [m.start(1) for m in re.finditer(rf'\.values = ({name})\b', code)]
            defined = [m.start(1) for m in re.finditer(rf'struct cfg_enum ({name})\[', code)]
            if defined and len(uses) == len(shown) + len(defined):
                line = code.count('\n', 0, defined[0]) + 1
                yield path, line, f'no parser reads the words of {name}: cfg_arg_enum() and cfg_enum_find() do', name
