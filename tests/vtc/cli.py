#!/usr/bin/env python3
"""Sends commands to a stats socket, one after the other, and prints the answers until it is closed.

    cli.py PATH COMMAND..."""
import socket
import sys
import time

s = socket.socket(socket.AF_UNIX)
s.settimeout(10)
s.connect(sys.argv[1])
for command in sys.argv[2:]:
    try:
        s.sendall(command.encode() + b"\n")
    except BrokenPipeError:
        break
    time.sleep(0.05)
try:
    s.shutdown(socket.SHUT_WR)
    while True:
        got = s.recv(65536)
        if not got:
            break
        sys.stdout.write(got.decode())
except OSError:
    pass
