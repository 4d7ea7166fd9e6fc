"""The container file: its packages are what the program needs, and its commands do what it says. No container is made."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest
from conftest import ROOT, TACIT, WAIT, connect, free_ports, recv_all
from facts import listens, refuses
from subject import not_sanitized, only_tacit

pytestmark = only_tacit
TEXT = re.sub(r"\\\n\s*", "", (ROOT / "Containerfile").read_text())
LINES = [line.split(" ", 1) for line in TEXT.splitlines() if line and not line.startswith("#")]
NOBODY = 65534


def of(word):
    return [rest for w, rest in LINES if w == word]


def exec_form(word):
    """The array of the last instruction of this name, behind options and CMD."""
    return json.loads(of(word)[-1][of(word)[-1].index("["):])


def test_base_image_and_user():
    assert {rest.split()[0] for rest in of("FROM")} == {"debian:bookworm-slim"}
    assert of("USER") == ["10080"] and "--uid 10080" in of("RUN")[-1]
    assert of("STOPSIGNAL") == ["SIGUSR1"]
    # Copied files exist, and the ignored folder is not needed.
    for rest in of("COPY"):
        source = rest.split()[0]
        assert source.startswith("--from=build") or (ROOT / source).exists(), rest
    assert exec_form("CMD")[-1] == of("COPY")[-1].split()[-1] == "/etc/tacit/tacit.cfg"


@not_sanitized
@pytest.mark.skipif(not shutil.which("dpkg-query"), reason="needs dpkg")
def test_packages_are_those_that_the_program_needs():
    installed = set(of("RUN")[-1].split("--no-install-recommends")[1].split("&&")[0].split())
    linked = subprocess.run(["ldd", TACIT], check=True, capture_output=True, text=True).stdout
    needed = set()
    for path in re.findall(r" => (/\S+)", linked):
        found = subprocess.run(["dpkg-query", "-S", f"*{path}"], check=True, capture_output=True, text=True).stdout
        needed |= {line.split(":")[0] for line in found.splitlines()}
    # The others are of the base image, or of a library that is there.
    assert needed - {"libc6", "libstdc++6", "libgcc-s1"} == installed


class Slow:
    """A server that answers when it may."""

    def __init__(self):
        self.begun, self.proceed = threading.Event(), threading.Event()

    def serve(self, conn):
        conn.recv(4096)
        self.begun.set()
        self.proceed.wait(WAIT)
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")


@pytest.fixture(name="slow")
def _slow():
    slow = Slow()
    yield slow
    slow.proceed.set()


@pytest.fixture(name="started")
def _started(origins, slow):
    """The container's program with its configuration, as another user where that can be: (process, its ports, its log). That user
    cannot enter pytest's directories: each pytest that begins closes them."""
    front, health = free_ports(2)
    back = origins(slow.serve).port
    text = (ROOT / "conf" / "container.cfg").read_text()
    for port, ours in (("8080", front), ("8081", health), ("8000", back)):
        assert text.count(f":{port}\n") == 1
        text = text.replace(f":{port}\n", f":{ours}\n")
    assert "chroot" not in text and "user" not in text
    def drop():
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)

    with tempfile.TemporaryDirectory() as name:
        cfg, log = Path(name, "tacit.cfg"), Path(name, "log")
        Path(name).chmod(0o755)
        cfg.write_text(text)
        command = [TACIT if a == "/usr/sbin/tacit" else str(cfg) if a.startswith("/etc/") else a
                   for a in exec_form("ENTRYPOINT") + exec_form("CMD")]
        assert command[0] == TACIT and str(cfg) in command
        # The search for leaks would need to trace the process, which it does not permit.
        env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
        with open(log, "wb") as out, subprocess.Popen(command, stdout=out, preexec_fn=drop, env=env) as proc:
            try:
                listens(front)
                listens(health)
                yield proc, front, health, log
            finally:
                proc.kill()


def is_healthy(port):
    command = [a.replace("/8081", f"/{port}") for a in exec_form("HEALTHCHECK")]
    assert command != exec_form("HEALTHCHECK")
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_it_is_healthy_logs_and_ends_softly(started, slow):
    proc, front, health, log = started
    assert is_healthy(health)
    with connect(front) as c:
        c.sendall(b"GET /slow HTTP/1.0\r\n\r\n")
        assert slow.begun.wait(WAIT)
        proc.send_signal(getattr(signal, of("STOPSIGNAL")[0]))
        refuses(front)
        assert not is_healthy(health)
        slow.proceed.set()
        assert recv_all(c).endswith(b"ok")
    assert proc.wait(WAIT) == 0
    lines = log.read_text().splitlines()
    assert len([line for line in lines if '"GET /slow HTTP/1.0"' in line and " www web/w1 " in line]) == 1
    assert "/alive" not in log.read_text()
