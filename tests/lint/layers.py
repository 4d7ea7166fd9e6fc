"""The folders that each folder may include: never up, never sideways."""
from ctext import includes_of

# For each folder the other folders and single headers that it may include.
MAY = {
    'base': (),
    'event': ('base/',),
    'cfg': ('base/',),
    'net': ('event/', 'cfg/', 'base/'),
    'dns': ('net/', 'event/', 'cfg/', 'base/'),
    'http': ('base/',),
    'table': ('base/',),
    'peers': ('table/', 'base/'),
    'cache': ('base/',),
    'spop': ('base/',),
    'tls': ('net/', 'cfg/', 'base/', 'event/loop.h'),
    'h2': ('net/', 'http/', 'base/', 'event/loop.h', 'event/profile.h'),
    'rule': ('net/', 'http/', 'cfg/', 'base/'),
    'proxy': ('rule/', 'tls/', 'h2/', 'dns/', 'net/', 'http/', 'table/', 'peers/', 'spop/', 'cache/', 'cfg/', 'base/',
              'event/loop.h', 'event/profile.h', 'event/timer.h'),
    'app': ('',),
}

# For folders with sub-folders: each sub-folder, and the others that it may include. Other folders have no
# sub-folders.
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
        'resolve': ('backend', 'model'),
        'sample': ('backend', 'relay', 'model'),
        'log': ('sample', 'backend', 'model'),
        'check': ('log', 'sample', 'backend', 'model'),
        'filter': ('sample', 'model'),
        'config': ('check', 'filter', 'log', 'sample', 'backend', 'model'),
        'http1': ('log', 'sample', 'backend', 'relay', 'model'),
        'http2': ('http1', 'log', 'sample', 'backend', 'relay', 'model'),
        'session': ('http2', 'http1', 'log', 'sample', 'backend', 'relay', 'model'),
    },
    'app': {
        'config': (),
        'process': ('config',),
        'admin': ('process', 'config'),
        'stats': ('admin', 'process', 'config'),
        'master': ('process', 'config'),
        'promex': ('admin', 'process', 'config'),
        'main': ('promex', 'stats', 'admin', 'master', 'process', 'config'),
    },
}

# Headers of libraries and of HTTP/1's bytes, and the only places that may include them.
ROOMS = {
    'ev.h': ('src/event/poller_ev.c', 'src/app/'),
    'jemalloc/': ('src/base/mem.c',),
    'ares.h': ('src/dns/message.c',),
    'nghttp2/': ('src/h2/h2_hpack.c',),
    'zlib.h': ('src/http/deflate.c',),
    'isa-l/': ('src/http/deflate.c',),
    'brotli/': ('src/http/brotli.c',),
    'zstd.h': ('src/http/zstd.c',),
    'seccomp.h': ('include/app/process/call_rules.h',),
    'openssl/': ('src/tls/', 'include/tls/', 'src/rule/sample/conv_digest.c'),
    # All other files work on heads.
    'http/h1_': ('src/http/', 'include/http/', 'src/proxy/http1/', 'include/proxy/http1/', 'src/proxy/model/http_txn.c',
                 'src/proxy/sample/eval.c', 'src/proxy/check/check_expect.c', 'src/h2/h2_xprt.c', 'include/h2/h2_xprt.h'),
}


def room_of(path):
    """(folder, sub-folder or '') of a path below src/ or include/, or of a name in an #include."""
    parts = path.split('/')
    if parts[0] in ('src', 'include'):
        parts = parts[1:]
    return (parts[0], parts[1] if len(parts) > 2 else '')


def may_use(here, there, name):
    """True if a file of folder `here` may include `name`, a header of folder `there`."""
    if here[0] != there[0]:
        return name.startswith(MAY.get(here[0], ()))
    return here[1] == there[1] or there[1] in INSIDE.get(here[0], {}).get(here[1], ())


def may_link(source, target):
    """The same for a link between two files. A single header that may be included permits its folder."""
    here, there = room_of(source), room_of(target)
    if here[0] != there[0]:
        return any(name == '' or name.startswith(there[0] + '/') for name in MAY.get(here[0], ()))
    return may_use(here, there, '')


def circles():
    """The folders and sub-folders that may include themselves through others."""
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
        yield 'tests/lint/layers.py', 1, f'{name} may include itself through others'
    files = tree.c_files('src', 'include')
    for path in files:
        here = folder, sub = room_of(path)
        if sub not in INSIDE.get(folder, {'': ()}):
            yield path, 1, f'{sub or "the folder itself"} is not a sub-folder of {folder}'
        for line, name, quoted in includes_of(tree.text(path)):
            for header, places in ROOMS.items():
                if name.startswith(header) and not path.startswith(places):
                    yield path, line, f'{name} belongs to {", ".join(places)}'
            if not quoted:
                continue
            if '/' not in name and tree.exists(path.rsplit('/', 1)[0] + '/' + name):
                continue  # a private header of the folder
            if '/' not in name:
                yield path, line, f'"{name}" does not name its folder'
            elif folder not in MAY:
                yield path, line, f'{folder} is not in the table of layers.py'
            elif not may_use(here, room_of(name), name):
                yield path, line, f'{"/".join(filter(None, here))} may not include {name}'
