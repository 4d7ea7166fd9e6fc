"""The master: reloads, failed reloads, worker processes that die, and what the service manager is told."""

import contextlib
import os
import re
import signal
import socket
import struct
import subprocess
import threading
from pathlib import Path

import moved_clock
import pytest

from clients import REQUEST, Load, get, site
from conftest import BUILD, WAIT, connect, fds, free_port, free_ports, info, is_alive, is_open, recv_all
from facts import becomes, children, contains, gone, listening, only_child, readable, refuses
from stalled import stopped_thread
from subject import IS_SANITIZED, SLOW

MASTER = ("-Ws",)


def worker_of(d):
    (only,) = children(d.pid)
    return only


def change(d, old, new):
    d.cfg.write_text(d.cfg.read_text().replace(old, new))


def status(d):
    """The latest STATUS= of the service manager's messages so far."""
    d.notify.drain()
    return [m.split("STATUS=")[1] for m in d.notify.seen if "STATUS=" in m][-1]


def reload(d, sig=signal.SIGUSR2, settle=True):
    """Reloads and waits until all but one worker process have ended, or without `settle` until one alone answers commands.
    True if the reload was successful."""
    d.notify.seen.clear()
    d.send(sig)
    assert d.notify.wait("READY=1")
    assert any("RELOADING=1" in m and re.search(r"MONOTONIC_USEC=\d+", m) for m in d.notify.seen)
    if settle:
        only_child(d.pid)
    else:
        becomes(lambda: len(listening(children(d.pid), d.sock)), 1)
    return "Reload failed" not in status(d)


def listening_inodes(port):
    """The inodes of the sockets that listen on this port."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sorted(r[9] for r in rows if r[3] == "0A" and int(r[1].split(":")[1], 16) == port)


@pytest.mark.parametrize("sig", [signal.SIGUSR2, signal.SIGHUP])
def test_reload_takes_the_new_configuration(daemon, sig):
    port = free_port()
    d = daemon(site(port), mode=MASTER)
    assert d.notify.seen[0].split("\n")[:2] == ["READY=1", f"MAINPID={d.pid}"]
    first, inodes = worker_of(d), listening_inodes(port)
    assert get(port) == "one"
    change(d, "one", "two")
    assert reload(d, sig)
    assert get(port) == "two"
    assert worker_of(d) != first
    assert inodes and listening_inodes(port) == inodes
    assert info(d.admin("show info"))["Pid"] == str(worker_of(d))


def test_open_connections_end_in_the_previous_worker(daemon, origin):
    port = free_port()
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    server s 127.0.0.1:{origin.port}\n", mode=MASTER)
    with connect(port) as c:
        c.sendall(b"before")
        assert c.recv(100) == b"before"
        first = worker_of(d)
        assert reload(d, settle=False)
        assert len(children(d.pid)) == 2
        c.sendall(b"after")
        assert c.recv(100) == b"after"
        assert is_alive(first)
    only_child(d.pid, besides=[first])


@pytest.mark.parametrize("workers", [1, 3])
def test_addresses_come_and_go(daemon, workers, tmp_path):
    """A client in the backlog of an address that the new configuration does not have is still served."""
    a, b, c = free_ports(3)
    path = tmp_path / "s"
    text = f"    bind 127.0.0.1:{b}\n    bind unix@{path} mode 600\n"
    d = daemon(site(a) + text, mode=MASTER, extra="nbthread 1")
    change(d, "nbthread 1\nd", f"nbthread {workers}\nd")
    kept = listening_inodes(a)
    assert path.exists()
    change(d, text, f"    bind 127.0.0.1:{c}\n")
    assert reload(d)
    assert not path.exists()
    assert [is_open(p) for p in (a, b, c)] == [True, False, True]
    assert set(kept) <= set(listening_inodes(a))
    assert get(a) == get(c) == "one"
    change(d, f"    bind 127.0.0.1:{c}\n", text)
    assert reload(d)
    assert [is_open(p) for p in (a, b, c)] == [True, True, False]
    assert path.exists()
    d.base = d.fds()


def test_the_number_of_workers_changes(daemon):
    port = free_port()
    d = daemon(site(port), mode=MASTER, extra="nbthread 1")
    first, = listening_inodes(port)
    for n in (3, 1, 2):
        d.cfg.write_text(re.sub(r"nbthread \d+", f"nbthread {n}", d.cfg.read_text()))
        assert reload(d), d.stderr
        assert len(listening_inodes(port)) == n
        assert {get(port) for _ in range(30)} == {"one"}
        assert first in listening_inodes(port)
    d.base = d.fds()


def test_options_of_a_kept_socket_change(daemon):
    port = free_port()
    d = daemon(site(port), mode=MASTER)
    inodes = listening_inodes(port)
    bind = f"bind 127.0.0.1:{port}"
    change(d, bind, bind + " defer-accept tfo tcp-ut 5s backlog 7")
    assert reload(d)
    with connect(port) as c:
        d.until("idle")
        assert d.admin("wait 0 sessions eq 0") == "Done.\n\n"  # deferred: nothing has accepted it
        c.sendall(REQUEST)
        assert b"200" in c.recv(4096)
    change(d, " defer-accept tfo tcp-ut 5s backlog 7", "")
    assert reload(d)
    assert listening_inodes(port) == inodes
    with connect(port):
        d.until("sessions ge 1")


def offered(port):
    """The promises of a listener to a client: its maximum segment size, and its first window (tcpi_snd_wnd)."""
    with connect(port) as c:
        info = c.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        return c.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG), struct.unpack_from("I", info, 228)[0]


def test_options_that_a_socket_inherits_can_be_taken_back(daemon):
    """A reload without them has the kernel's defaults again, not what the kept socket had."""
    port = free_port()
    d = daemon(site(port), mode=MASTER)
    bind, tune = f"bind 127.0.0.1:{port}", "set-dumpable"
    for _ in range(2):
        mss, window = offered(port)
        assert mss > 1000 and window > 32768
        change(d, bind + "\n", bind + " mss 1000\n")
        change(d, tune, tune + "\n    tune.rcvbuf.client 8192\n    tune.sndbuf.client 8192\n    tune.notsent-lowat.client 4096")
        assert reload(d)
        mss, window = offered(port)
        assert mss <= 1000 and window <= 16384
        change(d, bind + " mss 1000\n", bind + "\n")
        change(d, "    tune.rcvbuf.client 8192\n    tune.sndbuf.client 8192\n    tune.notsent-lowat.client 4096", "")
        assert reload(d)
    mss, window = offered(port)
    assert mss > 1000 and window > 32768
    assert get(port) == "one"
    d.base = d.fds()


TAKEN = socket.create_server(("127.0.0.1", 0))
# Faults of a configuration, and a word of the reason.
BAD = [
    (lambda d, port: change(d, "mode http", "mode htpt"), "htpt"),
    (lambda d, port: d.cfg.unlink(), "tacit.cfg"),
    (lambda d, port: change(d, f"127.0.0.1:{port}", f"127.0.0.1:{port},127.0.0.1:{TAKEN.getsockname()[1]}"), "in use"),
    (lambda d, port: change(d, "set-dumpable", "set-dumpable\n    chroot /nowhere"), "chroot to '/nowhere': No such"),
    (lambda d, port: change(d, "set-dumpable", "set-dumpable\n    maxconn 1000000\n    fd-hard-limit 1000"), "maxconn"),
    (lambda d, port: d.cfg.write_text("defaults\n"), "listener"),
]


@pytest.mark.parametrize("break_it, reason", BAD)
def test_failed_reload_changes_nothing(daemon, break_it, reason):
    port = free_port()
    d = daemon(site(port), mode=MASTER)
    good, first, inodes = d.cfg.read_text(), worker_of(d), listening_inodes(port)
    sockets = (len(fds(d.pid)), len(fds(first)))
    for _ in range(3):
        break_it(d, port)
        assert not reload(d)
        assert reason in status(d) and reason in d.stderr
        assert get(port) == "one"
        assert worker_of(d) == first
        assert listening_inodes(port) == inodes
        d.cfg.write_text(good)
    becomes(lambda: (len(fds(d.pid)), len(fds(first))), sockets, "the descriptors of the start")
    assert reload(d)
    assert "failed" not in status(d)
    assert worker_of(d) != first


def test_a_failed_reload_is_seen_by_everybody(daemon, tmp_path):
    """The exit code of what `systemctl reload` runs, the message, the status, the socket, and the metrics; until one works."""
    port, metrics, path = *free_ports(2), tmp_path / "m"
    d = daemon(site(port) + f"frontend m\n    mode http\n    bind 127.0.0.1:{metrics}\n"
               "    http-request use-service prometheus-exporter\n", "-S", path, mode=MASTER)
    program = os.environ.get("TACIT") or BUILD / "tacit"

    def shown():
        fields = info(d.admin("show info"))
        with connect(metrics) as c:
            c.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            text = recv_all(c).decode()
        names = (("Reloads", "reloads_total"), ("Failed_reloads", "failed_reloads_total"),
                 ("Last_reload_successful", "last_reload_successful"))
        found = [re.search(rf"^haproxy_process_{metric} (\d+)$", text, re.M)[1] for _, metric in names]
        assert [fields[field] for field, _ in names] == found
        return tuple(map(int, found))

    def has_counted(*numbers):
        """The worker process hears of a reload when that is over."""
        d.until(*map("counter {} eq {}".format, ("Reloads", "Failed_reloads", "Last_reload_successful"), numbers))
        return shown() == numbers

    def run_reload():
        return subprocess.run([program, "--reload", path], capture_output=True, text=True, timeout=WAIT, check=False)

    assert shown() == (0, 0, 1)
    assert run_reload().returncode == 0
    assert has_counted(1, 0, 1)
    change(d, '"one"', '"two"')
    change(d, "mode http", "mode htpt")
    for n in (1, 2):
        done = run_reload()
        assert done.returncode == 1 and "htpt" in done.stdout + done.stderr
        assert has_counted(1 + n, n, 0)
        assert "Reload failed: " in status(d) and "htpt" in status(d) and get(port) == "one"
    # One that replaces it after its death has the same to say.
    change(d, "mode htpt", "mode http")
    os.kill(only_child(d.pid), signal.SIGKILL)
    assert get(port) == "two" and has_counted(3, 2, 1)
    assert run_reload().returncode == 0
    assert has_counted(4, 2, 1)


def test_the_stats_socket_answers_during_a_reload(daemon):
    """The answer of the previous worker process, if that has the connection. One that is open with a prompt does not hold it."""
    d = daemon(site(free_port()), mode=MASTER, clock="stands")
    first = worker_of(d)
    with socket.socket(socket.AF_UNIX) as late, socket.socket(socket.AF_UNIX) as idle, socket.socket(socket.AF_UNIX) as kept:
        for s, text in ((kept, b"prompt\n"), (late, b"show "), (idle, b"")):
            s.settimeout(WAIT)
            s.connect(str(d.sock))
            s.sendall(text)
        assert kept.recv(64) == b"\n> "
        assert int(d.info()["Pid"]) == first  # it has all of them
        assert reload(d, settle=False)
        late.sendall(b"info; show stat\n")
        answer = recv_all(late).decode()
        assert info(answer)["Pid"] == str(first) and answer.endswith("\n\n") and "# pxname" in answer
        # The process waits for the command of the other, but not for long.
        moved_clock.advance(d.dir / "clock", 2)
        only_child(d.pid, besides=[first])
        assert idle.recv(64) == kept.recv(64) == b""


def test_a_reload_during_a_reload_follows_it(daemon):
    port = free_port()
    d = daemon(site(port), mode=MASTER)
    for i in range(10):
        change(d, f'"{"one" if i == 0 else i - 1}"', f'"{i}"')
        d.notify.drain()
        d.notify.seen.clear()
        d.send(signal.SIGUSR2)
        assert d.notify.wait("RELOADING=1")
    # READY=1 of the last reload comes after RELOADING=1; that of others before it.
    d.notify.seen.clear()
    assert d.notify.wait("READY=1")
    # The previous process may accept until it has handled its signal.
    only_child(d.pid)
    assert get(port) == "9"


def rss_kb(pid):
    return int(re.search(r"VmRSS:\s*(\d+)", Path(f"/proc/{pid}/status").read_text()).group(1))


def is_zombie(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    return False


BAD = [("mode http", "mode htpt"), ("bind 127", "bind 256.0.0.1:80\n    bind 127"), ("mode http", "mode http\n    errorfile 503 /none")]


def test_nothing_is_left_after_many_reloads(daemon, origin):
    """Each tenth reload has a bad configuration; connections stay in previous worker processes meanwhile."""
    port, tcp = free_ports(2)
    reloads = 1000 if SLOW else 30
    d = daemon(site(port) + f"listen l\n    mode tcp\n    bind 127.0.0.1:{tcp}\n    server s 127.0.0.1:{origin.port}\n",
               mode=MASTER, extra="mworker-max-reloads 4")
    good, kept, most, warm = d.cfg.read_text(), [], 0, 0
    baseline, worker = len(fds(d.pid)), len(fds(worker_of(d)))
    for i in range(reloads):
        if i % 10 == 5:
            d.cfg.write_text(good.replace(*BAD[i // 10 % len(BAD)], 1))
        kept.append(connect(tcp))
        for c in kept[5:]:
            c.close()
        kept = kept[:5]
        assert reload(d, sig=(signal.SIGUSR2, signal.SIGHUP)[i % 2], settle=False) == (i % 10 != 5), i
        d.cfg.write_text(good)
        # Workers that have survived too many reloads are signalled to end, which takes them a moment.
        most = max(most, len(becomes(lambda: children(d.pid), lambda seen: len(seen) <= 8, "at most eight processes")))
        if i == max(20, reloads // 10):
            warm = rss_kb(d.pid)
    end = rss_kb(d.pid)
    for c in kept:
        c.close()
    assert most <= 8
    assert not is_zombie(only_child(d.pid))
    becomes(lambda: (len(fds(d.pid)), len(fds(worker_of(d)))), (baseline, worker), "the descriptors of the start")
    print(f"{reloads} reloads: at most {most} worker processes, RSS of the master {warm} to {end} kB")
    assert IS_SANITIZED or end <= warm + 256


# --- ends ---

@pytest.mark.parametrize("keyword", ["", "master-worker no-exit-on-failure"])
def test_a_dead_worker_is_replaced_behind_its_sockets(daemon, keyword):
    port = free_port()
    d = daemon(site(port), mode=MASTER, extra=keyword)
    inodes = listening_inodes(port)
    first = worker_of(d)
    os.kill(first, signal.SIGKILL)
    assert get(port) == "one"
    # At once, and not after the pause that follows a second failure.
    assert "the next worker will start" not in d.stderr
    assert worker_of(d) != first
    assert listening_inodes(port) == inodes
    assert f"Current worker ({first}) exited with code 137 (Killed)" in d.stderr


def test_a_worker_that_has_served_is_replaced_at_once(daemon):
    """However often: only those that end within a second of their start are waited for."""
    port = free_port()
    d = daemon(site(port), mode=MASTER)
    for _ in range(3):
        assert get(port) == "one"
        d.until("counter Uptime_sec ge 2")
        os.kill(worker_of(d), signal.SIGKILL)
    assert get(port) == "one"
    assert d.stderr.count("exited with code 137") == 3 and "the next worker will start" not in d.stderr


def test_attempts_to_replace_a_worker_get_rarer(daemon):
    port = free_port()
    d = daemon(site(port), mode=MASTER)
    change(d, "mode http", "mode htpt")
    os.kill(worker_of(d), signal.SIGKILL)
    reported = contains(d.stderr_path, "will start in 800 ms").partition("will start in 800 ms")[0]
    assert re.findall(r"will start in (\d+) ms", reported) == ["100", "200", "400"] and reported.count("a worker cannot start") in (3, 4)
    # clients wait; a reload is tried at once
    with connect(port) as c:
        c.sendall(REQUEST)
        change(d, "mode htpt", "mode http")
        d.send(signal.SIGUSR2)
        assert b"one" in c.recv(4096)


@pytest.mark.parametrize("sig, code", [(signal.SIGKILL, 137), (signal.SIGTERM, 0)])
def test_the_master_ends_with_its_worker(daemon, sig, code):
    port = free_port()
    d = daemon(site(port), mode=MASTER, extra="master-worker exit-on-failure", checked=False)
    os.kill(worker_of(d), sig)
    assert d.wait() == code
    assert not is_open(port)
    assert not children(d.pid)


def test_a_killed_master_takes_its_workers_along(daemon, origin):
    port = free_port()
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    server s 127.0.0.1:{origin.port}\n", mode=MASTER,
               checked=False)
    with connect(port) as c:
        c.sendall(b"x")
        assert c.recv(1) == b"x"
        assert reload(d, settle=False)
        both = children(d.pid)
        assert len(both) == 2
        d.send(signal.SIGKILL)
        d.wait()
        gone(*both)
    assert not is_open(port)
    assert "the master has ended" in d.stderr


def test_a_stalled_worker_ends_with_its_master(daemon):
    """The worker cannot see that the master has ended."""
    port = free_port()
    d = daemon(site(port), mode=MASTER, checked=False, extra="nbthread 2")
    first = worker_of(d)
    assert reload(d)
    stalled = worker_of(d)
    assert stalled != first
    with stopped_thread(stalled):
        d.send(signal.SIGKILL)
        d.wait()
        gone(stalled)


def is_running(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False


@pytest.mark.parametrize("sig, code", [(signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGUSR1, 0)])
def test_a_stop_ends_all(daemon, origin, sig, code):
    port = free_port()
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    server s 127.0.0.1:{origin.port}\n", mode=MASTER,
               checked=False)
    with connect(port) as c:
        c.sendall(b"x")
        assert c.recv(1) == b"x"
        assert reload(d, settle=False)
        both = children(d.pid)
        d.notify.seen.clear()
        d.send(sig)
        assert d.notify.wait("STOPPING=1")
        refuses(port)
        if sig == signal.SIGUSR1:
            assert d.is_running()
            c.sendall(b"y")
            assert c.recv(1) == b"y"
    assert d.wait() == code
    assert not any(is_running(pid) for pid in both)


def test_a_worker_that_survives_too_many_reloads_is_ended(daemon, origin):
    port = free_port()
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    server s 127.0.0.1:{origin.port}\n", mode=MASTER,
               extra="mworker-max-reloads 2")
    with connect(port) as c:
        c.sendall(b"x")
        assert c.recv(1) == b"x"
        first = worker_of(d)
        for n in range(3):
            assert is_running(first)
            assert reload(d, settle=False)
        gone(first)
        assert f"Former worker ({first}) has survived 3 reloads" in d.stderr


def test_first_start_that_fails(cfg_file, tmp_path):
    port = free_port()
    for text in (site(port, "a").replace("mode http", "mode x"), site(port) + f"    bind 127.0.0.1:{TAKEN.getsockname()[1]}\n"):
        r = subprocess.run([os.environ.get("TACIT") or BUILD / "tacit", "-W", "-f", cfg_file(text), "-p",
                            tmp_path / "pid"], capture_output=True, text=True, timeout=WAIT, check=False)
        assert r.returncode == 1
        assert r.stderr.count("[ALERT]") >= 1
        assert not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text()


def test_background_with_a_master(cfg_file, tmp_path):
    port = free_port()
    pid_file = tmp_path / "pid"
    # Dumpable: the descriptors of others are hidden from all but root.
    cfg = cfg_file(site(port) + f"global\n    stats socket {tmp_path}/s\n    set-dumpable\n")
    r = subprocess.run([os.environ.get("TACIT") or BUILD / "tacit", "-D", "-W", "-f", cfg, "-p", pid_file],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=WAIT, check=False)
    assert r.returncode == 0
    pid = int(pid_file.read_text())
    try:
        assert get(port) == "one"
        first, = children(pid)
        for process in (pid, first):
            assert [os.readlink(f"/proc/{process}/fd/{n}") for n in range(3)] == ["/dev/null"] * 3
        os.kill(pid, signal.SIGUSR2)
        only_child(pid, besides=[first])
        assert get(port) == "one"
    finally:
        os.kill(pid, signal.SIGTERM)
    gone(pid)
    assert not pid_file.exists()


def test_sockets_that_cannot_be_fetched(daemon, tmp_path):
    """A master says so and goes on without; other processes do not start. /dev/null is no path."""
    missing = tmp_path / "missing"
    for args, is_reported in ((["-x", missing], True), (["-x", "/dev/null"], False)):
        port = free_port()
        d = daemon(site(port), *args, mode=MASTER)
        assert get(port) == "one"
        d.stop()
        assert ("[ALERT]" in d.stderr and f"cannot get the listening sockets through '{missing}'" in d.stderr) == is_reported
    d = daemon(site(free_port()), "-x", missing, ready=False, checked=False)
    assert d.wait() == 1
    port = free_port()
    d = daemon(site(port), "-x", "/dev/null")
    assert get(port) == "one"


def test_sockets_through_the_masters_socket(daemon, tmp_path):
    """A new master takes them from the worker process of the previous one; no client is refused meanwhile."""
    port, path = free_port(), tmp_path / "m"
    first = daemon(site(port), "-S", path, mode=MASTER)
    inodes = listening_inodes(port)
    load = Load(port, None, 0, kinds=["short"] * 2)
    second = daemon(site(port), "-x", path, "-sf", str(first.pid), "-S", tmp_path / "n", mode=MASTER)
    assert first.wait() == 0
    load.stop()
    assert load.failed == [] and load.done["short"] > 0
    assert listening_inodes(port) == inodes
    assert "cannot get" not in second.stderr
    assert ask(tmp_path / "n", "user; _getsocks") == "Permission denied\n\n"
    assert get(port) == "one"


@pytest.fixture
def cfg_file(tmp_path):
    def write(text):
        path = tmp_path / "test.cfg"
        path.write_text("defaults\n    timeout connect 1m\n    timeout client 1m\n    timeout server 1m\n" + text)
        return path
    return write


# --- the master's socket ---

@pytest.fixture
def mastered(daemon, tmp_path):
    """A daemon with a socket of its master, and a function that asks it."""
    def start(*options):
        path = tmp_path / "master.sock"
        d = daemon(site(free_port()), "-S", ",".join([str(path), *options]), mode=MASTER)
        return d, path, lambda *lines: ask(path, *lines)
    return start


def ask(path, *lines):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(WAIT)
        s.connect(str(path))
        s.sendall("".join(line + "\n" for line in lines).encode())
        s.shutdown(socket.SHUT_WR)
        return recv_all(s).decode()


def test_the_masters_socket_answers(mastered):
    d, path, master = mastered()
    assert path.stat().st_mode & 0o777 == 0o600
    lines = master("show proc").splitlines()
    assert lines[0].split() == ["#<PID>", "<type>", "<reloads>", "<uptime>", "<version>"]
    version = lines[1].split()[-1]
    assert re.fullmatch(rf"{d.pid} +master +0 \[failed: 0\] +0d00h\d\dm\d\ds +{version} *", lines[1])
    assert lines[2] == "# workers"
    assert re.fullmatch(rf"{worker_of(d)} +worker +0 +0d00h\d\dm\d\ds +{version} *", lines[3])
    assert lines[4:] == ["# programs", ""]
    assert master("@master show version") == master("@ show  version") == version + "\n\n"
    assert "Unknown command: 'nonsense'" in master("nonsense")
    assert "reload" in master("help")
    assert master("prompt", "show version", "quit").startswith(f"master> {version}\n\nmaster> ")
    assert master("show version; show cli level") == f"{version}\n\nadmin\n\n"
    # one line only, and it need not end
    assert master("show version", "show version") == version + "\n\n"
    assert master("x" * 20000) == "Command line too long\n\n"


def test_commands_for_worker_processes(mastered):
    d, path, master = mastered()
    worker = worker_of(d)
    assert info(master("@1 show info"))["Pid"] == str(worker)
    assert info(master(f"@!{worker} show info"))["Pid"] == str(worker)
    level = "admin\n\n"
    assert master("@1 show cli level; show cli level") == level * 2
    assert master("@1; show cli level; @; show cli level") == level * 2
    assert master("@1 expert-mode on; @1 expert-mode") == "\nexpert-mode is ON\n\n"
    for prefix in ("@2", "@!1", "@x", "@!"):
        assert master(f"{prefix} show info") == f"Can't find the target PID matching the prefix '{prefix}'\n\n"
    # a prompt for each target
    pid = f"{worker}> "
    assert master("prompt", "@1", "show cli level", "@", "@1 show cli level", "quit") == \
        f"master> {pid}{level}{pid}master> {level}master> "
    assert master("prompt", "expert-mode on", "experimental-mode on", "@1", "quit").endswith(f"master(xe)> {worker}(xe)> ")
    # modes and levels go along
    assert master("experimental-mode on; @1 set var proc.x int(7); @1 get var proc.x") == \
        "\nproc.x: type=sint value=<7>\n\n"
    assert master("user; @1 show cli level; @1 disable frontend site").endswith("user\n\nPermission denied\n\n")
    # a semicolon behind a backslash is the worker's
    assert master(r"@1 echo a\;b").count("\n\n") == 1
    # a long answer for a slow client
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(WAIT)
        s.connect(str(path))
        s.sendall(b"@1; " + b"; ".join([b"show info"] * 300) + b"; show cli level\n")
        readable(s)
        assert master("show version")
        text = recv_all(s).decode()
    assert text.count("Pid: ") == 300 and text.endswith(level)
    assert master("@1 show cli sockets")


def test_commands_for_a_previous_worker(daemon, origin, tmp_path):
    port = free_port()
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    server s 127.0.0.1:{origin.port}\n", "-S", tmp_path / "m",
               mode=MASTER)
    first = worker_of(d)
    with connect(port) as c:
        c.sendall(b"x")
        assert c.recv(1) == b"x"
        assert reload(d, settle=False)
        assert info(ask(tmp_path / "m", f"@!{first} show info"))["Pid"] == str(first)
        assert f"127.0.0.1:{c.getsockname()[1]}" in ask(tmp_path / "m", f"@!{first} show sess")
        assert info(ask(tmp_path / "m", "@1 show info"))["Pid"] != str(first)
    only_child(d.pid, besides=[first])
    assert "Can't find" in ask(tmp_path / "m", f"@!{first} show info")


@pytest.mark.skipif(not os.environ.get("TACIT_SLOW"), reason="make slow: a minute")
def test_a_long_wait_is_not_cut(mastered):
    """As long as its client is there, also one that has ended its side."""
    def asked(text, ends=False):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(80)
        s.connect(str(path))
        s.sendall(text)
        if ends:
            s.shutdown(socket.SHUT_WR)
        return s

    _, path, master = mastered()
    waiting = [asked(b"@1 wait 62s; show cli level\n", ends) for ends in (False, True)]
    # those that leave give their places back
    for _ in range(8):
        asked(b"@1 wait 1h\n").close()
    assert [recv_all(s) for s in waiting] == [b"\nadmin\n\n"] * 2
    assert master("show version")


def test_a_worker_that_does_not_answer(mastered):
    """The master goes on; the client may leave."""
    d, path, master = mastered()
    with stopped_thread(worker_of(d)), socket.socket(socket.AF_UNIX) as s:
        s.connect(str(path))
        s.sendall(b"@1 show info\n")
        assert "master" in master("show proc")
    assert master("@1 show cli level") == "admin\n\n"


def test_reload_by_the_masters_socket(mastered):
    d, path, master = mastered()
    first = worker_of(d)
    assert master("reload").startswith("Success=1\n--\n")
    only_child(d.pid)
    assert worker_of(d) != first
    change(d, "mode http", "mode htpt")
    answer = master("reload")
    assert answer.startswith("Success=0\n--\n") and "htpt" in answer
    assert "htpt" in master("show startup-logs")
    assert master("prompt", "quit") == "master[ReloadFailed]> "
    assert "master          2 [failed: 1]" in master("show proc")
    change(d, "mode htpt", "mode http")
    # each of several clients gets the result of a reload that began after its request
    answers = []
    clients = [threading.Thread(target=lambda: answers.append(master("reload"))) for _ in range(5)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    assert [a[:10] for a in answers] == ["Success=1\n"] * 5
    d.stop()
    assert not path.exists()


def test_a_hard_reload_ends_connections(daemon, origin, tmp_path):
    port = free_port()
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    server s 127.0.0.1:{origin.port}\n", "-S", tmp_path / "m",
               mode=MASTER)
    with connect(port) as c:
        c.sendall(b"x")
        assert c.recv(1) == b"x"
        assert "Success=1" in ask(tmp_path / "m", "reload")
        old, new = children(d.pid)
        assert re.search(rf"# old workers\n{old} +worker +1 ", ask(tmp_path / "m", "show proc"))
        assert "Success=1" in ask(tmp_path / "m", "hard-reload")
        gone(new)
        # the one before it was told to stop softly
        assert is_running(old)


@pytest.mark.parametrize("level, permitted", [("user", False), ("operator", True)])
def test_levels_of_the_masters_socket(mastered, level, permitted):
    d, path, master = mastered("level", level, "mode", "660")
    assert path.stat().st_mode & 0o777 == 0o660
    assert ("Success=1" in master("reload")) == permitted
    assert ("Permission denied" in master("reload")) != permitted
    only_child(d.pid)


def test_reload_for_service_managers(mastered):
    """tacit --reload PATH: its exit code is the result."""
    d, path, _ = mastered()
    tacit = os.environ.get("TACIT") or BUILD / "tacit"

    def run(where):
        return subprocess.run([tacit, "--reload", where], capture_output=True, text=True, timeout=WAIT, check=False)

    good = run(path)
    assert good.returncode == 0, good
    change(d, "mode http", "mode htpt")
    bad = run(path)
    assert bad.returncode == 1 and "htpt" in bad.stdout
    none = run(f"{path}.none")
    assert none.returncode == 1 and "No such file" in none.stderr
    change(d, "mode htpt", "mode http")
    only_child(d.pid)


@pytest.mark.parametrize("value, why", [("0.0.0.0:8000", "loopback"), ("/tmp/x,mode,9", "mode"), ("/tmp/x,ssl", "ssl"),
                                        ("/tmp/x,level", "level"), ("/nowhere/x", "No such file")])
def test_bad_sockets_of_the_master(cfg_file, value, why):
    r = subprocess.run([os.environ.get("TACIT") or BUILD / "tacit", "-W", "-S", value, "-f", cfg_file(site(free_port()))],
                       capture_output=True, text=True, timeout=WAIT, check=False)
    assert r.returncode == 1
    assert why in r.stderr
    r = subprocess.run([os.environ.get("TACIT") or BUILD / "tacit", "-S", "/tmp/x", "-f", cfg_file(site(free_port()))],
                       capture_output=True, text=True, timeout=WAIT, check=False)
    assert r.returncode == 1 and "needs a master" in r.stderr


# --- under load ---

def test_a_killed_worker_loses_what_was_in_flight(daemon):
    port = free_port()
    d = daemon(site(port), mode=MASTER)
    kinds, kills = ["short"] * 4, 3
    load = Load(port, None, 0, None, kinds)
    try:
        for _ in range(kills):
            load.more(short=60)
            os.kill(only_child(d.pid), signal.SIGKILL)
        load.wait(short=201)
    finally:
        load.stop()
    # no client waits for the next worker in vain: each thread has at most one connection that was accepted
    assert len(load.failed) <= kills * len(kinds), load.failed
    assert all("reset" in f or "IndexError" in f or "AssertionError(b'')" in f for f in load.failed), load.failed
    assert load.done["short"] > 200, load.done
    only_child(d.pid)


def test_clients_in_the_sockets_of_a_killed_worker(daemon):
    """The next one serves them, also those that the kernel defers."""
    port, deferred = free_ports(2)
    d = daemon(site(port) + f"    bind 127.0.0.1:{deferred} defer-accept\n", mode=MASTER, extra="nbthread 1")
    old = only_child(d.pid)
    with stopped_thread(old):
        waiting = [connect(p) for p in (port, deferred) for _ in range(10)]
        os.kill(old, signal.SIGKILL)
        os.waitpid(old, 0)
    for c in waiting:
        with c:
            c.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert b"one" in c.recv(1000)
    assert only_child(d.pid) != old


@pytest.mark.parametrize("workers", [1, 2])
def test_no_client_notices_reloads(daemon, origins, workers):
    size = 8 << 20

    def big(conn):
        if conn.recv(1):
            conn.sendall(b"\0" * size)

    bulk = origins(big)
    port, deferred, bulk_port = free_ports(3)
    d = daemon(site(port) + f"    bind 127.0.0.1:{deferred} defer-accept\n"
               f"listen bulk\n    mode tcp\n    bind 127.0.0.1:{bulk_port}\n    server s 127.0.0.1:{bulk.port}\n",
               mode=MASTER, extra=f"nbthread {workers}")
    inodes = listening_inodes(port)
    load = Load(port, bulk_port, size, deferred)
    try:
        for _ in range(8):
            load.more(short=60, mid_header=1)
            assert reload(d, settle=False)
        load.wait(short=501, download=5, mid_header=7, deferred=11)
    finally:
        load.stop()
    assert not load.failed, (load.failed[:5], len(load.failed), load.done)
    assert load.done["short"] > 500 and load.done["download"] > 4 and load.done["mid_header"] > 6, load.done
    assert load.done["deferred"] > 10, load.done
    assert listening_inodes(port) == inodes
    only_child(d.pid)
