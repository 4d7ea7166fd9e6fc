"""The proxy asks a connection, never its descriptor: a connection may have none (net/conn.h, net/conn_socket.h)."""
import re

from ctext import code_of

DESCRIPTOR = re.compile(r'(?:->|\bconn(?:\[\w+\])?\.)(fd)\b|\b(loop_(?:again|presume_\w+|peek|seen|has_news|note_error))\(')


def check(tree):
    for path in tree.c_files('src/proxy', 'include/proxy'):
        for number, line in enumerate(code_of(tree.text(path)).split('\n'), 1):
            for found in DESCRIPTOR.finditer(line):
                name = found.group(1) or found.group(2)
                yield path, number, f'{name}: ask the connection (net/conn.h, net/conn_socket.h)', name
