"""No static variables outside src/app/: state is passed by pointer."""
import os
import re
import subprocess

# relocated constants are read-only once the program runs; the names of profiled functions are const
CONSTANT = ('.rodata', '.data.rel.ro', '.text', '.init_array', '.fini_array', '.eh_frame', '.debug', 'profile_names')


def _readelf(option, path):
    return subprocess.run(['readelf', option, path], check=True, capture_output=True, text=True).stdout


def variables_of(path):
    """[(name, section)] of the writable objects."""
    sections = dict(re.findall(r'^\s*\[\s*(\d+)\]\s+(\S+)', _readelf('-SW', path), re.MULTILINE))
    found = []
    for row in _readelf('-sW', path).split('\n'):
        field = row.split()
        if len(field) < 8 or field[3] not in ('OBJECT', 'TLS', 'COMMON') or field[2] == '0':
            continue
        section = 'COMMON' if field[6] == 'COM' else sections.get(field[6], '')
        if section and not section.startswith(CONSTANT):
            found.append((field[7], section))
    return found


def check(tree):
    if not tree.objects:
        return
    for source in tree.files('src', '.c'):
        if source.startswith('src/app/'):
            continue
        path = os.path.join(tree.objects, source[:-2] + '.o')
        if not os.path.exists(path):
            yield source, 1, f'was not compiled: there is no {path}'
            continue
        for name, section in variables_of(path):
            # gcc's coverage and sanitizer data are not ours
            if not name.startswith(('__gcov', '.Lu', '__sancov', '__odr')):
                yield source, 1, f'{name} is a variable ({section})', name
