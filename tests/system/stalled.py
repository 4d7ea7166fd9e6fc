"""A thread of the program that does not run."""

import contextlib
import ctypes
import os

import pytest

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17


@contextlib.contextmanager
def stopped_thread(tid):
    """A thread that does not run, while the others of its process do."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if libc.ptrace(PTRACE_SEIZE, tid, None, None) or libc.ptrace(PTRACE_INTERRUPT, tid, None, None):
        pytest.skip("threads cannot be traced here")
    os.waitpid(tid, 0x40000000)  # __WALL
    try:
        yield
    finally:
        libc.ptrace(PTRACE_DETACH, tid, None, None)
