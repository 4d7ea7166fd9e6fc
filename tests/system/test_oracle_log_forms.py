"""`log ... format`: both proxies send the same bytes, but for the time and the process id."""

import contextlib
import re
import shutil
import socket
import subprocess

import pytest
from conftest import TACIT, connect, free_port, is_open, recv_all, wait_for

HAPROXY = shutil.which("haproxy")
pytestmark = pytest.mark.skipif(not HAPROXY, reason="haproxy is not installed")

FORMS = ["", "format local", "format rfc3164", "format rfc5424", "format short", "format priority", "format timed",
         "format iso", "format raw", "len 100", "len 100 format raw"]
CHANGING = [(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d\d:\d\d", "ISO"), (r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d", "DATE"),
            (r"name\[\d+\]: ", "name[PID]: "), (r" name \d+ - ", " name PID - ")]


def receiver(stack):
    s = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    s.bind(("127.0.0.1", 0))
    s.settimeout(5)
    return s


def last_of(receiver):
    """Messages of the start come first, and that of the connection that only looked."""
    text = ""
    while "GET" not in text:
        text = receiver.recv(65536).decode()
    return text


def datagrams(program, cfg, name):
    """{format: what it sends for one request}"""
    port = free_port()
    with contextlib.ExitStack() as stack:
        logs = {form: receiver(stack) for form in FORMS}
        lines = "".join(f" log 127.0.0.1:{s.getsockname()[1]} {form} local3 info\n" for form, s in logs.items())
        cfg.write_text(f"global\n log-tag name\n {name}\n{lines}"
                       "defaults\n mode http\n timeout connect 1s\n timeout client 1s\n timeout server 1s\n"
                       f"frontend f\n bind 127.0.0.1:{port}\n log global\n log-format \"%HM b]c %HU\"\n"
                       " http-request return status 200\n")
        with subprocess.Popen([program, "-db", "-f", cfg], stderr=subprocess.DEVNULL) as proc:
            try:
                assert wait_for(lambda: is_open(port))
                with connect(port) as c:
                    c.sendall(b"GET /" + 200 * b"x" + b" HTTP/1.0\r\n\r\n")
                    recv_all(c)
                return proc.pid, {form: last_of(s) for form, s in logs.items()}
            finally:
                proc.kill()


def same_words(text):
    for pattern, word in CHANGING:
        text = re.sub(pattern, word, text)
    return text.rstrip("x\n")


@pytest.mark.parametrize("name", ["", "log-send-hostname here"])
def test_formats_of_log_lines(tmp_path, name):
    (their_pid, theirs), (our_pid, ours) = (datagrams(p, tmp_path / "cfg", name) for p in (HAPROXY, TACIT))
    for form in FORMS:
        assert same_words(ours[form]) == same_words(theirs[form]), form
        # The truncation, and the end of the line.
        digits = len(str(our_pid)) - len(str(their_pid)) if "PID" in same_words(ours[form]) and "len" not in form else 0
        assert len(ours[form]) == len(theirs[form]) + digits, form
        assert ours[form].endswith("\n") == theirs[form].endswith("\n"), form
