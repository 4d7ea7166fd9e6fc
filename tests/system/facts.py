"""Facts that tests wait for, instead of pauses. Each function returns as soon as the fact is there; when it does not come it fails
with words: what was waited for, and what was seen instead. The limit is for what hangs, never part of what is tested."""

import contextlib
import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
import termios
import threading
import time
from pathlib import Path

LIMIT = float(os.environ.get("TACIT_TEST_WAIT", "60"))
ENDED = "The process has ended before this command."

# --- the program under test ------------------------------------------------------------------------------


def until(path, *conditions, limit=LIMIT):
    """Conditions of the command `wait` on this stats socket, one after the other: until("sessions eq 0", "idle")."""
    for condition in conditions:
        answer = ENDED
        # A process that stops ends what only waits: the one that has replaced it is asked then.
        while answer in ("", ENDED):
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(limit + 30)
                s.connect(str(path))
                s.sendall(f"wait {int(limit * 1000)} {condition}\n".encode())
                answer = s.makefile().read().strip()
        if answer != "Done.":
            raise AssertionError(f"waited {limit} s for '{condition}': {answer}")


# --- processes -------------------------------------------------------------------------------------------


def gone(*pids, limit=LIMIT):
    """These processes have ended; they need not be children of this one."""
    for pid in pids:
        try:
            end = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            if not select.select([end], [], [], limit)[0]:
                raise AssertionError(f"waited {limit} s for process {pid} to end: "
                                     f"{Path(f'/proc/{pid}/status').read_text().splitlines()[:3]}")
        finally:
            os.close(end)


def becomes(read, wanted, what=None, limit=LIMIT):
    """look() == wanted, or with a function as `wanted`, wanted(look()) is true. Only for states that are not reported, such as the
    files of /proc: looks every few milliseconds. Returns what it saw."""
    end = time.monotonic() + limit
    while True:
        seen = read()
        if wanted(seen) if callable(wanted) else seen == wanted:
            return seen
        if time.monotonic() >= end:
            raise AssertionError(f"waited {limit} s for {what or ('it' if callable(wanted) else repr(wanted))}; "
                                 f"seen: {_short(seen)}")
        time.sleep(0.005)


def cpu_ticks(pid):
    """utime + stime of a process in clock ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def is_calm(pid):
    """Asserts that it takes no CPU while nothing happens: time has to pass for that. One that spins gets much of a second."""
    before = cpu_ticks(pid)
    time.sleep(1)
    return cpu_ticks(pid) - before <= 0.1 * os.sysconf("SC_CLK_TCK")


def children(pid):
    with contextlib.suppress(FileNotFoundError):
        return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def only_child(pid, besides=(), limit=LIMIT):
    """The one child that a process has when the others, and all of `besides`, have ended and were waited for."""
    return becomes(lambda: children(pid), lambda seen: len(seen) == 1 and seen[0] not in besides,
                   f"process {pid} to have one child, not of {list(besides)}", limit)[0]


def listening(pids, path):
    """The processes, of these, that listen on a unix socket, and those that hide their descriptors. The socket's name may be
    longer, as it is before it is renamed."""
    rows = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    links = {f"socket:[{r[6]}]" for r in rows if r[3] == "00010000" and len(r) > 7 and r[7].startswith(str(path))}
    return [pid for pid in pids if (held := _links(pid)) is None or links & held]


def _links(pid):
    """The links of a process's descriptors; None if it hides them, as it does while it starts."""
    links = set()
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                links.add(os.readlink(f"/proc/{pid}/fd/{name}"))
    except FileNotFoundError:
        return links
    except PermissionError:
        return None
    return links


# --- files -----------------------------------------------------------------------------------------------

_libc = ctypes.CDLL(None, use_errno=True)
_MODIFY, _MOVED_TO, _CREATE, _DELETE, _CLOSE_WRITE, _NONBLOCK = 0x2, 0x80, 0x100, 0x200, 0x8, 0x800


def _watch(fd, path):
    if _libc.inotify_add_watch(fd, os.fsencode(path), _MODIFY | _MOVED_TO | _CREATE | _DELETE | _CLOSE_WRITE) < 0 and \
            ctypes.get_errno() != errno.ENOENT:
        raise OSError(ctypes.get_errno(), f"inotify: {path}")


def _short(seen):
    """The end of a long text, without the NULs of a file that is written in a circle."""
    text = repr(seen.replace("\0", "") if isinstance(seen, str) else seen)
    return text if len(text) < 4000 else "..." + text[-4000:]


def _file_until(path, read, is_enough, what, limit):
    fd = _libc.inotify_init1(_NONBLOCK)
    try:
        while True:
            # The directory hears nothing of a file that has got its name later.
            _watch(fd, Path(path).parent)
            _watch(fd, path)
            if is_enough(seen := read()):
                return seen
            if not select.select([fd], [], [], limit)[0]:
                raise AssertionError(f"waited {limit} s for {what}; seen: {_short(seen)}")
            with contextlib.suppress(BlockingIOError):
                os.read(fd, 65536)
    finally:
        os.close(fd)


def exists(path, limit=LIMIT):
    """There is a file of this name."""
    _file_until(path, lambda: sorted(os.listdir(Path(path).parent)), lambda names: Path(path).name in names,
                f"the file {path}", limit)


def contains(path, *texts, limit=LIMIT):
    """A file, which need not be there yet, has all of these texts; returns its content."""
    def read():
        with contextlib.suppress(FileNotFoundError):
            return Path(path).read_text(errors="replace")
        return ""

    return _file_until(path, read, lambda seen: all(text in seen for text in texts), f"{texts} in {path}", limit)


def contains_often(path, text, n, limit=LIMIT):
    """A file has this text n times; returns its lines with it."""
    def read():
        with contextlib.suppress(FileNotFoundError):
            return [line for line in Path(path).read_text(errors="replace").split("\n") if text in line]
        return []

    return _file_until(path, read, lambda seen: len(seen) >= n, f"{n} times '{text}' in {path}", limit)


# --- sockets ---------------------------------------------------------------------------------------------


def readable(sock, limit=LIMIT):
    """There are bytes to read, or an end."""
    if not select.select([sock], [], [], limit)[0]:
        raise AssertionError(f"waited {limit} s for {sock} to be readable")


def fill(sock, idle, data=None):
    """Writes the data, None: zeros without end, until no buffer on the way has room. idle() returns when the program under
    test has nothing to do: what it could take it has taken then. Returns the number of bytes."""
    sock.setblocking(False)
    sent, refused = 0, False
    while part := bytes(65536) if data is None else data[sent:sent + 65536]:
        try:
            sent += sock.send(part)
            refused = False
        except BlockingIOError:
            if refused:
                break
            refused = True
            idle()
    return sent


def unsent(sock):
    """Bytes in the socket's buffer that the other end's kernel has not acknowledged."""
    return struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, b"\0" * 4))[0]


def delivered(sock, limit=LIMIT):
    """All that was written to a socket was received by the other end's kernel."""
    becomes(lambda: unsent(sock), 0, "nothing to be unacknowledged", limit)


def flush_loopback():
    """All that has been sent over loopback has been received, ends of connections, too. Each CPU has a queue of such packets,
    which the kernel leaves to a thread when there is much to do: a packet of this process is behind them."""
    cpus = os.sched_getaffinity(0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(LIMIT)
        s.bind(("127.0.0.1", 0))
        try:
            for cpu in cpus:
                os.sched_setaffinity(0, {cpu})
                s.sendto(b"x", s.getsockname())
                s.recv(1)
        finally:
            os.sched_setaffinity(0, cpus)


def listens(port, host="127.0.0.1", limit=LIMIT):
    """A connection to this port is accepted."""
    def answer():
        try:
            socket.create_connection((host, port), timeout=limit).close()
        except OSError as e:
            return e
        return None

    becomes(answer, None, f"port {port} to be open", limit)


def refuses(port, host="127.0.0.1", limit=LIMIT):
    """A connection to this port is refused."""
    def answer():
        try:
            socket.create_connection((host, port), timeout=limit).close()
        except ConnectionRefusedError:
            return "refused"
        except OSError as e:
            return e
        return "open"

    becomes(answer, "refused", f"port {port} to be closed", limit)


# --- threads of the test ---------------------------------------------------------------------------------


def close(sock, thread):
    """Ends a thread that waits for a socket, and closes that. A call that still waited would begin again after a stop of this
    process, and take what comes for another socket with the same number."""
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
    thread.join(LIMIT)
    sock.close()


class Seen(list):
    """A list that threads append to, and others wait for."""

    def __init__(self, *args):
        super().__init__(*args)
        self._news = threading.Condition()

    def append(self, item):
        with self._news:
            super().append(item)
            self._news.notify_all()

    def until(self, is_enough, what, limit=LIMIT):
        """is_enough(a copy of it) is true; returns the copy."""
        with self._news:
            if not self._news.wait_for(lambda: is_enough(list(self)), limit):
                raise AssertionError(f"waited {limit} s for {what}; seen: {_short(list(self))}")
            return list(self)

    def wait(self, n=1, limit=LIMIT):
        """Waits for so many items; returns a copy of it."""
        return self.until(lambda items: len(items) >= n, f"{n} items", limit)
