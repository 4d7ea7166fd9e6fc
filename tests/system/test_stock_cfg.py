"""Debian's own haproxy.cfg loads as shipped, and with mode tcp for mode http and without its http-only lines
(test_process.py forwards with it)."""

import re
from pathlib import Path

import pytest
from conftest import free_port, run
from subject import SUBJECT, only_tacit

STOCK = Path("/etc/haproxy/haproxy.cfg")
HTTP_ONLY = re.compile(r"(?m)^\s*(option\s+httplog).*\n")

pytestmark = pytest.mark.skipif(not STOCK.exists(), reason="Debian's haproxy is not installed")


def test_it_loads(tmp_path):
    text = STOCK.read_text()
    assert "mode\thttp" in text
    cfg = tmp_path / "no.suffix"
    cfg.write_text(HTTP_ONLY.sub("", text.replace("mode\thttp", "mode\ttcp")) +
                   f"\nlisten l\n\tbind 127.0.0.1:{free_port()}\n\tserver s 127.0.0.1:1\n")
    done = run("-c", "-f", cfg, program=SUBJECT)
    assert done.returncode == 0, done.stderr
    assert "Configuration file is valid" in done.stdout + done.stderr


@only_tacit
def test_as_shipped_it_loads():
    """There is nothing to say about it; its settings of TLS wait for a line that uses TLS."""
    done = run("-c", "-f", STOCK, program=SUBJECT)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
