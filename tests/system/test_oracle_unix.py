"""`unix-bind`: HAProxy and tacit make the same unix sockets."""

import os
import stat

import oracle
import pytest
from oracle import Subject

pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the sockets belong to others")]

CFG = """
    unix-bind prefix {d}/p mode 600 uid 7
    unix-bind gid 8
    stats socket {d}/stats mode 640
defaults
    mode tcp
    timeout connect 1m
    timeout client 1m
    timeout server 1m
listen l
    bind /a,unix@/b
    bind unix@c mode 644
    bind /d uid 5 group root
    server s {d}/none
"""


def made(program, directory):
    directory.mkdir()
    (directory / "p").mkdir()
    subject = Subject(program, directory, CFG.format(d=directory))
    try:
        found = {}
        for where, _, names in os.walk(directory):
            for name in names:
                s = os.stat(os.path.join(where, name))
                if stat.S_ISSOCK(s.st_mode) and name != "s.sock":
                    found[os.path.relpath(os.path.join(where, name), directory)] = (oct(s.st_mode & 0o777), s.st_uid, s.st_gid)
        return found
    finally:
        subject.stop()


def test_the_same_sockets(tmp_path):
    want, got = oracle.both(lambda program: made(program, oracle.at(tmp_path, program)))
    assert want == {"p/a": ("0o600", 7, 8), "p/b": ("0o600", 7, 8), "pc": ("0o644", 7, 8), "p/d": ("0o600", 5, 0),
                    "stats": ("0o640", 0, 0)}
    assert got == want
