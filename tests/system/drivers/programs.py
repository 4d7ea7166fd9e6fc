"""Programs of others, where `make drivers` puts them: those of PyPI in build/drivers/LIST, in the versions of
requirements/LIST.txt; those of Debian by build-aux/install-deps drivers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from conftest import ROOT, WAIT  # noqa: E402
from facts import becomes  # noqa: E402
from subject import BUILD  # noqa: E402

PYPI = Path(os.environ.get("DRIVERS") or ROOT / "build" / "drivers")
TACIT = Path(os.environ.get("TACIT") or BUILD / "tacit")
HERE = Path(__file__).parent
# A command in namespaces of its own: nothing of it outlives it, its /run is empty, and its ports are only its own.
ALONE = ("setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
         'ip link set lo up && mount -t tmpfs none /run && exec "$@"', "sh")


def debian(path):
    """The path of a file of a package, without which the test is skipped."""
    if not Path(path).exists():
        pytest.skip(f"{path} is not there: make drivers")
    return path


def pypi(which, file):
    """The path of a file that PyPI's packages of a list have."""
    path = PYPI / which / file
    if not path.exists():
        pytest.skip(f"{path} is not there: make drivers")
    return path


def environment(which=None, **more):
    """Variables for these programs, with the packages of a list."""
    env = {**os.environ, "TERM": "dumb", "LC_ALL": "C.UTF-8", **more}
    if which:
        env["PYTHONPATH"] = str(PYPI / which)
    return env


def run(*command, code=0, env=None, limit=6 * WAIT, **popen):
    """The output of a program that ends with this code."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=limit, check=False,
                          env=env or environment(), **popen)
    assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def named_haproxy(directory):
    """A directory for PATH in which `haproxy` is the program under test."""
    directory.mkdir()
    (directory / "haproxy").symlink_to(TACIT.resolve())
    return directory


def answers(ask, wanted):
    """Asks until it gets this answer, or one for which wanted(answer) is true; returns it. A program that starts others says
    nothing when they serve."""
    return becomes(ask, wanted, limit=30 * WAIT)
