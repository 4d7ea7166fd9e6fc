"""Hosts of a test: network namespaces, each held by a process of its own."""

import ctypes
import os
import subprocess
import threading

import pytest

CLONE_NEWNET = 0x40000000


def need_namespaces():
    if subprocess.run(["unshare", "-n", "true"], check=False).returncode:
        pytest.skip("no network namespaces here")


class Namespaces:
    def __init__(self):
        self.holders = []

    def hold(self):
        """The pid of a process in a namespace of its own."""
        p = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "unshare", "-n", "sh", "-c", "echo here; exec sleep 600"],
                             stdout=subprocess.PIPE)
        self.holders.append(p)
        assert p.stdout.readline()
        return p.pid

    @staticmethod
    def run(pid, script):
        done = subprocess.run(["nsenter", f"--net=/proc/{pid}/ns/net", "sh", "-c", script], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done.stderr

    @staticmethod
    def enter(pid):
        """The calling thread moves there."""
        fd = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
        try:
            if ctypes.CDLL(None, use_errno=True).setns(fd, CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
        finally:
            os.close(fd)

    def at(self, pid, make):
        """The result of make(), called in that namespace: sockets stay in the namespace where they were made."""
        out = []

        def work():
            self.enter(pid)
            out.append(make())

        t = threading.Thread(target=work)
        t.start()
        t.join()
        return out[0]

    def close(self):
        for p in self.holders:
            p.kill()
            p.wait()
            p.stdout.close()
