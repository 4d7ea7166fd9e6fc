"""An upgrade of the real package of 0.1, built from this repository's history, to that of this tree: `make upgrade`."""
import contextlib
import os
import re
import subprocess
from pathlib import Path

import pytest
from machine import Machine, need_machine
from service import Service, package

TOP = Path(__file__).resolve().parent.parent.parent
# The entry of the changelog with which 0.1 has ended.
NEXT = "tacit (0.2.0)"


def git(*command):
    return subprocess.run(["git", "-c", "safe.directory=*", *command], cwd=TOP, capture_output=True, check=False).stdout


@pytest.fixture(name="old", scope="module")
def _old(tmp_path_factory):
    """The package tacit of the last commit of 0.1."""
    found = git("log", "--format=%h", f"-S{NEXT}", "--", "debian/changelog").decode().split()
    if not found:
        pytest.skip("this tree has no history")
    tree = tmp_path_factory.mktemp("old")
    subprocess.run(["tar", "-x"], cwd=tree, input=git("archive", f"{found[-1]}~1"), check=True)
    assert re.match(r"tacit \(0\.1\.\d+\)", (tree / "debian" / "changelog").read_text())
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "TALLY", "CI", "MAKELEVEL")}
    built = subprocess.run(["make", "deb", "NOINSTALL=1"], cwd=tree, env=env, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    return next((tree / "build" / "deb").glob("tacit_0.1*.deb"))


@pytest.fixture(name="tacit")
def _tacit(old):
    """The service of 0.1, with a configuration."""
    need_machine()
    with contextlib.closing(Machine()) as m:
        m.copy(old, "/tmp/old.deb")
        m.copy(package("tacit"), "/tmp/tacit.deb")
        m.run("dpkg", "-i", "/tmp/old.deb")
        s = Service(m)
        s.configure()
        s.ctl("restart")
        assert s.answer() == "one"
        yield s


def test_an_upgrade_loses_no_request(tacit):
    master, m = tacit.main_pid(), tacit.m
    assert "0.1" in m.run("tacit", "-v").stdout
    before = m.run("cat", "/etc/tacit/tacit.cfg").stdout
    with tacit.load():
        m.run("dpkg", "--force-confold", "-i", "/tmp/tacit.deb")
    assert tacit.main_pid() == master and tacit.answer() == "one"
    assert "tacit0.1" not in m.run("tacit", "-v").stdout and m.run("cat", "/etc/tacit/tacit.cfg").stdout == before
    for pid in (master, *tacit.workers()):
        tacit.wait_for(lambda pid=pid: m.run("readlink", f"/proc/{pid}/exe").stdout.strip() == "/usr/sbin/tacit")
    assert len(tacit.workers()) == 1
    # The new program has the service: it reloads, and stops.
    tacit.configure(word="two")
    with tacit.load():
        tacit.ctl("reload")
        tacit.wait_for(lambda: tacit.answer() == "two")
    tacit.ctl("stop")
    assert tacit.show("Result") == "success"
