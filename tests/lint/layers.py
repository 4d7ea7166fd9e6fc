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

# Libraries that live in one room: header, and the places that may include it.
ROOMS = {
    'ev.h': ('src/event/poller_ev.c', 'src/app/'),
    'jemalloc/': ('src/base/mem.c',),
    'openssl/': ('src/tls/', 'include/tls/', 'src/rule/conv_digest.c'),
}


def check(tree):
    for path in tree.c_files('src', 'include'):
        folder = path.split('/')[1]
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
                continue
            if folder not in MAY:
                yield path, line, f'{folder} is no layer'
            elif not name.startswith((folder + '/',) + MAY[folder]):
                yield path, line, f'{folder} may not include {name}'
