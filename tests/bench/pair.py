#!/usr/bin/env python3
"""Measures for how long a service of two nodes (conf/pair) is away when one of them is lost, under 1,000 new connections a
second, and how many requests fail. As root: tests/bench/pair.py [EVENT]..."""

import asyncio
import contextlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "system"))

from test_pair import ADDRESS, TACIT, Pair  # noqa: E402

import facts  # noqa: E402


class OpenLoop:
    """1,000 new connections a second, whatever becomes of them. `starts` has the time of each that was answered within 0.5 s,
    `late` the number of those that took longer, `failed` of those without an answer."""

    def __init__(self, net):
        self.starts, self.late, self.failed, self._end = [], 0, 0, False
        self._wanted, self._enough = 0, threading.Event()
        self._thread = threading.Thread(target=self._run, args=(net,))
        self._thread.start()

    def _run(self, net):
        net.enter(net.switch)
        asyncio.run(self._all())

    async def _all(self):
        clock = asyncio.get_running_loop().time
        begin, n, tasks = clock(), 0, set()
        while not self._end:
            while n < (clock() - begin) * 1000:
                n += 1
                task = asyncio.ensure_future(self._one())
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            await asyncio.sleep(0.001)
        await asyncio.gather(*tasks)

    async def _one(self):
        clock = asyncio.get_running_loop().time
        start = clock()
        try:
            r, w = await asyncio.wait_for(asyncio.open_connection(ADDRESS, 80), 8)
            w.write(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            got = await asyncio.wait_for(r.read(), 8)
            w.close()
            if not got.endswith(b"server"):
                raise OSError("no answer")
        except (OSError, asyncio.TimeoutError):
            self.failed += 1
        else:
            if clock() - start < 0.5:
                self.starts.append(start)
                if len(self.starts) == self._wanted:
                    self._enough.set()
            else:
                self.late += 1

    def more(self, n):
        """Waits for so many more answers in time."""
        self._enough.clear()
        self._wanted = len(self.starts) + n
        self._enough.wait()

    def end(self):
        self._end = True
        self._thread.join()

    def stop(self):
        self.end()
        at = sorted(self.starts)
        gap = max(b - a for a, b in zip(at, at[1:]))
        return f"{len(at)} answered, {self.late} late, {self.failed} failed; longest time without an answer {gap:.3f} s"


def stop_in_order(node):
    node.vrrp("hold")
    node.tacit.send(signal.SIGUSR1)
    node.tacit.wait()
    node.vrrp("leave")


EVENTS = {
    "crash": lambda node: node.kill(),
    "network cut": lambda node: node.link("down"),
    "kill -9 of tacit": lambda node: [os.kill(p, signal.SIGKILL) for p in [node.tacit.pid, *facts.children(node.tacit.pid)]],
    "stop in order": stop_in_order,
    "reload": lambda node: subprocess.run([TACIT, "--reload", node.dir / "master"], capture_output=True, check=True),
}


def measure(event, advert):
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as made:
        pair = Pair(Path(directory))
        made.callback(pair.end)
        pair.start(advert)
        load = OpenLoop(pair)
        made.callback(load.end)
        load.more(1000)
        EVENTS[event](pair.one)
        if event != "reload":
            pair.two.enters("MASTER")
        load.more(2000)
        print(f"{event}, advert_int {advert}: {load.stop()}", flush=True)


if __name__ == "__main__":
    # its nodes end with it
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # a connection that gets no answer waits for 8 s
    resource.setrlimit(resource.RLIMIT_NOFILE, (16000, 16000))
    for name in sys.argv[1:] or EVENTS:
        for interval in ("1", "0.1"):
            measure(name, interval)
