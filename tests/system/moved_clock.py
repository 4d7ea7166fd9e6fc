"""The clocks of a program that runs with moved_clock.so: they are ahead by what a file says. A test whose timeout is to expire gives
it BRIEF, others hours, and calls expire() when all that is to be in time has been. As a program: moved_clock.py FILE SECONDS."""
import ctypes
import mmap
import os
import sys

BRIEF_S = 50
BRIEF = f"{BRIEF_S}s"


def let_pass(path, seconds):
    with open(path, "r+b") as f, mmap.mmap(f.fileno(), 8) as m:
        ns = ctypes.c_int64.from_buffer(m)
        # One store: the program never sees half of it.
        ns.value += round(seconds * 1e9)
        # A file that something refers to is not unmapped.
        del ns


def expire(path):
    """Lets the timeouts pass that are BRIEF."""
    let_pass(path, BRIEF_S)


def environment(build, path):
    """Makes the file. Returns variables for the environment of the program; build: the folder of the library."""
    library = f"{build}/moved_clock.so"
    assert os.path.exists(library), library
    with open(path, "wb") as f:
        f.write(bytes(8))
    # The library may come before that of a sanitizer: it allocates nothing.
    asan = [*filter(None, [os.environ.get("ASAN_OPTIONS")]), "verify_asan_link_order=0"]
    return {"LD_PRELOAD": library, "TEST_CLOCK": str(path), "ASAN_OPTIONS": ":".join(asan)}


if __name__ == "__main__":
    let_pass(sys.argv[1], float(sys.argv[2]))
