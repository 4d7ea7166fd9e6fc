"""tacit --health and show health, seen from check scripts."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request

import facts
from clients import site
from conftest import WAIT, free_port
from subject import BUILD

TACIT = os.environ.get("TACIT") or BUILD / "tacit"


def health(sock):
    """The exit code and the line."""
    done = subprocess.run([TACIT, "--health", sock], capture_output=True, text=True, timeout=WAIT, check=False)
    assert done.stderr == "" and done.stdout.count("\n") == 1, done
    return done.returncode, done.stdout.strip()


def status_of(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=WAIT) as r:
            return r.status
    except urllib.error.HTTPError as e:
        return e.code


def test_each_worker_is_asked(daemon):
    d = daemon(site(free_port()), extra="nbthread 4")
    assert health(d.sock) == (0, "healthy: 1 of 1 frontends accept connections")
    assert json.loads(d.admin("show health json"))["workers"] == {"answering": 4, "all": 4}


def test_a_worker_that_hangs_is_not_healthy(daemon):
    d = daemon(site(free_port()), extra="nbthread 2", checked=False)
    assert health(d.sock)[0] == 0
    d.admin("expert-mode on; debug dev delay 600000 2")
    assert health(d.sock) == (1, f"unhealthy: {d.sock}: no answer within 2 s")
    d.kill()
    assert health(d.sock) == (1, f"unhealthy: {d.sock}: Connection refused")


def test_a_frontend_that_does_not_accept(daemon):
    d = daemon(site(free_port()))
    name = d.admin("show stat -1 1 -1").split("\n")[1].split(",")[0]
    d.admin(f"disable frontend {name}")
    assert health(d.sock) == (1, "unhealthy: no frontend accepts connections")
    d.admin(f"enable frontend {name}")
    assert health(d.sock)[0] == 0


def test_grace_is_the_time_to_leave(daemon):
    """The check and the monitor fail from the signal on, while connections are accepted."""
    port = free_port()
    d = daemon(site(port) + "    monitor-uri /up\n    monitor fail if { stopping }\n", extra="grace 1h")
    assert (health(d.sock)[0], status_of(port, "/up"), status_of(port, "/")) == (0, 200, 200)
    d.send(signal.SIGUSR1)
    d.until("counter Stopping eq 1")
    assert health(d.sock) == (1, "unhealthy: it stops, and still accepts")
    assert (status_of(port, "/up"), status_of(port, "/")) == (503, 200)
    d.send(signal.SIGUSR1)
    assert d.wait() == 0


def test_a_reload_has_no_grace(daemon, tmp_path):
    """The process that is replaced ends at once: no further question reaches it, and the service stays healthy."""
    port = free_port()
    d = daemon(site(port), extra="grace 1h", mode=("-W", "-S", tmp_path / "m"))
    old = facts.only_child(d.pid)
    subprocess.run([TACIT, "--reload", tmp_path / "m"], capture_output=True, timeout=WAIT, check=True)
    facts.gone(old)
    assert health(d.sock)[0] == 0
    assert health(tmp_path / "m")[0] == 1
