#!/usr/bin/env python3
"""Waits until the proxy has handled all that has reached it, so that what is sent next comes later.

    idle.py ADDRESS:PORT

The address is that of the stats socket. HAProxy has no `wait`, but one thread, which reads what was there before a command comes
and answers the command later.
"""
import socket
import sys

LIMIT = 60


def ask(address, command):
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), 2 * LIMIT) as s:
        s.sendall(command + b"\n")
        return s.makefile().read()


def idle(address):
    answer = ask(address, b"wait %ds idle" % LIMIT)
    if answer.startswith("Unknown command"):
        ask(address, b"show info")
    elif answer.strip() != "Done.":
        sys.exit("idle: " + answer)


if __name__ == "__main__":
    idle(sys.argv[1])
