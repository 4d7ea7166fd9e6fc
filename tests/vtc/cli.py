#!/usr/bin/env python3
"""Sends a command to a stats socket, or `prompt` and then one when the one before it is answered, and prints the answers until
the socket is closed.

    cli.py PATH COMMAND | cli.py PATH prompt COMMAND..."""
import contextlib
import socket
import sys

PROMPT = b"\n> "


def main(path, *commands):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        s.connect(path)
        for command in commands:
            s.sendall(command.encode() + b"\n")
            answer = b""
            while commands[0] == "prompt" and not answer.endswith(PROMPT):
                got = s.recv(65536)
                if not got:
                    break
                answer += got
            sys.stdout.write(answer.decode())
        with contextlib.suppress(OSError):
            s.shutdown(socket.SHUT_WR)
        sys.stdout.write(s.makefile().read())


main(*sys.argv[1:])
