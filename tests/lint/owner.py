"""Each function is declared once, in the header of its own .c or of the group that its name begins or ends with:
loop.c has loop.h and loop_int.h, http_actions.c has actions.h."""
import os
import re

from ctext import code_of, definitions_of


def declared_in(tree):
    """{function: [header]} of each name that a header declares."""
    found = {}
    for path in tree.files('include', '.h') + tree.files('src', '.h'):
        code = re.sub(r'^\s*#.*(?:\\\n.*)*|^typedef\b[^;]*;', '', code_of(tree.text(path)), flags=re.MULTILINE)
        for name in set(re.findall(r'^[A-Za-z_][\w \t*]*?[\s*](\w+)\([^;{}]*\)[^;{}]*;', code, re.MULTILINE)):
            found.setdefault(name, []).append(path)
    return found


def unit(path):
    return os.path.basename(path).split('.')[0]


def is_own(header, path):
    group = unit(header).removesuffix('_int')
    return f'{unit(path)}_'.startswith(f'{group}_') or f'_{unit(path)}'.endswith(f'_{unit(header)}')


def check(tree):
    headers = declared_in(tree)
    defined = {f.name for path in tree.c_files('include', 'src') for f in definitions_of(tree.text(path))}
    for name, paths in headers.items():
        if name not in defined:
            yield paths[0], 1, f'{name}() is not defined', name
        for path in paths[1:]:
            yield path, 1, f'{name}() is declared in {paths[0]}, too', name
    for path in tree.files('src', '.c'):
        for function in definitions_of(tree.text(path)):
            if function.static or function.name not in headers:
                continue
            if not any(is_own(header, path) for header in headers[function.name]):
                yield path, function.line, f'{function.name}() is declared in {headers[function.name][0]}', function.name
