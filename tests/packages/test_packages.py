"""The Debian packages that `make deb` has built: what they contain, and that it works from there."""
import os
import re
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
        "/etc/default/tacit", "/etc/logrotate.d/tacit", "/etc/rsyslog.d/49-tacit.conf", "/etc/tacit/tacit.cfg"}
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
                   "frontend f\n mode tcp\n log global\n timeout client 1s\n option tcplog\n"
                   f" bind unix@{tmp_path}/front\n tcp-request connection reject\n")
    with open(log, "wb") as out, subprocess.Popen([link, "-db", "-f", cfg], stdout=out) as proc:
        try:
            end = time.monotonic() + 10
            while not (tmp_path / "front").exists():
                assert time.monotonic() < end and proc.poll() is None
                time.sleep(0.05)
            assert Path(f"/proc/{proc.pid}/comm").read_text().strip() == "haproxy"
        finally:
            proc.terminate()
    assert re.search(rf" haproxy\[{proc.pid}\]: ", log.read_text()), log.read_text()


def test_the_examples_are_right(root):
    for path in sorted((root / "usr/share/doc/tacit/examples").glob("*.cfg")) + [root / "etc/tacit/tacit.cfg"]:
        done = run(root / "usr/sbin/tacit", "-c", "-q", "-f", path)
        assert done.returncode == 0, f"{path}\n{done.stderr}"


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


def test_tools_of_haproxy_work_with_it(root):
    """debian/tests/smoke, which autopkgtest runs against the installed package."""
    done = run("sh", TOP / "debian/tests/smoke", env=dict(os.environ, TACIT=str(root / "usr/sbin/tacit")))
    assert done.returncode == 0, done.stdout + done.stderr
