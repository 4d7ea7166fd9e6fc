"""`tacit --format FILE`: one layout, the same configuration."""

import re

import pytest
from conftest import ROOT, run

EXAMPLES = sorted([*(ROOT / "conf").glob("*.cfg"), *(ROOT / "conf/recipes").glob("*.cfg")])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_the_examples_are_in_this_layout(path):
    done = run("--format", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == path.read_text()


def test_another_layout_becomes_it(tmp_path):
    for path in EXAMPLES:
        text = path.read_text()
        mess = re.sub(r"(?m)^\t(?=[^#\s])", "        ", text).replace("\n\n", "\n\n\n\n").replace("\n", "  \r\n")
        (tmp_path / "a.cfg").write_bytes(mess.encode())
        assert run("--format", tmp_path / "a.cfg").stdout == text, path


def test_a_configuration_that_cannot_be_loaded_is_formatted(tmp_path):
    (tmp_path / "a.cfg").write_text('listen a\n  nonsense   "x\n')
    done = run("--format", tmp_path / "a.cfg")
    assert (done.returncode, done.stdout) == (0, 'listen a\n\tnonsense "x\n')


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    done = run("--format", tmp_path / "none.cfg")
    assert done.returncode == 1 and done.stdout == ""
    assert f"cannot read '{tmp_path}/none.cfg': No such file or directory" in done.stderr
    assert run("--format").returncode == 1
