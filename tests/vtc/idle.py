#!/usr/bin/env python3
"""Waits until a process has no session left: what is counted for the next client is its own.

    idle.py STATS-SOCKET

Of no use behind a client that was told nothing: it may not even have been accepted."""
import re
import socket
import sys
import time

TIMEOUT = 30


def sessions(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(TIMEOUT)
        s.connect(path)
        s.sendall(b"show info\n")
        s.shutdown(socket.SHUT_WR)
        text = b""
        while True:
            got = s.recv(65536)
            if not got:
                return int(re.search(rb"^CurrConns: (\d+)$", text, re.M).group(1))
            text += got


end = time.monotonic() + TIMEOUT
while sessions(sys.argv[1]):
    if time.monotonic() > end:
        sys.exit("idle: there is still a session")
    time.sleep(0.01)
