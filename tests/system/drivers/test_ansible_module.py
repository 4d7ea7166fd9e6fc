"""Ansible's module community.general.haproxy, as Debian has it, run by ansible's own command; test_ansible.py plays its
commands without it."""

import contextlib
import json

import pytest
from programs import debian, environment, run
from conftest import WAIT, connect, free_port
from subject import only_tacit

pytestmark = only_tacit
CFG = """\
listen raw
    mode tcp
    bind 127.0.0.1:{port}
    server one 127.0.0.1:{origin} weight 10
    server two 127.0.0.1:1 weight 20 disabled check
"""


@pytest.fixture
def task(tmp_path):
    """task(code=0, state=..., host=...) runs the module; returns what it says."""
    debian("/usr/lib/python3/dist-packages/ansible_collections/community/general/plugins/modules/haproxy.py")
    env = environment(HOME=str(tmp_path), ANSIBLE_STDOUT_CALLBACK="json", ANSIBLE_LOAD_CALLBACK_PLUGINS="1", ANSIBLE_LOCAL_TEMP=str(tmp_path),
                      ANSIBLE_REMOTE_TEMP=str(tmp_path), ANSIBLE_PYTHON_INTERPRETER="/usr/bin/python3")

    def play(code=0, **args):
        printed = run(debian("/usr/bin/ansible"), "localhost", "-c", "local", "-m", "community.general.haproxy", "-a", json.dumps(args),
                      env=env, code=code, limit=30 * WAIT)
        return json.loads(printed)["plays"][0]["tasks"][0]["hosts"]["localhost"]

    return play


def status(d, server):
    row = next(line.split(",") for line in d.admin("show stat").split("\n") if line.startswith(f"raw,{server},"))
    return row[17], row[18]


def test_states_and_weights(task, daemon, origin):
    port = free_port()
    d = daemon(CFG.format(port=port, origin=origin.port))
    common = {"socket": str(d.sock), "backend": "raw", "wait_interval": 1, "wait_retries": 30}
    assert task(**common, host="one", state="drain", wait=True)["changed"]
    assert status(d, "one") == ("DRAIN", "10")
    assert task(**common, host="one", state="enabled", weight="50%", wait=False)["changed"]
    assert status(d, "one") == ("no check", "5")
    with connect(port) as c:
        c.sendall(b"held")
        assert c.recv(4) == b"held"
        assert task(**common, host="one", state="disabled", shutdown_sessions=True, wait=True)["changed"]
        assert status(d, "one")[0] == "MAINT"
        with contextlib.suppress(ConnectionResetError):
            assert c.recv(4) == b""
    assert not task(**common, host="two", state="disabled", health=True)["changed"]
    assert task(**common, host="two", state="enabled", health=True, agent=True)["changed"]
    # Nothing listens there, and it is checked again.
    d.until("server raw/two state eq DOWN")
    said = task(socket=str(d.sock), host="three", state="disabled", fail_on_not_found=True, code=2)
    assert "not found" in said["msg"], said
