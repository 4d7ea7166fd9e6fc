"""The converter debug beside HAProxy: the lines of each destination, and the arguments that both accept."""

import contextlib
import subprocess

import oracle
import pytest
from conftest import WAIT, connect, free_ports, recv_all

SAMPLES = ["path,debug(path)", "src,debug(ip)", "str(::1),debug(text)", "int(-5),debug(int)", "bool(1),debug(bool)",
           "base,sha1,debug(bytes)", "hdr(x-none),debug(none)", "str(),debug(empty)", "str(a),debug()", "str(a),debug(a b)",
           "str(a%01%e9%0ab%7f%c3%a9%09c),url_dec,debug(dots)", "str(::1),ipmask(24,64),debug(ipv6)", "hdr(x-long),debug(long)",
           "path,debug(1),upper,debug(2),length,debug(3)"]

CFG = """
ring r1
 description mine
 size 65536
 maxlen 2500
defaults
 mode http
 timeout connect 1m
 timeout client 1m
 timeout server 1m
frontend f
 bind 127.0.0.1:{port}
{rules}
 http-request return status 200
"""


@contextlib.contextmanager
def running(program, tmp_path, rules):
    """The program with these rules, after a request."""
    port, = free_ports(1)
    directory = oracle.at(tmp_path, program)
    directory.mkdir()
    subject = oracle.Subject(program, directory, CFG.format(port=port, rules=rules))
    try:
        with connect(port) as c:
            c.sendall(b"GET /abc HTTP/1.0\r\nHost: x\r\nX-Long: " + b"y" * 3000 + b"\r\n\r\n")
            recv_all(c)
        subject.settle()
        yield subject
    finally:
        subject.stop()


def lines_of(text):
    return [line[line.index("[debug]"):] for line in text.split("\n") if "[debug]" in line]


def expressions(destination):
    """The samples, where each `debug` has this destination too."""
    out = []
    for sample in SAMPLES:
        parts = sample.split(",debug(")
        for i in range(1, len(parts)):
            prefix, rest = parts[i].split(")", 1)
            parts[i] = (f"{prefix},{destination})" if destination else f"{prefix})") + rest
        out.append(",debug(".join(parts))
    return out


@pytest.mark.parametrize("destination", ["", "buf0", "r1", "stdout", "stderr"])
def test_lines_of_a_destination(tmp_path, destination):
    rules = "".join(f" http-request set-var(txn.a) '{e}'\n" for e in expressions(destination))

    def play(program):
        with running(program, tmp_path, rules) as subject:
            return lines_of(subject.err if destination.startswith("std") else subject.admin(f"show events {destination or 'buf0'}"))

    theirs, ours = oracle.both(play)
    assert ours == theirs


def test_buf0_is_listed(tmp_path):
    def play(program):
        with running(program, tmp_path, " log ring@buf0 local0\n http-request set-var(txn.a) path,debug\n") as subject:
            return sorted(line for line in subject.admin("show events").split("\n") if "type=" in line)

    theirs, ours = oracle.both(play)
    assert ours == theirs


ARGUMENTS = ["debug", "debug()", "debug(a)", "debug(a,buf0)", "debug(a,stderr)", "debug(a,r1)", "debug(a,none)", "debug(a,)", "debug(,)",
             "debug(a,stderr,b)", "debug(,r1)", "debug(a,ring@r1)", "debug(a,127.0.0.1)"]
# Where a converter may stand.
PLACES = ["http-request set-header X %[path,{}]", "http-request deny if { path,{} -m beg /a }", "log ring@r1 local0\n log-format %[src,{}]",
          "use_backend %[path,{}]", "http-request return hdr x %[path,{}]", "unique-id-format %[src,{}]",
          "tcp-request content set-var(txn.a) src,{}"]


def accepts(program, tmp_path, line):
    cfg = tmp_path / "t.cfg"
    cfg.write_text(oracle.given(CFG.format(port=18000, rules=" " + line)))
    done = subprocess.run([program, "-c", "-f", cfg], capture_output=True, text=True, timeout=WAIT, check=False)
    print(line, done.returncode, done.stderr, sep="\n")
    return done.returncode == 0


def test_arguments(tmp_path):
    lines = [PLACES[0].replace("{}", a) for a in ARGUMENTS]
    lines += [place.replace("{}", a) for place in PLACES[1:] for a in ("debug(a)", "debug(a,none)")]
    theirs, ours = oracle.both(lambda program: {line: accepts(program, tmp_path, line) for line in lines})
    assert oracle.differences(theirs, ours) == []
