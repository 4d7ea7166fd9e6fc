"""The Debian packages that `make deb` has built: what they contain, and that it works from there."""
import os
import re
import socket
import subprocess
import time
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent.parent
DEB = Path(os.environ["TACIT_BUILD"]) / "deb"


def run(*command, **more):
    return subprocess.run(list(map(str, command)), cwd=TOP, capture_output=True, text=True, timeout=120, check=False, **more)


def package(name):
    found = list(DEB.glob(f"{name}_*.deb"))
    assert len(found) == 1, found
    return found[0]


@pytest.fixture(name="root", scope="module")
def _root(tmp_path_factory):
    """All packages, unpacked as if installed."""
    root = tmp_path_factory.mktemp("root")
    for name in ("tacit", "tacit-doc", "tacit-haproxy-compat"):
        assert run("dpkg-deb", "-x", package(name), root).returncode == 0
    return root


def control(name, part):
    return run("dpkg-deb", "-I", package(name), part).stdout


def test_files_of_the_operator_are_conffiles():
    assert set(control("tacit", "conffiles").split()) == {
        "/etc/default/tacit", "/etc/logrotate.d/tacit", "/etc/rsyslog.d/49-tacit.conf"}
    assert set(control("tacit-haproxy-compat", "conffiles").split()) == {
        "/etc/default/haproxy", "/etc/logrotate.d/haproxy", "/etc/rsyslog.d/49-haproxy.conf"}


def test_the_compat_package_takes_the_place_of_haproxy():
    fields = control("tacit-haproxy-compat", "control")
    for name in ("Conflicts", "Replaces", "Provides"):
        assert re.search(rf"^{name}: haproxy$", fields, re.M), fields
    assert re.search(r"^Depends: .*\btacit \(>= [0-9.]+\)", fields, re.M), fields


@pytest.mark.parametrize("name, service", [("tacit", "tacit"), ("tacit-haproxy-compat", "haproxy")])
def test_an_upgrade_reloads_and_does_not_stop(name, service):
    scripts = {part: control(name, part) for part in ("postinst", "prerm", "postrm")}
    for part, text in scripts.items():
        assert subprocess.run(["sh", "-n"], input=text, text=True, check=False).returncode == 0, part
    assert f"deb-systemd-invoke reload-or-restart {service}.service" in scripts["postinst"]
    stops = [line for line in scripts["prerm"].splitlines() if " stop " in line or "$1" in line]
    assert stops and '"$1" = remove' in stops[0], scripts["prerm"]


def test_the_units_are_accepted(root, tmp_path):
    for name, exposure in (("tacit", 1.6), ("haproxy", 3.6)):
        text = (root / f"lib/systemd/system/{name}.service").read_text()
        assert "/usr/local" not in text
        unit = tmp_path / f"{name}.service"
        unit.write_text(text.replace(f"/usr/sbin/{name}", str(root / "usr/sbin/tacit")))
        done = run("systemd-analyze", "verify", "--man=no", unit)
        assert done.returncode == 0 and f"{name}.service" not in done.stderr, done.stderr
        done = run("systemd-analyze", "security", "--offline=true", unit)
        score = re.search(rf"exposure level for {name}.service: ([0-9.]+)", done.stdout)
        assert score and float(score[1]) <= exposure, done.stdout[-300:] + done.stderr


def test_the_users_and_directories_are_described(root):
    for name in ("tacit.conf", "tacit-haproxy-compat.conf"):
        path = root / "usr/lib/sysusers.d" / name
        empty = path.parent.parent.parent.parent / f"empty-{name}"
        (empty / "etc").mkdir(parents=True)
        done = run("systemd-sysusers", f"--root={empty}", path)
        assert done.returncode == 0, done.stderr
        user = "haproxy" if "haproxy" in name else "tacit"
        assert f"\n{user}:" in "\n" + (empty / "etc/passwd").read_text()


def test_the_program_is_called_haproxy_when_it_is_started_as_haproxy(root, tmp_path):
    link = root / "usr/sbin/haproxy"
    assert os.readlink(link) == "tacit"
    log = tmp_path / "log"
    cfg = tmp_path / "h.cfg"
    cfg.write_text("global\n log stdout format rfc3164 local0\n"
                   "frontend f\n mode tcp\n log global\n timeout client 1m\n option tcplog\n"
                   f" bind unix@{tmp_path}/front\n tcp-request connection reject\n")
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(tmp_path / "notify"))
    manager.settimeout(60)
    env = os.environ | {"NOTIFY_SOCKET": str(tmp_path / "notify")}
    with manager, open(log, "wb") as out, subprocess.Popen([link, "-db", "-f", cfg], stdout=out, env=env) as proc:
        try:
            assert b"READY=1" in manager.recv(4096).split(b"\n")
            assert Path(f"/proc/{proc.pid}/comm").read_text().strip() == "haproxy"
        finally:
            proc.terminate()
    assert re.search(rf" haproxy\[{proc.pid}\]: ", log.read_text()), log.read_text()


def test_the_examples_are_right(root):
    for path in sorted((root / "usr/share/doc/tacit/examples").glob("*.cfg")) + [root / "usr/share/tacit/tacit.cfg"]:
        done = run(root / "usr/sbin/tacit", "-c", "-q", "-f", path)
        assert done.returncode == 0, f"{path}\n{done.stderr}"


def test_debians_configuration_of_haproxy_is_read(root, tmp_path):
    """With the error files that the compat package brings."""
    errors = root / "usr/share/tacit-haproxy-compat/errors"
    names = sorted(path.name for path in errors.iterdir())
    assert names == [f"{code}.http" for code in (400, 403, 408, 500, 502, 503, 504)]
    cfg = tmp_path / "haproxy.cfg"
    cfg.write_text("defaults\n mode http\n timeout connect 1s\n timeout client 1s\n timeout server 1s\n" +
                   "".join(f" errorfile {name[:3]} {errors / name}\n" for name in names) +
                   "listen l\n bind 127.0.0.1:8080\n")
    done = run(root / "usr/sbin/haproxy", "-c", "-f", cfg)
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr


def test_bash_completes_the_options(root):
    program = root / "usr/sbin/tacit"
    names = set(re.findall(r"(?:^|\s)(-[A-Za-z]+)", run(program, "-h").stderr))
    assert {"-f", "-c", "-db", "-vv"} <= names
    script = f"source {root}/usr/share/bash-completion/completions/tacit; _tacit {program} - {program}; "
    done = run("bash", "-c", script + 'echo "${COMPREPLY[@]}"')
    assert names <= set(done.stdout.split()), done.stdout + done.stderr
    (root / "some.cfg").write_text("")
    done = subprocess.run(["bash", "-c", script.replace(" - ", " so ") + 'echo "${COMPREPLY[@]}"'], cwd=root,
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["some.cfg"], done.stdout + done.stderr


def test_vim_knows_the_keywords(root):
    text = (root / "usr/share/vim/vimfiles/syntax/tacit.vim").read_text()
    assert "default_backend" in text and r"tune\.wake-elision" in text


def test_the_program_is_hardened(root):
    header = run("readelf", "-hldW", root / "usr/sbin/tacit").stdout
    assert re.search(r"Type:\s+DYN", header)
    assert "GNU_RELRO" in header and re.search(r"FLAGS.*NOW", header)


# --- rsyslog and logrotate, with the files of the packages ---

RSYSLOG = """module(load="imuxsock" SysSock.Use="off")
global(workDirectory="{dir}")
input(type="imuxsock" Socket="{dir}/dev/log" CreatePath="on" UseSysTimeStamp="off")
$ActionFileDefaultTemplate RSYSLOG_TraditionalFileFormat
$umask 0022
{snippet}
*.* {dir}/rest.log
"""


def wait_until(what, limit=60):
    end = time.monotonic() + limit
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


def text_of(path):
    return path.read_text() if path.exists() else ""


@pytest.mark.parametrize("name", ["tacit", "haproxy"])
def test_messages_have_a_file_that_is_rotated(root, tmp_path, name):
    """The shipped files say what they say of /var; here that is a directory of the test, and the rsyslogd is its own."""
    def moved(path):
        return (root / path).read_text().replace("/var/", f"{tmp_path}/")

    log, pid_file, notify = tmp_path / "log" / f"{name}.log", tmp_path / "rsyslogd.pid", tmp_path / "rotate"
    log.parent.mkdir()
    (tmp_path / "dev").mkdir()
    (tmp_path / "lib/haproxy/dev").mkdir(parents=True)
    conf, rotation = tmp_path / "rsyslog.conf", tmp_path / "logrotate.conf"
    conf.write_text(RSYSLOG.format(dir=tmp_path, snippet=moved(f"etc/rsyslog.d/49-{name}.conf")))
    rotation.write_text(moved(f"etc/logrotate.d/{name}").replace("/usr/lib/rsyslog/rsyslog-rotate", str(notify)))
    rotation.chmod(0o644)
    notify.write_text(f"#!/bin/sh\nkill -HUP $(cat {pid_file})\n")
    notify.chmod(0o755)
    socket_path = tmp_path / ("lib/haproxy/dev/log" if name == "haproxy" else "dev/log")

    cfg = tmp_path / "t.cfg"
    cfg.write_text(f"global\n log {socket_path} local0\n stats socket {tmp_path}/admin level admin\n"
                   f"frontend f\n mode http\n log global\n option httplog\n timeout client 1m\n bind unix@{tmp_path}/front\n"
                   " http-request return status 200\n")

    def ask(path):
        return run("curl", "-s", "-o", "/dev/null", "--unix-socket", tmp_path / "front", f"http://h{path}").returncode == 0

    assert run("rsyslogd", "-N1", "-f", conf).returncode == 0
    with subprocess.Popen(["rsyslogd", "-n", "-i", pid_file, "-f", conf]) as rsyslogd:
        try:
            wait_until(lambda: socket_path.exists() and pid_file.exists())
            with subprocess.Popen([root / "usr/sbin" / name, "-db", "-f", cfg], stderr=subprocess.DEVNULL) as proc:
                try:
                    wait_until(lambda: ask("/first"))
                    wait_until(lambda: "/first" in text_of(log))
                    assert re.search(rf" {name}\[{proc.pid}\]: .*\"GET /first", log.read_text())
                    done = run("logrotate", "-d", "-s", tmp_path / "state", rotation)
                    assert done.returncode == 0 and f"rotating pattern: {log}" in done.stderr, done.stderr
                    done = run("logrotate", "-f", "-s", tmp_path / "state", rotation)
                    assert done.returncode == 0, done.stderr
                    wait_until(lambda: ask("/second") and "/second" in text_of(log))
                    assert "/first" not in log.read_text() and "/first" in Path(f"{log}.1").read_text()
                finally:
                    proc.terminate()
        finally:
            rsyslogd.terminate()
    assert "GET" not in text_of(tmp_path / "rest.log")


def test_tools_of_haproxy_work_with_it(root):
    """debian/tests/smoke, which autopkgtest runs against the installed package."""
    done = run("sh", TOP / "debian/tests/smoke", env=dict(os.environ, TACIT=str(root / "usr/sbin/tacit")))
    assert done.returncode == 0, done.stdout + done.stderr
