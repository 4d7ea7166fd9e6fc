"""Has a running process make a system call, as an attacker who controls it would: with ptrace(2), from outside.

A process that waits in the kernel stands behind its instruction `syscall`: its registers are changed, that one
instruction is executed once more, and the registers are put back. x86-64 only."""

import ctypes
import os
import platform
import signal
import time

import pytest

TRACED, GETREGS, SETREGS, STEP, ATTACH, DETACH = 0, 12, 13, 9, 16, 17
WALL = 0x40000000
SYSCALL = b"\x0f\x05"
NAMES = ("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss "
         "fs_base gs_base ds es fs gs").split()
CALLS = {"read": 0, "bind": 49, "ptrace": 101, "setuid": 105, "personality": 135, "mount": 165, "unshare": 272,
         "execve": 59, "openat": 257, "socket": 41, "process_vm_readv": 310, "bpf": 321, "io_uring_setup": 425,
         "keyctl": 250, "getppid": 110, "connect": 42, "sendto": 44, "perf_event_open": 298, "userfaultfd": 323, "setns": 308, "ioctl": 16}

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


class Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in NAMES]


class Killed(Exception):
    """The process was ended by this signal."""


def ptrace(what, pid, data=None):
    if libc.ptrace(what, pid, None, data) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace {what}")


def may_trace():
    return platform.machine() == "x86_64" and os.getuid() == 0


needs_intruder = pytest.mark.skipif(not may_trace(), reason="needs root and x86-64")


class Intruder:
    """with Intruder(pid) as i: i.call("unshare", 0) -> the result, or -errno."""

    def __init__(self, pid):
        self.pid = pid
        self.previous = Registers()
        self.is_over = False

    def __enter__(self):
        for _ in range(1000):
            ptrace(ATTACH, self.pid)
            self._wait(signal.SIGSTOP)
            ptrace(GETREGS, self.pid, ctypes.byref(self.previous))
            if self.previous.orig_rax < 1 << 63 and self.peek(self.previous.rip - 2, 2) == SYSCALL:
                return self
            ptrace(DETACH, self.pid)
            time.sleep(0.01)
        raise AssertionError("it never waited in the kernel")

    def __exit__(self, *unused):
        if not self.is_over:
            ptrace(SETREGS, self.pid, ctypes.byref(self.previous))
            ptrace(DETACH, self.pid)

    def _wait(self, expected):
        _, status = os.waitpid(self.pid, WALL)
        if not os.WIFSTOPPED(status):
            self.is_over = True
            raise Killed(os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0)
        assert os.WSTOPSIG(status) == expected, status

    def peek(self, address, n):
        with open(f"/proc/{self.pid}/mem", "rb") as f:
            f.seek(address)
            return f.read(n)

    def put(self, data):
        """Below the stack that is in use; returns its address."""
        address = (self.previous.rsp - 4096) & ~15
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as f:
            f.seek(address)
            f.write(data)
        return address

    def call(self, name, *args):
        regs = Registers.from_buffer_copy(self.previous)
        regs.rip -= 2
        regs.rax, regs.orig_rax = CALLS[name], (1 << 64) - 1
        for register, value in zip(("rdi", "rsi", "rdx", "r10", "r8", "r9"), (*args, 0, 0, 0, 0, 0, 0)):
            setattr(regs, register, value & ((1 << 64) - 1))
        ptrace(SETREGS, self.pid, ctypes.byref(regs))
        ptrace(STEP, self.pid)
        self._wait(signal.SIGTRAP)
        ptrace(GETREGS, self.pid, ctypes.byref(regs))
        return ctypes.c_longlong(regs.rax).value
