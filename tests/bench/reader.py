#!/usr/bin/env python3
"""Sends the same command to an admin socket periodically, like a collector of statistics.

    tests/bench/reader.py PATH PERIOD_MS COMMAND

Until SIGTERM; then it prints one line: answers= bytes= late= (answers that began after the next one was due)."""

import signal
import socket
import sys
import time


def ask(path, command):
    n = 0
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        s.connect(path)
        s.sendall(command.encode() + b"\n")
        while True:
            data = s.recv(1 << 16)
            if not data:
                return n
            n += len(data)


def main(path, period_ms, command):
    over = []
    signal.signal(signal.SIGTERM, lambda *_: over.append(1))
    answers = size = late = 0
    due = time.monotonic()
    while not over:
        size += ask(path, command)
        answers += 1
        due += int(period_ms) / 1e3
        left = due - time.monotonic()
        if left < 0:
            late += 1
            due -= left
        else:
            time.sleep(left)
    print("answers=%d bytes=%d late=%d" % (answers, size, late))


if __name__ == "__main__":
    main(*sys.argv[1:])
