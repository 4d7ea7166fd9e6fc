"""The clocks of a program that runs with moved_clock.so are ahead by what a file says. A test gives BRIEF to the timeout that is to
expire, and hours to others. It calls expire() when everything that has to come before has come; `moved_clock.py FILE` does so, too."""
import ctypes
import mmap
import os
import struct
import sys
import time

BRIEF_S = 50
BRIEF = f"{BRIEF_S}s"
# The same of HAProxy, whose clocks are not moved: what has to come before takes less, also on a busy machine.
HAPROXY_BRIEF = "2s"


def advance(path, seconds):
    """Lets that time pass."""
    with open(path, "r+b") as f, mmap.mmap(f.fileno(), 8) as m:
        ns = ctypes.c_int64.from_buffer(m)
        # One store: the program never sees half of it.
        ns.value += int(seconds * 10**9)
        # A file that something refers to is not unmapped.
        del ns


def expire(path):
    """Lets the timeouts pass that are BRIEF."""
    advance(path, BRIEF_S)


def environment(build, path, stands=False):
    """Makes the file. Returns variables for the environment of the program; build: the folder of the library. stands: no time passes
    but by advance() and expire()."""
    library = f"{build}/moved_clock.so"
    assert os.path.exists(library), library
    with open(path, "wb") as f:
        f.write(struct.pack("=qq", 0, time.clock_gettime_ns(time.CLOCK_MONOTONIC) if stands else 0))
    # The library may come before that of a sanitizer: it allocates nothing.
    asan = [*filter(None, [os.environ.get("ASAN_OPTIONS")]), "verify_asan_link_order=0"]
    return {"LD_PRELOAD": library, "TEST_CLOCK": str(path), "ASAN_OPTIONS": ":".join(asan)}


if __name__ == "__main__":
    expire(sys.argv[1])
