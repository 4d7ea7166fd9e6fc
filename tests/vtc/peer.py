#!/usr/bin/env python3
"""One scripted TCP or unix stream peer, for what varnishtest's own clients and servers cannot do: half-closes, resets, inspecting
how the other side ended, and bytes that the proxy has to read one by one.

    peer.py [-a ADDRESS:PORT] HOST PORT STEP...       connect
    peer.py [-a ADDRESS:PORT] PATH STEP...            connect to a unix socket (a path, or @name for an abstract one)
    peer.py -l PATH STEP...         listen there, take one connection
    peer.py -l FILE.cfg STEP...     the same on a free port of 127.0.0.1, put as PORT into a configuration to load

With -a the proxy's stats socket is there. A peer that listens reports it, for `process p1 -start -need-bytes 1`.

Steps: send:TEXT  sendn:N  drip:TEXT (byte by byte, idle after each)  recv:TEXT  recvn:N  until:TEXT (reads up to it, in whatever
case)  all (reads up to the end)  nothing (there is nothing to read now)  eof (the other side closed cleanly)  reset (it reset us)
end (either)  shut (half-close)  rst (close with a reset)  close  idle (the proxy has handled what was sent: idle.py)
wait:FILE (until it exists)  make:FILE  run:COMMAND  rcvbuf:N (before connecting)
"""
import os
import select
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
import facts
from idle import idle

TIMEOUT = facts.LIMIT


def fail(why):
    sys.exit("peer: " + why)


def read_exactly(s, n):
    got = b""
    while len(got) < n:
        part = s.recv(min(65536, n - len(got)))
        if not part:
            fail("closed after %d of %d bytes" % (len(got), n))
        got += part
    return got


def unescape(text):
    return text.encode().decode("unicode_escape").encode("latin1")


def let_proxy_read(s, proxy):
    if s.fileno() >= 0 and s.family != socket.AF_UNIX:
        facts.delivered(s)
    idle(proxy)


def step(s, what, proxy):
    word, _, arg = what.partition(":")
    if word == "send":
        s.sendall(unescape(arg))
    elif word == "drip":
        for byte in unescape(arg):
            s.sendall(bytes([byte]))
            let_proxy_read(s, proxy)
    elif word == "idle":
        let_proxy_read(s, proxy)
    elif word == "sendn":
        s.sendall(b"x" * int(arg))
    elif word == "recv":
        want = arg.encode()
        got = read_exactly(s, len(want))
        if got != want:
            fail("got %r, not %r" % (got, want))
    elif word == "until":
        want = unescape(arg).lower()
        got = b""
        while not got.lower().endswith(want):
            got += read_exactly(s, 1)
    elif word == "run":
        subprocess.run(arg, shell=True, check=True)
    elif word == "recvn":
        read_exactly(s, int(arg))
    elif word == "all":
        while s.recv(65536):
            pass
    elif word == "nothing":
        if select.select([s], [], [], 0)[0]:
            fail("got %r, not nothing" % s.recv(65536))
    elif word == "eof":
        got = s.recv(1)
        if got:
            fail("got %r, not the end" % got)
    elif word == "end":
        try:
            got = s.recv(1)
        except ConnectionResetError:
            return
        if got:
            fail("got %r, not the end" % got)
    elif word == "reset":
        try:
            got = s.recv(1)
        except ConnectionResetError:
            return
        fail("got %r, not a reset" % got)
    elif word == "shut":
        s.shutdown(socket.SHUT_WR)
    elif word == "rst":
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
    elif word == "close":
        s.close()
    elif word == "wait":
        facts.exists(arg)
    elif word == "make":
        with open(arg, "w"):
            pass
    else:
        fail("no such step: " + what)


def unix(path):
    # An abstract name fills all of sun_path: that is how the proxies' "abns@" has it.
    s = socket.socket(socket.AF_UNIX)
    return s, (b"\0" + path[1:].encode()).ljust(108, b"\0") if path.startswith("@") else path


def main(args):
    proxy = None
    if args[0] == "-a":
        proxy, args = args[1], args[2:]
    listening = args[0] == "-l"
    if listening:
        args = args[1:]
    portfile = None
    if args[0].endswith(".cfg"):
        s, where = socket.socket(), ("127.0.0.1", 0)
        portfile, args = args[0], args[1:]
    elif args[0][0] in "/@":
        s, where = unix(args[0])
        args = args[1:]
    else:
        s = socket.socket(socket.AF_INET6 if ":" in args[0] else socket.AF_INET)
        where = args[0], int(args[1])
        args = args[2:]
    if args and args[0].startswith("rcvbuf:"):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(args.pop(0)[7:]))
    s.settimeout(TIMEOUT)
    if listening:
        # A path, like the file with the port, appears when it takes connections.
        is_path = isinstance(where, str)
        s.bind(where + ".new" if is_path else where)
        s.listen(16)
        if is_path:
            os.rename(where + ".new", where)
        if portfile:
            with open(portfile + ".new", "w") as f:
                f.write("global\n\tsetenv PORT %d\n" % s.getsockname()[1])
            os.rename(portfile + ".new", portfile)
        print("listening", flush=True)
        # Others have to start first.
        s.settimeout(2 * TIMEOUT)
        s, _ = s.accept()
        s.settimeout(TIMEOUT)
    else:
        s.connect(where)
    for what in args:
        try:
            step(s, what, proxy)
        except OSError as e:
            fail("%s: %s" % (what, e))


main(sys.argv[1:])
