"""Static probes at the rows of the state machines, if configure has found the header for them."""

import os
import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from conftest import ROOT, TACIT, WAIT, connect, free_ports, recv_all
from facts import LIMIT
from subject import only_tacit

pytestmark = only_tacit
# The last row of a stream that closes its connection.
LAST = "READ CLOSE CLOSED close_http"
HAS_PROBES = "HAVE_SDT = 1" in (Path(os.environ["TACIT_BUILD"]) / "config.mk").read_text()


def test_the_program_has_its_probes():
    """One for each machine, with an id, a side and a text; without the header the program has nothing of them."""
    notes = subprocess.run(["readelf", "--notes", "--wide", TACIT], capture_output=True, text=True, check=True).stdout
    found = {name: len(arguments.split()) for name, arguments in
             re.findall(r"Provider: tacit\s+Name: (\w+)\s.*?Arguments: ([^\n]*)", notes, re.DOTALL)}
    if HAS_PROBES:
        assert found == {"session": 2, "stream": 2, "direction": 3}
    else:
        assert not found and ".stapsdt" not in notes


def examples(program):
    """The programs for bpftrace that tacit(8) shows, for this one."""
    text = (ROOT / "man/tacit.8").read_text().replace("\\(aq", "'").replace("\\-", "-").replace("\\\\", "\\")
    return [example.replace("/usr/sbin/tacit", str(program))
            for example in re.findall(r"^\tbpftrace -e '(.*)'$", text, re.MULTILINE)]


@pytest.fixture(name="bpftrace")
def _bpftrace():
    """A function that starts a program and returns when it traces."""
    if not HAS_PROBES or not shutil.which("bpftrace"):
        pytest.skip("needs probes (systemtap-sdt-dev) and bpftrace (make deps-ci)")
    begin = 'BEGIN { printf("attached\\n"); }'
    if subprocess.run(["bpftrace", "-e", begin.replace("; }", "; exit(); }")], capture_output=True, timeout=WAIT, check=False).returncode:
        pytest.skip("this kernel lets nobody trace")
    running = []

    def start(program):
        proc = subprocess.Popen(["bpftrace", "-B", "line", "-e", begin + program], stdout=subprocess.PIPE, text=True)
        # A line that is waited for may never come.
        limit = threading.Timer(LIMIT, proc.kill)
        limit.start()
        running.append((proc, limit))
        assert any(line == "attached\n" for line in proc.stdout)
        return proc

    yield start
    for proc, limit in running:
        limit.cancel()
        proc.kill()
        proc.wait(WAIT)


def load_pages(pid, program):
    """Brings all pages of a program into the memory of its process: a probe finds an empty text on one that is not there yet."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            place, flags, *_, path = line.split()
            if path == str(program) and flags[0] == "r":
                begin, end = (int(at, 16) for at in place.split("-"))
                assert len(os.pread(memory.fileno(), end - begin, begin)) == end - begin


def test_the_examples_of_the_manual_trace_a_request(bpftrace, daemon, tmp_path):
    # Probes are those of a file: other tests run processes of TACIT.
    own = tmp_path / "tacit"
    shutil.copy(TACIT, own)
    steps, counts = examples(own)
    steps = bpftrace(steps)
    # bpftrace 0.17 was seen to go on after a SIGINT.
    counts = bpftrace(f'{counts} usdt:{own}:tacit:stream /str(arg1) == "{LAST}"/ {{ exit(); }}')
    (port,) = free_ports(1)
    d = daemon(f"listen web\n    mode http\n    bind 127.0.0.1:{port}\n    http-request return status 204\n", program=own)
    load_pages(d.pid, own)
    with connect(port) as c:
        c.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert b" 204 " in recv_all(c)
    seen = []
    for line in steps.stdout:
        seen.append(line.split())
        if line.endswith(f" {LAST}\n"):
            break
    # The id of one stream, then a row: state, event, next state, action.
    assert len({s[0] for s in seen}) == 1
    assert not [s for s in seen if not re.fullmatch("0x[0-9a-f]+", s[0]) or len(s) != 5]
    assert seen[0][1] == "NEW" and " ".join(seen[-1][1:]) == LAST
    assert all(a[3] == b[1] for a, b in zip(seen, seen[1:]))
    rows = re.findall(r"@\[(.*?)\]: (\d+)", counts.communicate(timeout=WAIT)[0])
    assert {row: int(n) for row, n in rows} == {" ".join(s[1:]): 1 for s in seen}
