"""The file of a ring (backing-file): what it has after a crash, after restarts and reloads, and what goes wrong."""

import os
import re
import resource
import signal
import subprocess

import oracle
import pytest

from conftest import TACIT, WAIT, WORKERS, admin, answers, connect, fds, free_port, recv_all, run
from facts import becomes, contains, gone
from test_master import MASTER, change, listening_inodes, reload, worker_of

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root")
# As tacit.cfg(5) says.
IN_ORDER = "tr -s '\\0' <{} | sed -zn '1h;1!p;${{g;p}}' | tr -d '\\0'"

SITE = """
ring r
    format raw
    size 16384
    backing-file {file}
frontend f
    mode http
    bind 127.0.0.1:{port}
    log ring@r local0
    log-format "%HU"
    option dontlognull
    http-request return status 200
"""


def site(port, file):
    return SITE.format(port=port, file=file)


def request(port, path):
    with connect(port) as c:
        c.sendall(f"GET /{path} HTTP/1.0\r\n\r\n".encode())
        recv_all(c)


def lines(file):
    """Oldest first; the first one may be the rest of another."""
    out = subprocess.run(["sh", "-c", IN_ORDER.format(file)], stdout=subprocess.PIPE, check=True).stdout
    return out.decode().splitlines()


def has(file, line):
    return contains(file, line) and line in lines(file)


def test_it_survives_a_kill(daemon, tmp_path):
    port, file = free_port(), tmp_path / "file"
    for name in ("one", "two"):
        d = daemon(site(port, file), checked=False)
        request(port, name)
        assert has(file, f"/{name}")
        d.kill()
        assert f"/{name}" in lines(file)
    assert "/one" in lines(f"{file}.bak")
    assert "/one" not in lines(file)
    assert {(p.name, p.stat().st_size, p.stat().st_mode & 0o7777) for p in tmp_path.glob("file*")} == {
        ("file", 16384, 0o600), ("file.bak", 16384, 0o600)}


def test_haproxy_shows_as_little_after_a_restart(tmp_path):
    """Previous messages are in the other file, and not in the ring."""
    def play(program):
        directory, port = oracle.at(tmp_path, program), free_port()
        directory.mkdir()
        sock, cfg, file = directory / "sock", directory / "cfg", directory / "file"
        cfg.write_text(oracle.given(f"global\n stats socket {sock} level admin\n nbthread 1\n"
                                    "defaults\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n" + site(port, file)))
        for path in ("one", "two"):
            sock.unlink(missing_ok=True)
            with subprocess.Popen([program, "-db", "-f", cfg], stderr=subprocess.DEVNULL) as proc:
                try:
                    becomes(lambda s=sock: answers(s), True, "an answer")
                    request(port, path)
                    becomes(lambda s=sock: admin(s, "show events r"), lambda seen, p=path: f"/{p}\n" in seen)
                    events = admin(sock, "show events r")
                finally:
                    proc.terminate()
        # HAProxy writes no line of the start to a ring that no line of global names.
        return (events, sorted((p.name, p.stat().st_size, p.stat().st_mode) for p in directory.glob("file*")),
                [(b"/one" in f.read_bytes(), b"/two" in f.read_bytes()) for f in sorted(directory.glob("file*"))])

    oracle.same(play)


def test_all_workers_write_and_the_newest_stay(daemon, tmp_path):
    port, file = free_port(), tmp_path / "file"
    d = daemon(site(port, file))
    for i in range(900):
        request(port, f"{i:04}{'x' * (i % 60)}")
    last = [f"/{i:04}{'x' * (i % 60)}" for i in range(880, 900)]
    d.until("idle")
    assert set(last) <= set(lines(file))
    numbers = [int(m[1]) for m in map(re.compile(r"/(\d{4})x*$").match, lines(file)) if m]
    assert len(numbers) == len(set(numbers)) and 300 < len(numbers) < 500
    # Messages of several workers may change places: among the oldest another one may have been overwritten.
    moved = 0 if WORKERS == 1 else 4 * WORKERS
    assert set(range(900 - len(numbers) + moved, 900)) <= set(numbers)
    assert min(numbers) >= 900 - len(numbers) - moved
    if WORKERS == 1:
        assert numbers == sorted(numbers)
    assert d.stop() == 0
    assert f"/0899{'x' * (899 % 60)}" in lines(file)


def test_a_check_touches_nothing(tmp_path):
    file, cfg = tmp_path / "file", tmp_path / "cfg"
    cfg.write_text("defaults\n timeout connect 1s\n timeout client 1s\n timeout server 1s\n" + site(free_port(), file))
    assert run("-c", "-f", cfg).returncode == 0
    assert not file.exists()
    file.write_text("former")
    assert run("-c", "-f", cfg).returncode == 0
    assert file.read_text() == "former" and not list(tmp_path.glob("*.bak"))


# --- reloads ---


def test_previous_and_new_worker_have_a_file_each(daemon, tmp_path):
    port, file = free_port(), tmp_path / "file"
    d = daemon(site(port, file), mode=MASTER)
    with connect(port) as kept:
        previous = worker_of(d)
        request(port, "before")
        assert has(file, "/before")
        kept.sendall(b"GET /late HT")
        d.until("sessions ge 1")
        assert reload(d, settle=False)
        listens = {f"socket:[{inode}]" for inode in listening_inodes(port)}
        becomes(lambda: listens & set(fds(previous).values()), set(), "the former worker process to accept no more")
        request(port, "after")
        assert has(file, "/after")
        kept.sendall(b"TP/1.0\r\n\r\n")
        recv_all(kept)
        assert has(f"{file}.bak", "/late")
    gone(previous)
    assert "/before" in lines(f"{file}.bak") and "/after" not in lines(f"{file}.bak")
    assert "/late" not in lines(file)


def test_a_reload_that_fails_leaves_the_file(daemon, tmp_path):
    """The file stays even if the other file of the same process could be made."""
    port, file = free_port(), tmp_path / "file"
    d = daemon(site(port, file), mode=MASTER)
    request(port, "one")
    change(d, "frontend f", f"ring other\n    backing-file {tmp_path}/none/file\nfrontend f")
    assert not reload(d)
    assert not list(tmp_path.glob("*.bak"))
    request(port, "two")
    assert has(file, "/two") and "/one" in lines(file)
    change(d, f"{tmp_path}/none/file", f"{tmp_path}/other")
    assert reload(d)
    request(port, "three")
    assert has(file, "/three")
    assert "/two" in lines(f"{file}.bak")
    assert (tmp_path / "other").stat().st_size == 16384


# --- faults ---


def start_fails(tmp_path, file, **kw):
    cfg = tmp_path / "cfg"
    cfg.write_text("defaults\n timeout connect 1s\n timeout client 1s\n timeout server 1s\n" + site(free_port(), file))
    r = subprocess.run([TACIT, "-db", "-f", cfg], capture_output=True, text=True, timeout=WAIT, check=False, **kw)
    assert r.returncode == 1
    return r.stderr.replace(str(cfg), "CFG").replace(str(file), "FILE")


def test_a_path_that_cannot_be_opened_is_shown(tmp_path):
    errors = start_fails(tmp_path, tmp_path / "none" / "file")
    assert "config : parsing [CFG:9:18] : cannot open backing-file 'FILE' for ring 'r': No such file or directory.\n" \
           "      backing-file FILE\n                   ^\n" in errors
    assert "it is no regular file" in start_fails(tmp_path, "/dev/null")
    assert os.path.exists("/dev/null") and not os.path.exists("/dev/null.bak")


def test_a_file_that_has_no_room_is_an_error_of_the_start(tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    file = tmp_path / "file"
    file.write_text("former")
    assert "for ring 'r': File too large." in start_fails(tmp_path, file, preexec_fn=limit)
    assert file.read_text() == "former" and not list(tmp_path.glob("*.bak"))


def test_one_that_cannot_be_renamed_is_overwritten(daemon, tmp_path):
    port, file = free_port(), tmp_path / "file"
    file.write_text("former")
    (tmp_path / "file.bak").mkdir()
    d = daemon(site(port, file))
    request(port, "one")
    assert has(file, "/one") and "former" not in lines(file)
    assert f"backing-file '{file}' of ring 'r' is overwritten: it cannot get the suffix '.bak': Is a directory." \
        in d.stderr
    assert re.search(r"\[WARNING\].* parsing \[.*:\d+:18\]", d.stderr)


def test_others_may_truncate_and_remove_it(daemon, tmp_path):
    port, file = free_port(), tmp_path / "file"
    d = daemon(site(port, file))
    request(port, "one")
    assert has(file, "/one")
    os.truncate(file, 0)
    for i in range(500):
        request(port, f"{i:03}{'y' * 80}")
    assert has(file, f"/499{'y' * 80}")
    assert file.stat().st_size <= 16384
    file.unlink()
    request(port, "two")
    d.until("idle")
    assert "/two" in d.admin("show events r")
    assert d.is_running() and not file.exists()


@needs_root
def test_a_file_system_that_fills_up_is_reported(daemon, tmp_path):
    """After someone has truncated the file: its blocks are gone."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True,
                      check=False).returncode:
        pytest.skip("cannot mount")
    try:
        port, file = free_port(), disk / "file"
        d = daemon(site(port, file))
        os.truncate(file, 0)
        with open(disk / "full", "wb", buffering=0) as full:
            with pytest.raises(OSError):
                while True:
                    full.write(b"x" * 4096)
        for i in range(3):
            request(port, f"lost{i}")
        contains(d.stderr_path, "backing-file")
        assert d.stderr.count(f"ring 'r': backing-file '{file}' cannot be written: No space left on device.") == 1
        d.until("idle")
        assert "/lost2" in d.admin("show events r")
        (disk / "full").unlink()
        request(port, "again")
        assert has(file, "/again")
        assert d.stop() == 0
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


@needs_root
def test_privileges_and_a_root_directory_come_later(daemon, tmp_path):
    port, file, root = free_port(), tmp_path / "file", tmp_path / "root"
    root.mkdir()
    tmp_path.chmod(0o700)
    d = daemon(site(port, file), extra=f"uid 65534\n    gid 65534\n    chroot {root}",
               env={"ASAN_OPTIONS": "detect_leaks=0"})
    request(port, "one")
    assert has(file, "/one")
    assert (file.stat().st_uid, file.stat().st_mode & 0o7777) == (0, 0o600)
    d.send(signal.SIGTERM)
    assert d.wait() == 0
