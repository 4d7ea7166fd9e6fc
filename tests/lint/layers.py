"""Who may include whom: never up, never sideways."""
from ctext import includes_of

# Each folder: the folders and single headers it may include, beside itself.
MAY = {
    'base': (),
    'event': ('base/',),
    'cfg': ('base/',),
    'net': ('event/', 'cfg/', 'base/'),
    'http': ('base/',),
    'tls': ('net/', 'cfg/', 'base/'),
    'rule': ('net/', 'http/', 'cfg/', 'base/'),
    'proxy': ('rule/', 'net/', 'http/', 'cfg/', 'base/', 'event/loop.h', 'event/timer.h'),
    'app': ('',),
}

# A folder that is cut into sub-folders: each of them, and the others that it may use. Without a row here a folder's
# files stand in the folder itself.
INSIDE = {
    'rule': {
        'sample': (),
        'match': ('sample',),
        'action': ('match', 'sample'),
    },
    'proxy': {
        'model': (),
        'relay': ('model',),
        'backend': ('model',),
        'sample': ('backend', 'relay', 'model'),
        'log': ('sample', 'backend', 'model'),
        'config': ('log', 'sample', 'backend', 'model'),
        'http1': ('log', 'sample', 'backend', 'relay', 'model'),
        'session': ('http1', 'log', 'sample', 'backend', 'relay', 'model'),
    },
    'app': {
        'config': (),
        'process': ('config',),
        'admin': ('process', 'config'),
        'main': ('admin', 'process', 'config'),
    },
}

# Libraries that live in one room: header, and the places that may include it.
ROOMS = {
    'ev.h': ('src/event/poller_ev.c', 'src/app/'),
    'jemalloc/': ('src/base/mem.c',),
    'openssl/': ('src/tls/', 'include/tls/', 'src/rule/sample/conv_digest.c'),
}


def room_of(path):
    """(folder, sub-folder or '') of a path below src/ or include/, or of a name in an #include."""
    parts = path.split('/')
    if parts[0] in ('src', 'include'):
        parts = parts[1:]
    return (parts[0], parts[1] if len(parts) > 2 else '')


def may_use(here, there, name):
    """May a file of the room `here` include `name`, which is of the room `there`?"""
    if here[0] != there[0]:
        return name.startswith(MAY.get(here[0], ()))
    return here[1] == there[1] or there[1] in INSIDE.get(here[0], {}).get(here[1], ())


def may_link(source, target):
    """The same for the two files behind a symbol. A single header that may be included stands for its folder."""
    here, there = room_of(source), room_of(target)
    if here[0] != there[0]:
        return any(name == '' or name.startswith(there[0] + '/') for name in MAY.get(here[0], ()))
    return may_use(here, there, '')


def circles():
    """The folders and sub-folders whose rows of the two tables lead back to them."""
    found = []
    for rows in ({f: {n.split('/')[0] for n in may if n} for f, may in MAY.items()}, *INSIDE.values()):
        for start in rows:
            todo, seen = list(rows[start]), set()
            while todo:
                name = todo.pop()
                if name not in seen:
                    seen.add(name)
                    todo += rows.get(name, ())
            if start in seen:
                found.append(start)
    return found


def check(tree):
    for name in circles():
        yield 'tests/lint/layers.py', 1, f'{name} may use itself through others: that is no order'
    files = tree.c_files('src', 'include')
    for path in files:
        here = folder, sub = room_of(path)
        if sub not in INSIDE.get(folder, {'': ()}):
            yield path, 1, f'{sub or "the folder itself"} is no sub-folder of {folder}'
        for line, name, quoted in includes_of(tree.text(path)):
            if not quoted:
                for header, places in ROOMS.items():
                    if name.startswith(header) and not path.startswith(places):
                        yield path, line, f'<{name}> belongs to {", ".join(places)}'
                continue
            if '/' not in name and tree.exists(path.rsplit('/', 1)[0] + '/' + name):
                continue  # private to its folder
            if '/' not in name:
                yield path, line, f'"{name}" does not name its folder'
            elif folder not in MAY:
                yield path, line, f'{folder} is no layer'
            elif not may_use(here, room_of(name), name):
                yield path, line, f'{"/".join(filter(None, here))} may not include {name}'
