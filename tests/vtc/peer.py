#!/usr/bin/env python3
"""One scripted TCP or unix stream peer, for what varnishtest's own clients and servers cannot do:
half-closes, resets, and looking at how the other side ended.

    peer.py HOST PORT STEP...       connect
    peer.py PATH STEP...            connect to a unix socket (a path, or @name for an abstract one)
    peer.py -l PATH STEP...         listen there, take one connection
    peer.py -l FILE.cfg STEP...     the same on a free port of 127.0.0.1, put as PORT into a configuration to load

Steps: send:TEXT  sendn:N  recv:TEXT  recvn:N  until:TEXT (reads up to it, in whatever case)  eof (the other side closed cleanly)  reset (it reset us)
end (either)  shut (half-close)  rst (close with a reset)  close  sleep:SECONDS  wait:FILE (until it exists)
rcvbuf:N (before connecting)
"""
import os
import socket
import struct
import sys
import time

TIMEOUT = 30


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


def step(s, what):
    word, _, arg = what.partition(":")
    if word == "send":
        s.sendall(arg.encode().decode("unicode_escape").encode("latin1"))
    elif word == "sendn":
        s.sendall(b"x" * int(arg))
    elif word == "recv":
        want = arg.encode()
        got = read_exactly(s, len(want))
        if got != want:
            fail("got %r, not %r" % (got, want))
    elif word == "until":
        want = arg.encode().decode("unicode_escape").lower().encode("latin1")
        got = b""
        while not got.lower().endswith(want):
            got += read_exactly(s, 1)
    elif word == "recvn":
        read_exactly(s, int(arg))
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
    elif word == "sleep":
        time.sleep(float(arg))
    elif word == "wait":
        until = time.monotonic() + TIMEOUT
        while not os.path.exists(arg):
            if time.monotonic() > until:
                fail("%s does not exist" % arg)
            time.sleep(0.01)
    else:
        fail("no such step: " + what)


def unix(path):
    # An abstract name fills all of sun_path: that is how the proxies' "abns@" has it.
    s = socket.socket(socket.AF_UNIX)
    return s, (b"\0" + path[1:].encode()).ljust(108, b"\0") if path.startswith("@") else path


def main(args):
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
        # Others have to start first.
        s.settimeout(4 * TIMEOUT)
        s, _ = s.accept()
        s.settimeout(TIMEOUT)
    else:
        s.connect(where)
    for what in args:
        try:
            step(s, what)
        except OSError as e:
            fail("%s: %s" % (what, e))


main(sys.argv[1:])
