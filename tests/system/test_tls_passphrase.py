"""ssl-passphrase-cmd from outside: encrypted private keys at the start, at a reload and in commands."""

import pytest
from certs import Authority
from conftest import free_ports, run
from test_master import MASTER, reload, worker_of
from test_tls import HTTP, cn, context


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


@pytest.fixture
def script(tmp_path):
    """script(lines): a command that notes its arguments in the file `asked` beside it, and runs these lines."""
    def make(lines):
        path = tmp_path / "passphrase"
        path.write_text(f"#!/bin/sh\necho \"$@\" >> {tmp_path}/asked\n{lines}\n")
        path.chmod(0o755)
        return path
    return make


def asked(tmp_path):
    return (tmp_path / "asked").read_text().splitlines()


def frontend(*pems):
    (port,) = free_ports(1)
    crts = " ".join(f"crt {pem}" for pem in pems)
    return port, f"{HTTP}frontend f\n bind 127.0.0.1:{port} ssl {crts}\n http-request return status 200\n"


def test_keys(daemon, ca, script, tmp_path):
    """Three keys with two passphrases: the command is run for each new passphrase, with the path of the file and its own
    arguments, in the environment of the configuration."""
    one, two, three = (ca.make(f"{name}.pem", f"{name}.test", [f"{name}.test"], passphrase=phrase)
                       for name, phrase in (("one", "blue"), ("two", "red"), ("three", "blue")))
    cmd = script(f'[ "$1" = {two} ] && echo red || echo "$WORD"')
    port, text = frontend(one, two, three)
    daemon(text, extra=f"setenv WORD blue\n ssl-passphrase-cmd {cmd} first 'the second'")
    assert [cn(port, context(ca), f"{name}.test") for name in ("one", "two", "three")] == ["one.test", "two.test", "three.test"]
    assert asked(tmp_path) == [f"{one} first the second", f"{two} first the second"]


def test_key_of_its_own(daemon, ca, script, tmp_path):
    """The path is that of the file that has the key; the certificate of a server is decrypted as well."""
    pem = ca.make("c.pem", "c.test", ["c.test"], passphrase="blue")
    text = pem.read_text()
    at = text.index("-----BEGIN ENCRYPTED PRIVATE KEY")
    crt, key = tmp_path / "a.crt", tmp_path / "a.crt.key"
    crt.write_text(text[:at])
    key.write_text(text[at:])
    port, cfg = frontend(crt)
    daemon(f"{cfg}backend b\n server s 127.0.0.1:1 ssl verify none crt {pem}\n", extra=f"ssl-passphrase-cmd {script('echo blue')}")
    assert cn(port, context(ca), "c.test") == "c.test"
    assert asked(tmp_path) == [str(key)]


@pytest.mark.parametrize("lines,why", [
    ("echo green", "wrote a passphrase that does not decrypt the private key: "), ("echo blue; exit 3", "ended with exit code 3"),
    ("kill -9 $$", "was ended by signal 9"), ("", "wrote no passphrase"), ("yes", "wrote more than 1024 bytes"),
    (None, "cannot be executed: No such file or directory")])
def test_failures(ca, script, tmp_path, lines, why):
    """Each is an error at the bind line that names the file."""
    pem = ca.make("f.pem", "f.test", passphrase="blue")
    cmd = "/no/such/command" if lines is None else script(lines)
    path = tmp_path / "c.cfg"
    path.write_text(f"global\n ssl-passphrase-cmd {cmd}\n{frontend(pem)[1]}")
    done = run("-c", "-f", path)
    assert done.returncode == 1
    assert f"'{pem}'" in done.stderr and f"'ssl-passphrase-cmd' : '{cmd}' " in done.stderr and why in done.stderr, done.stderr
    assert "c.cfg:10:" in done.stderr, done.stderr


def test_without_a_command(ca, tmp_path):
    pem = ca.make("w.pem", "w.test", passphrase="blue")
    path = tmp_path / "c.cfg"
    path.write_text(frontend(pem)[1])
    done = run("-c", "-f", path)
    assert done.returncode == 1
    assert "the private key has a passphrase: 'ssl-passphrase-cmd' of section global names a command" in done.stderr, done.stderr


def test_reload(daemon, ca, script, tmp_path):
    """A new worker process runs the command again; one whose command fails does not replace the previous one."""
    pem = ca.make("r.pem", "r.test", ["r.test"], passphrase="blue")
    port, text = frontend(pem)
    d = daemon(text, extra=f"ssl-passphrase-cmd {script('echo blue')}", mode=MASTER)
    assert cn(port, context(ca), "r.test") == "r.test"
    before, first = len(asked(tmp_path)), worker_of(d)
    assert reload(d)
    assert len(asked(tmp_path)) > before
    assert cn(port, context(ca), "r.test") == "r.test"
    second = worker_of(d)
    assert second != first
    script("exit 1")
    assert not reload(d)
    assert "ended with exit code 1" in d.stderr
    assert worker_of(d) == second
    assert cn(port, context(ca), "r.test") == "r.test"


def test_command_of_the_socket(daemon, ca, script, tmp_path):
    """'set ssl cert' takes no encrypted key, and runs nothing."""
    pem = ca.make("s.pem", "s.test", ["s.test"], passphrase="blue")
    port, text = frontend(pem)
    d = daemon(text, extra=f"ssl-passphrase-cmd {script('echo blue')}")
    before = asked(tmp_path)
    answer = d.admin(f"set ssl cert {pem} <<\n{pem.read_text()}")
    assert "the private key has a passphrase: commands take keys without one" in answer, answer
    assert asked(tmp_path) == before
    assert cn(port, context(ca), "s.test") == "s.test"
