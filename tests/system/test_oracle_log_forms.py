"""`log ... format`: both proxies send the same bytes, but for the time and the process id."""

import contextlib
import re
import socket
import subprocess

import oracle
import pytest
from conftest import WAIT, connect, free_port, is_open, recv_all, wait_for

FORMS = ["", "format local", "format rfc3164", "format rfc5424", "format short", "format priority", "format timed",
         "format iso", "format raw", "len 100", "len 100 format raw"]
CHANGING = [(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d\d:\d\d", "ISO"), (r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d", "DATE"),
            (r"name\[\d+\]: ", "name[PID]: "), (r" name \d+ - ", " name PID - ")]


def receiver(stack):
    s = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    s.bind(("127.0.0.1", 0))
    s.settimeout(WAIT)
    return s


def last_of(receiver):
    """Messages of the start come first, and that of the connection that only looked."""
    text = ""
    while "GET" not in text:
        text = receiver.recv(65536).decode()
    return text


def datagrams(program, cfg, name):
    """{format: (what it sends for one request, the length with a process id of no digits, whether the line has an end)}"""
    port = free_port()
    with contextlib.ExitStack() as stack:
        logs = {form: receiver(stack) for form in FORMS}
        lines = "".join(f" log 127.0.0.1:{s.getsockname()[1]} {form} local3 info\n" for form, s in logs.items())
        cfg.write_text(oracle.given(f"global\n log-tag name\n {name}\n{lines}"
                                    "defaults\n mode http\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
                                    f"frontend f\n bind 127.0.0.1:{port}\n log global\n log-format \"%HM b]c %HU\"\n"
                                    " http-request return status 200\n"))
        with subprocess.Popen([program, "-db", "-f", cfg], stderr=subprocess.DEVNULL) as proc:
            try:
                assert wait_for(lambda: is_open(port))
                with connect(port) as c:
                    c.sendall(b"GET /" + 200 * b"x" + b" HTTP/1.0\r\n\r\n")
                    recv_all(c)
                found = {}
                for form, s in logs.items():
                    text = last_of(s)
                    # A line that was cut has its length whatever the process id.
                    digits = len(str(proc.pid)) if "PID" in same_words(text) and "len" not in form else 0
                    found[form] = same_words(text), len(text) - digits, text.endswith("\n")
                return found
            finally:
                proc.terminate()


def same_words(text):
    for pattern, word in CHANGING:
        text = re.sub(pattern, word, text)
    return text.rstrip("x\n")


@pytest.mark.parametrize("name", ["", "log-send-hostname here"])
def test_formats_of_log_lines(tmp_path, name):
    theirs, ours = oracle.both(lambda program: datagrams(program, tmp_path / "cfg", name))
    for form in FORMS:
        assert ours[form] == theirs[form], form
