"""The example configurations: each is valid, and those for haproxy are valid there too."""

import glob
import os
import subprocess

import oracle
import pytest
from conftest import TACIT, WAIT

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES = sorted(glob.glob(os.path.join(ROOT, "conf", "*.cfg")))
OURS = ("demo.cfg",)    # it has keywords that HAProxy does not know


def check(program, path):
    return subprocess.run([program, "-c", "-f", path], capture_output=True, text=True, timeout=WAIT, check=False)


@pytest.mark.parametrize("path", FILES, ids=os.path.basename)
def test_an_example_is_right(path):
    done = check(TACIT, path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr


@pytest.mark.parametrize("path", [f for f in FILES if os.path.basename(f) not in OURS], ids=os.path.basename)
def test_haproxy_accepts_it_too(path):
    with open(path, encoding="utf-8") as file:
        assert oracle.same(lambda program: check(program, path).returncode, script=file.read()) == 0


def test_there_are_examples():
    assert len(FILES) >= 11
