""" The number of files in which a TCP connection is handled from its accept to its log line: those whose
functions the program enters (make path). A header counts if one of its inline functions is a function in the release
build; a row of a table (*.tbl.h) belongs to the .c that makes a function of it. The files are listed in
build/path/files.txt."""

import os
import re
import socket
import subprocess

import pytest
from conftest import BUILD, ROOT, TACIT, WAIT, connect, free_port
from subject import LogServer

FILES_MAX = 26
FIRST, LAST = "on_accepted", "log_send_message"
CONNECTIONS = 3

CONFIG = """
frontend f
    bind 127.0.0.1:{port}
    log 127.0.0.1:{log} local0
    option tcplog
    default_backend b
backend b
    server s 127.0.0.1:{origin}
"""

pytestmark = pytest.mark.skipif(not os.path.exists(BUILD / "path.so"), reason="needs a build with a hook: make path")


def client_ends(port):
    with connect(port) as s:
        s.sendall(b"hello")
        assert s.recv(100) == b"hello"
        s.shutdown(socket.SHUT_WR)
        assert s.recv(100) == b""


def server_ends(port):
    with connect(port) as s:
        s.sendall(b"bye")
        assert s.recv(100) == b"bye"
        assert s.recv(100) == b""


def origin_of(conn):
    """ Closes after "bye", otherwise after its client."""
    while (got := conn.recv(100)):
        conn.sendall(got)
        if got == b"bye":
            return


def functions_of(program):
    """{address: name}"""
    rows = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout.split("\n")
    return {int(r.split()[0], 16): r.split()[2].split(".")[0] for r in rows if re.search(r" [tT] ", r)}


def entered(trace):
    """[(function, path)] in the order of the calls; a path of src or include."""
    words = memoryview(trace.read_bytes()).cast("Q")
    addresses = list(words[1:words[0] + 1])
    assert addresses, "nothing was recorded"
    names, unique = functions_of(TACIT), sorted(set(addresses))
    lines = subprocess.run(["addr2line", "-e", TACIT, *map(hex, unique)], check=True, capture_output=True,
                           text=True).stdout.split("\n")
    where = {a: (names[a], re.sub(r"^.*?((?:src|include)/[^:]*):.*", r"\1", line)) for a, line in zip(unique, lines)}
    return [where[a] for a in addresses]


def connections_of(calls):
    """The calls of each connection, from accept to its log line."""
    found, now = [], None
    for name, path in calls:
        if name == FIRST:
            now = []
        if now is not None:
            now.append((name, path))
        if name == LAST and now is not None:
            found.append(now)
            now = None
    return found


def counts(name, path, emitted):
    if not re.match(r"(?:src|include)/(?:proxy|rule)/", path) or path.endswith(".tbl.h"):
        return False
    return path.endswith(".c") or name in emitted


def files_of(calls, emitted):
    """{path of proxy and rule: [its functions]}"""
    found = {}
    for name, path in calls:
        if counts(name, path, emitted):
            found.setdefault(path, {})[name] = 1
    return {path: list(names) for path, names in sorted(found.items())}


@pytest.mark.parametrize("talk", [client_ends, server_ends])
def test_a_connection_passes_few_files(daemon, origins, tmp_path, talk):
    log, port, trace = LogServer(), free_port(), tmp_path / "trace"
    d = daemon(CONFIG.format(port=port, log=log.port, origin=origins(origin_of).port),
               env={"LD_PRELOAD": str(BUILD / "path.so"), "PATH_TRACE": str(trace)}, extra="nbthread 1")
    for n in range(CONNECTIONS):
        talk(port)
        log.wait(n + 1)
    d.stop(limit=WAIT)
    log.close()
    found = connections_of(entered(trace))
    assert len(found) == CONNECTIONS
    emitted = set(functions_of(ROOT / "build" / "tacit").values())
    most = max((files_of(calls, emitted) for calls in found), key=len)
    lines = [f"{path}: {' '.join(names)}\n" for path, names in most.items()]
    title = f"{talk.__name__}: {len(most)} files of proxy and rule, the most is {FILES_MAX}\n"
    with open(BUILD / "files.txt", "a", encoding="utf-8") as out:
        out.writelines([title, *lines])
    # the whole connection was seen
    assert {"src/proxy/session/session.c", "src/proxy/relay/direction.c", "src/proxy/log/log_alias.c"} <= most.keys()
    assert len(most) <= FILES_MAX, title + "".join(lines)
