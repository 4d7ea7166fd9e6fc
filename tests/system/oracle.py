"""HAProxy's answers, as recordings. A test plays the same to HAProxy and to tacit, and compares:

    theirs, ours = oracle.both(lambda program: script(program, tmp_path))

`make oracle` runs both programs, and writes what HAProxy's play has returned to tests/oracle/, by the name of the test.
Otherwise HAProxy is not started: its answer is read from there. An answer is text, numbers, bytes, None, and lists,
tuples, sets and dictionaries of them; what changes from run to run is taken out of both answers (CHANGING).

A recording has a hash of what it was made from: configurations and what else given() is told. A test that
changes these asks for a new recording. The few tests that need HAProxy itself are marked as live()."""

import ast
import contextlib
import csv
import fcntl
import functools
import hashlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import facts
import moved_clock
import pytest
from conftest import BUILD, ROOT, TACIT, WAIT, admin, wait_for

RECORDS = os.environ.get("ORACLE") == "record"
HAPROXY = shutil.which("haproxy")
FOLDER = Path(os.environ.get("ORACLE_DIR") or ROOT / "tests/oracle")
# The programs that are run now.
PROGRAMS = {"haproxy": HAPROXY, "tacit": TACIT} if RECORDS else {"tacit": TACIT}
if RECORDS and not HAPROXY:
    raise FileNotFoundError("a recording needs haproxy: make deps-test")

WIDTH = 160
LASTS = 3   # seconds
HOW = "run `make oracle` and read the difference"
# In an answer: what depends on the time, the process and the machine, and what it is called in a recording.
CHANGING = [
    (r"\b(?:\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)(?:\.\d+)?(?: [+-]\d{4}| \d{4} GMT)?", "DATE"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d\d:\d\d", "ISO-DATE"),
    (r"(?<=\[)\d+(?=\]: )", "PID"),
    (r"(?:/[^\s/'\"]+)*/pytest-\d+(?:/[^\s/'\"]+)(?:/(?:haproxy|tacit)\b)?", "DIR"),
    (r"(127(?:\.\d+){3}|::1):[1-9]\d{3,4}\b", r"\1:PORT"),
    (r"(?<=Serial: )[0-9A-F]+|(?<=SHA1 FingerPrint: )[0-9A-F]+", "NUMBER"),
]
# In a script, where each number like that is a port.
GIVEN = [*CHANGING, (r"(?<!\d)\d{5}(?!\d)", "PORT")]

# live(reason): the mark of a test that starts HAProxy each time, and why a recording cannot take its place.
live = pytest.mark.live

_given = None   # texts that the play which runs now has given to its program
_names = set()  # of the answers of this run


def given(text):
    """Notes what a program is given; returns it."""
    if _given is not None:
        _given.append(_without(GIVEN, text))
    return text


def both(play, subjects=None, name="", until_equal=False, script=""):
    """(what play(program) returns of HAProxy, and of tacit). subjects: arguments of play by program, if they run already, and
    then script is what they were given; name: of the answer, where a test has several; until_equal: for an answer that comes
    after a while: HAProxy is asked again until it stays, and tacit until it says the same."""
    subjects = PROGRAMS if subjects is None else subjects
    name = _name_of(name)
    if RECORDS:
        theirs, digest = (_lasting if until_equal else _played)(play, subjects["haproxy"], script)
        _write(name, digest, theirs)
    ours, digest = _played(play, subjects["tacit"], script)
    if not RECORDS:
        theirs = _read(name, digest)
    if until_equal and ours != theirs:
        def again():
            nonlocal ours
            ours = _played(play, subjects["tacit"], script)[0]
            return ours == theirs
        wait_for(again)
    return theirs, ours


def same(play, *args, **kw):
    """Asserts that both say the same; returns it."""
    theirs, ours = both(play, *args, **kw)
    assert ours == theirs, differences(theirs, ours)
    return theirs


@contextlib.contextmanager
def fixed_ports(n):
    """Ports that are the same in each run, for answers that depend on them. Other test processes wait for them."""
    with open(Path(tempfile.gettempdir()) / f"tacit-fixed-ports.{os.getuid()}", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield list(range(9800, 9800 + n))


def at(directory, program):
    """The folder of this program in a directory."""
    return directory / ("haproxy" if program == HAPROXY else "tacit")


def differences(theirs, ours):
    """Where two lists, or two dictionaries, are not the same: what HAProxy has said there, and tacit."""
    if not isinstance(theirs, (dict, list, tuple)) or not isinstance(ours, type(theirs)):
        return [] if theirs == ours else [(theirs, ours)]
    if isinstance(theirs, dict):
        return [(key, theirs.get(key), ours.get(key)) for key in {**theirs, **ours}
                if (key in theirs, theirs.get(key)) != (key in ours, ours.get(key))]
    return [(a, b) for a, b in itertools.zip_longest(theirs, ours) if a != b]


def plain(value):
    """The answer without what changes from run to run."""
    if isinstance(value, str):
        return _without(CHANGING, value)
    if isinstance(value, bytes):
        return _without(CHANGING, value.decode("latin-1")).encode("latin-1")
    if isinstance(value, dict):
        return {plain(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set)):
        return type(value)(map(plain, value))
    assert value is None or isinstance(value, (bool, int, float)), f"{value!r} cannot be recorded"
    return value


def on_one_line(value):
    """ascii(), where sets and dictionaries are sorted."""
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{on_one_line(k)}: {on_one_line(v)}" for k, v in value.items())) + "}"
    if isinstance(value, set) and value:
        return "{" + ", ".join(sorted(map(on_one_line, value))) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(on_one_line, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(on_one_line, value)) + ("," if len(value) == 1 else "") + ")"
    return ascii(value)


def form(value, indent=1, room=WIDTH):
    """Its text, as Python reads it: what does not fit on a line has an item on each."""
    text = on_one_line(value)
    if len(text) + indent <= room or not value:
        return text
    pad = "\n" + " " * indent
    if isinstance(value, dict):
        rows = [f"{form(k, indent + 1)}: {form(v, indent + 1)}" for k, v in sorted(value.items(), key=lambda x: on_one_line(x[0]))]
        return "{" + pad + ("," + pad).join(rows) + pad + "}"
    if isinstance(value, (list, tuple, set)):
        left, right = {list: "[]", tuple: "()", set: "{}"}[type(value)]
        rows = [form(v, indent + 1) for v in (sorted(value, key=on_one_line) if isinstance(value, set) else value)]
        return left + pad + ("," + pad).join(rows) + ("," if isinstance(value, tuple) else "") + pad + right
    if isinstance(value, (str, bytes)):
        lines = value.splitlines(keepends=True)
        if len(lines) > 1:
            return "(" + pad + pad.join(map(ascii, lines)) + pad + ")"
    return text


def _without(patterns, text):
    for pattern, word in patterns:
        text = re.sub(pattern, word, text)
    return text


def _name_of(name):
    """The name of an answer of the test that runs now."""
    test = os.environ["PYTEST_CURRENT_TEST"].partition("::")[2].rsplit(" (", 1)[0]
    name = _without(CHANGING, f"{test}: {name}" if name else test)
    assert name not in _names, f"two answers have the name '{name}'"
    _names.add(name)
    return name


def _digest(texts):
    return hashlib.sha256("\0".join(sorted(set(texts))).encode()).hexdigest()[:8]


_NOTHING = _digest([""])


def _played(play, subject, script):
    """The result of the play, and the hash of what the program was given."""
    global _given
    _given = [_without(GIVEN, script)]
    try:
        value = plain(play(subject))
        return value, _digest(_given)
    finally:
        _given = None


def _test_file():
    return Path(os.environ["PYTEST_CURRENT_TEST"].partition("::")[0])


def _lasting(play, subject, script):
    """The same, of an answer that has not changed for a while. Only recordings are made of it."""
    got, since, end = _played(play, subject, script), time.monotonic(), time.monotonic() + 60
    while time.monotonic() < since + LASTS:
        time.sleep(0.05)
        last, got = got, _played(play, subject, script)
        if got != last:
            since = time.monotonic()
        assert since < end, (last, got)
    return got


def _file():
    return FOLDER / (_test_file().stem.removeprefix("test_").removeprefix("oracle_") + ".txt")


ENTRY = re.compile(r"^(?! )(.+?) @([0-9a-f]{8}) = ", re.MULTILINE)
_loaded = {}


def load(path):
    """{name: (hash, text of the answer)}"""
    found = {}
    if path.exists():
        parts = ENTRY.split(path.read_text(encoding="utf-8"))
        for name, digest, text in zip(parts[1::3], parts[2::3], parts[3::3]):
            found[name] = digest, text.rstrip("\n")
    return found


@functools.cache
def version():
    """The versions of HAProxy and of its OpenSSL."""
    printed = subprocess.run([HAPROXY, "-vv"], capture_output=True, text=True, timeout=WAIT, check=True).stdout
    return re.search(r"HAProxy version \S+", printed)[0] + ", " + re.search(r"Running on OpenSSL version : (OpenSSL \S+)", printed)[1]


@functools.cache
def is_recorded_with_this_openssl():
    """True if the answers of this test file are those of the OpenSSL that is here: its alerts differ by version."""
    here = re.search(r"OpenSSL \S+", subprocess.run(["openssl", "version"], capture_output=True, text=True, check=True).stdout)[0]
    with open(_file(), encoding="utf-8") as f:
        return f", {here}." in f.readline()


def _write(name, digest, value):
    assert digest != _NOTHING, f"{name}: what was the program given?"
    path = _file()
    found = _loaded.setdefault(path, load(path))
    text = form(value, room=WIDTH - len(name))
    assert ast.literal_eval(text) == value, f"{text} cannot be read"
    found[name] = digest, text
    lines = [f"# {version()}.\n# What it has answered to tests/system/{_test_file().name}. Written by `make oracle`.\n"]
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(lines + [f"{n} @{d} = {t}\n" for n, (d, t) in sorted(found.items())]), encoding="utf-8")


def _read(name, digest):
    path = _file()
    if path not in _loaded:
        _loaded[path] = load(path)
    where = os.path.relpath(path, ROOT)
    if name not in _loaded[path]:
        pytest.fail(f"{where}: HAProxy's answer for '{name}' is missing: {HOW}", pytrace=False)
    made_from, text = _loaded[path][name]
    if made_from != digest:
        pytest.fail(f"{where}: '{name}' was recorded from another configuration: {HOW}", pytrace=False)
    return ast.literal_eval(text)


# --- a program with a configuration ---

class Subject:
    """One of them with a configuration; its stats socket is not compared. The word BRIEF in it is a timeout that is to expire: two
    seconds of HAProxy; of tacit expire() moves the clocks, and others have to be hours."""

    def __init__(self, program, directory, cfg, **popen):
        self.dir = directory
        self.sock = directory / "s.sock"
        # Answers, and their bytes.
        self.asked = self.answered = 0
        given(cfg)
        self.moves = program != HAPROXY and "BRIEF" in cfg
        if self.moves:
            popen["env"] = {**os.environ, **popen.get("env", {}), **moved_clock.environment(BUILD, directory / "clock")}
        cfg = cfg.replace("BRIEF", moved_clock.BRIEF if self.moves else moved_clock.HAPROXY_BRIEF)
        (directory / "t.cfg").write_text(f"global\n stats socket {self.sock} level admin\n nbthread 1\n maxconn 200\n" + cfg)
        with open(directory / "err", "wb") as err:
            self.proc = subprocess.Popen([program, "-db", "-f", str(directory / "t.cfg")], stdin=subprocess.DEVNULL,
                                         stdout=err, stderr=err, **popen)
        self.started = time.monotonic()
        try:
            assert wait_for(lambda: self.answers() or self.proc.poll() is not None, 3 * WAIT) and self.proc.poll() is None, \
                self.err
        except BaseException:
            self.stop()
            raise

    @property
    def err(self):
        return (self.dir / "err").read_text(errors="replace")

    def answers(self):
        """True once it serves: the socket is there before its listeners are."""
        with contextlib.suppress(OSError):
            return self.admin("show version") != ""
        return False

    def admin(self, command):
        got = admin(self.sock, command)
        self.asked += 1
        self.answered += len(got)
        return got

    def settle(self):
        """Returns when the program, which has one thread, has dealt with all that has reached it: its second answer takes a turn
        of its loop that began after the first one."""
        facts.flush_loopback()
        for _ in range(2):
            self.admin("show version")

    def expire(self):
        """Timeouts of BRIEF expire, once what has reached the program has been dealt with."""
        if self.moves:
            self.settle()
            moved_clock.expire(self.dir / "clock")

    @contextlib.contextmanager
    def stopped(self):
        """Stops it meanwhile: what clients send reaches it at once when it goes on."""
        self.proc.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.proc.pid, os.WSTOPPED)
        try:
            yield
        finally:
            self.proc.send_signal(signal.SIGCONT)

    def stat(self):
        """{(proxy, server): {column: text}}, and the columns in order."""
        head, *rows = self.admin("show stat").strip().split("\n")
        names = head[2:].rstrip(",").split(",")
        out = {}
        for row in rows:
            fields = next(csv.reader([row]))
            assert len(fields) == len(names) + 1, row
            out[tuple(fields[:2])] = dict(zip(names, fields))
        return names, out

    def checked(self, is_enough=None):
        """{(proxy, server): row of show stat} of all servers. Each row is one that is_enough() has accepted: by default the result
        of a check while none is running."""
        is_enough = is_enough or (lambda row: row["check_status"] not in ("", "INI") and not row["check_status"].startswith("* "))
        rows = {}

        def are_enough():
            servers = {k: r for k, r in self.stat()[1].items() if k[1] not in ("FRONTEND", "BACKEND")}
            rows.update({k: r for k, r in servers.items() if is_enough(r)})
            return len(rows) == len(servers)
        assert wait_for(are_enough, 6 * WAIT, 0.03), rows
        return rows

    def stop(self):
        self.proc.terminate()
        self.proc.wait(6 * WAIT)
