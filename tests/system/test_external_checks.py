"""External checks: commands that the daemon has run by its helper process, and the same in HAProxy."""

import contextlib
import os
import pwd
import re
import signal
import tempfile
from pathlib import Path

import oracle
import pytest
from conftest import WAIT, connect, free_ports, is_alive, recv_all, run
from facts import becomes, children, contains, contains_often, exists, gone
from subject import LogServer
from test_checks import statuses
from test_oracle_checks import words
from test_oracle_stat import Subject

# A server's name decides what its command does.
COMMAND = """\
#!/bin/sh
dir=$(dirname "$0")
case $HAPROXY_SERVER_NAME in
pass*)   exit 0 ;;
fail*)   exit 7 ;;
beat*)   echo >>"$dir/beats" ;;
last*)   exit 255 ;;
killed*) kill -9 $$ ;;
slow*)   echo $$ >>"$dir/slow.pids"; exec sleep 300 ;;
huge*)   head -c 3000000 /dev/zero; exit 0 ;;
forks*)  sleep 3 & exit 0 ;;
file*)   test -e "$dir/up" ;;
told*)   { echo "$@"; env | grep -E '^(HAPROXY_|PATH=)' | sort; } >"$dir/$HAPROXY_SERVER_NAME.tmp"
         mv "$dir/$HAPROXY_SERVER_NAME.tmp" "$dir/$HAPROXY_SERVER_NAME.told" ;;
user*)   id -u >"$dir/id.tmp"; mv "$dir/id.tmp" "$dir/id" ;;
esac
"""
GLOBAL = "external-check\n    insecure-fork-wanted"
# A command may take as long as the interval. A busy machine starts one within a minute.
ONCE = "inter 1m fall 1 rise 1"
# The time between checks is not their limit while a server gains health, or is down.
RISING = "inter 1m fastinter 50ms downinter 50ms init-state fully-down rise 1000"
# A session that fails is followed by a check.
ASKED = "inter 1m fastinter 10ms downinter 50ms fall 1 rise 1 observe layer4 error-limit 1 on-error fastinter"


@pytest.fixture
def command(tmp_path):
    path = tmp_path / "check.sh"
    path.write_text(COMMAND)
    path.chmod(0o755)
    return path


def lines(command, servers, options=ONCE, name="b", more=""):
    """options: of all servers, or by name."""
    of = options if isinstance(options, dict) else {s: options for s in servers}
    return (f"backend {name}\n option external-check\n external-check command {command}\n"
            f" external-check path /usr/bin:/bin\n{more}"
            + "".join(f" server {s} 127.0.0.1:{i + 1} check {of.get(s, ONCE)}\n" for i, s in enumerate(servers)))


def listening(port):
    return f"listen l\n bind 127.0.0.1:{port}\n server s 127.0.0.1:1\n"


def helper_of(d):
    found, = children(d.pid)
    becomes(lambda: Path(f"/proc/{found}/comm").read_text(), "external-check\n")
    return found


def more_beats(command, n):
    """Further checks of a server `beat`, and with them of the others."""
    beats = command.parent / "beats"
    contains_often(beats, "", n + (beats.read_text().count("\n") if beats.exists() else 0) + 1)


def external(daemon, command, servers, extra="", **kw):
    return daemon(listening(*free_ports(1)) + lines(command, servers, **kw), extra="external-check\n    " + extra)


def asked(daemon, command, servers):
    """A daemon, and a function that has the first of the servers, which is up, checked: nobody answers its sessions."""
    port, = free_ports(1)
    d = daemon(f"frontend f\n bind 127.0.0.1:{port}\n default_backend b\n"
               + lines(command, servers, {servers[0]: ASKED}, more=f" retries 0\n use-server {servers[0]} if TRUE\n"),
               extra="external-check")

    def check():
        with connect(port) as c, contextlib.suppress(ConnectionResetError):
            assert recv_all(c) == b""
    return d, check


# --- results ---

def test_up_and_down(daemon, command):
    """The server follows the exit status of its command."""
    d, check = asked(daemon, command, ["file"])
    d.until("server b/file state eq DOWN")
    (command.parent / "up").touch()
    d.until("server b/file state eq UP")
    (command.parent / "up").unlink()
    check()
    d.until("server b/file state eq DOWN")


@pytest.mark.parametrize("workers", [1, 3])
def test_every_end(daemon, command, workers):
    expected = {"pass": "UP", "fail": "DOWN", "killed": "DOWN", "slow": "DOWN", "huge": "UP", "forks": "UP"}
    d = daemon(listening(*free_ports(1)) + lines(command, expected, {"slow": "inter 1s fall 1"}),
               extra=f"external-check\n    nbthread {workers}")
    d.until("server b/slow state eq DOWN")
    for name, state in expected.items():
        d.until(f"server b/{name} state eq {state}")
    assert statuses(d, "b") == expected


def test_a_slow_command_is_killed(daemon, command):
    """By SIGKILL, one at a time: none is left from an earlier check, nor when the daemon has ended."""
    d = external(daemon, command, ["slow"], options="inter 1s downinter 50ms fall 1")
    pids = command.parent / "slow.pids"
    contains_often(pids, "", 5)  # lines, and what is behind the last one
    gone(*map(int, pids.read_text().split()[:-1]))
    helper = helper_of(d)
    d.stop()
    gone(helper, *map(int, pids.read_text().split()))


def test_commands_end_with_a_killed_daemon(daemon, command):
    """Nobody is there to tell the helper but its socket."""
    d = daemon(listening(*free_ports(1)) + lines(command, ["slow"], "inter 1h"), extra="external-check",
               checked=False)
    pids = command.parent / "slow.pids"
    contains(pids, "\n")
    helper, pid = helper_of(d), int(pids.read_text())
    assert is_alive(pid)
    d.kill()
    gone(helper, pid)


def test_commands_that_cannot_be_run(daemon, command):
    """Said once in the daemon's messages; the check ends with HAProxy's status and code."""
    plain = command.parent / "plain"
    plain.write_text("#!/bin/sh\nexit 0\n")
    often = "inter 1m downinter 50ms fall 1"
    d = daemon(listening(*free_ports(1)) + lines("/nonexistent/x", ["a"], often, "missing") + lines(plain, ["b"], often, "plain") +
               lines(command, ["beat"], RISING, "beats"), extra="external-check")
    d.until("server missing/a state eq DOWN", "server plain/b state eq DOWN")
    texts = ("External check of server missing/a: cannot execute /nonexistent/x: No such file or directory.",
             f"External check of server plain/b: cannot execute {plain}: Permission denied.")
    contains(d.stderr_path, *texts)
    more_beats(command, 4)
    assert [d.stderr.count(text) for text in texts] == [1, 1], d.stderr


def test_a_killed_helper_is_reported(daemon, command):
    """Checks end with PROCERR, and it is not started again; the daemon serves on."""
    d, check = asked(daemon, command, ["pass", "slow"])
    d.until("server b/pass state eq UP")
    helper = helper_of(d)
    pids = command.parent / "slow.pids"
    exists(pids)
    os.kill(helper, signal.SIGKILL)
    check()
    d.until("server b/pass state eq DOWN", "server b/slow state eq DOWN")
    becomes(lambda: children(d.pid), [], "no helper")
    contains(d.stderr_path, "External check error, code: -1, info: \"the helper process has ended\"")
    d.until("idle")
    assert d.stderr.count("The helper process of external checks has ended") == 1, d.stderr
    gone(*map(int, pids.read_text().split()))
    assert len(d.fds()) == len(d.base) - 1


def test_a_stopped_helper_blocks_nothing(daemon, command):
    """The daemon answers, checks end in time, and go on when the helper does."""
    d = external(daemon, command, ["pass"], options="inter 2s downinter 50ms fall 1 rise 1")
    d.until("server b/pass state eq UP")
    helper = helper_of(d)
    os.kill(helper, signal.SIGSTOP)
    d.until("server b/pass state eq DOWN")
    os.kill(helper, signal.SIGCONT)
    d.until("server b/pass state eq UP")


def test_more_commands_than_are_allowed(daemon, command):
    """300 servers with 128 places: all are checked in the end."""
    names = [f"pass{i}" for i in range(300)]
    d = external(daemon, command, names, "max-spread-checks 100ms", options="inter 1h", more=" default-server init-addr none\n")
    d.until(*(f"counter b/{name}/check_status eq PROCOK" for name in names), limit=6 * WAIT)
    assert set(statuses(d, "b").values()) == {"UP"}


# --- the helper ---

def test_no_helper_without_external_checks(daemon, command):
    d = daemon(listening(*free_ports(1)) + "backend b\n server s 127.0.0.1:1 check\n", extra="external-check")
    assert children(d.pid) == []


def test_signals_of_the_group_do_not_end_the_helper(daemon, command):
    d = external(daemon, command, ["beat"], options=RISING)
    helper = helper_of(d)
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP, signal.SIGPIPE):
        os.kill(helper, sig)
    more_beats(command, 2)
    assert helper_of(d) == helper


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_commands_run_as_the_user_of_the_daemon(daemon):
    """Not in its chroot. Other users cannot enter pytest's directories."""
    nobody = pwd.getpwnam("nobody")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o777)
        command = directory / "check.sh"
        command.write_text(COMMAND)
        command.chmod(0o755)
        (directory / "jail").mkdir()
        d = daemon(listening(*free_ports(1)) + lines(command, ["user"]),
                   extra=f"external-check\n    uid {nobody.pw_uid}\n    gid {nobody.pw_gid}\n    chroot {directory}/jail",
                   env={"ASAN_OPTIONS": "detect_leaks=0"})  # it needs /proc
        contains(directory / "id", "\n")
        assert (directory / "id").read_text() == f"{nobody.pw_uid}\n"
        status = Path(f"/proc/{helper_of(d)}/status").read_text()
        assert re.search(rf"^Uid:\t{nobody.pw_uid}\t{nobody.pw_uid}\t", status, re.MULTILINE)
        assert re.search(r"^NoNewPrivs:\t1$", status, re.MULTILINE)
        d.stop()


def test_in_the_background(tmp_path, command):
    """The helper does not hold the streams that the daemon was started with: run() would wait for their end."""
    port, = free_ports(1)
    (tmp_path / "t.cfg").write_text(f"global\n external-check\n set-dumpable\n pidfile {tmp_path}/pid\ndefaults\n timeout client 1s\n"
                                    " timeout server 1s\n timeout connect 1s\n" + listening(port) + lines(command, ["file"]))
    assert run("-D", "-f", tmp_path / "t.cfg").returncode == 0
    pid = int((tmp_path / "pid").read_text())
    try:
        helper, = children(pid)
        assert [os.readlink(f"/proc/{helper}/fd/{n}") for n in (0, 1, 2)] == ["/dev/null"] * 3
        # The helper opens the last two once it runs.
        becomes(lambda: sorted(os.listdir(f"/proc/{helper}/fd"), key=int), ["0", "1", "2", "3", "4", "5"])
    finally:
        os.kill(pid, signal.SIGTERM)
    gone(pid, helper)


# --- as HAProxy does it ---

def played(program, directory, cfg, is_done, also=lambda subject: None):
    directory.mkdir()
    log = LogServer()
    try:
        subject = Subject(program, directory, f" {GLOBAL}\n max-spread-checks 500ms\n log 127.0.0.1:{log.port} local0\ndefaults\n"
                          " log global\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n" + cfg)
        try:
            becomes(lambda: is_done(subject), True, "HAProxy and tacit to have checked")
            rows, extra = subject.stat()[1], also(subject)
        finally:
            subject.stop()
        return [words(line) for line in log.drain() if " stopped (cumulated conns: " not in line], rows, extra
    finally:
        log.close()


def test_words_of_haproxy(tmp_path, command):
    """Columns and log lines of each end of a command. Each server has a backend of its own: no line depends on
    another one's."""
    servers = {"pass": "UP", "fail": "DOWN", "last": "DOWN", "killed": "DOWN", "slow": "DOWN", "huge": "UP", "missing": "DOWN"}
    cfg = listening(*free_ports(1))
    for name in servers:
        for health in ("", " option log-health-checks\n"):
            cfg += lines("/nonexistent" if name == "missing" else command, [name], name=name + ("h" if health else ""),
                         options=f"inter {'3s' if name == 'slow' else '1m'} fall 1", more=health)
    columns = ("status", "check_status", "check_code", "check_desc", "last_chk", "chkfail", "chkdown", "check_rise",
               "check_fall", "check_health")

    def is_done(subject):
        rows = subject.stat()[1]
        return all(rows[name + h, name]["status"] == status and "INI" not in rows[name + h, name]["check_status"]
                   for name, status in servers.items() for h in ("", "h"))

    def play(program):
        log, rows, _ = played(program, oracle.at(tmp_path, program), cfg, is_done)
        return {name + h: ([line for line in log if re.search(f" {name}{h}[/ ]", line)],
                           [rows[name + h, name][c].removeprefix("* ") for c in columns])
                for name in servers for h in ("", "h")}

    theirs, ours = oracle.both(play)
    for name in ("missing", "missingh"):  # said in words, too
        ours[name] = ([line for line in ours[name][0] if "cannot execute" not in line], ours[name][1])
    assert oracle.differences(theirs, ours) == []
    assert {name for name, row in theirs.items() if not row[0]} == {"pass", "huge"}


def test_arguments_and_environment(tmp_path, command):
    """Arguments of the command for each kind of proxy and server."""
    ports = free_ports(5)
    check = (f" option external-check\n external-check command {command}\n external-check path /usr/bin:/bin\n")
    cfg = (f"listen l1\n bind 127.0.0.1:{ports[0]}\n{check} server told1 127.0.0.1:7001 check inter 1m maxconn 7\n"
           f"listen l2\n mode http\n bind {tmp_path}/l.sock\n{check} server told2 [::1]:7001 check inter 1m id 77\n"
           f"listen l3\n id 99\n bind :::{ports[1]}\n bind 127.0.0.1:{ports[2]}\n{check}"
           f" server told3 /run/x.sock check inter 1m\n"
           f"listen l4\n bind abns@tacit-{ports[3]}\n{check} server told4 abns@x check inter 1m\n"
           f"backend b5\n{check} server told5 127.0.0.1:7002 check inter 1m port 8888 addr 127.0.0.5\n"
           f"frontend f\n bind :{ports[4]}\n default_backend b6\n"
           f"backend b6\n mode tcp\n option external-check\n external-check command {command}\n"
           f" external-check path /bin:/usr/bin\n server told6 *:0 check port 5 inter 1m\n")
    names = [f"told{i}" for i in range(1, 7)]

    def printed(_):
        text = {n: (command.parent / f"{n}.told").read_text() for n in names}
        return {n: re.sub("|".join(map(str, ports)), lambda m: f"PORT{ports.index(int(m[0]))}", t) for n, t in text.items()}

    def play(program):
        for n in names:
            (command.parent / f"{n}.told").unlink(missing_ok=True)
        return played(program, oracle.at(tmp_path, program), cfg,
                      lambda _: all((command.parent / f"{n}.told").exists() for n in names), printed)[2]

    assert oracle.same(play)["told1"].startswith("127.0.0.1 PORT0 127.0.0.1 7001\n")


def test_configurations(tmp_path):
    """Both reject what lacks a permission or a command, in the same words."""
    front = "frontend f\n bind 127.0.0.1:1999\n default_backend b\n"
    times = "defaults\n timeout client 1s\n timeout server 1s\n timeout connect 1s\n"
    allowed = f"global\n {GLOBAL}\n"
    option = " option external-check\n"
    for i, text in enumerate((
                 times + front + "backend b\n" + option + " external-check command /bin/true\n",
                 allowed + times + front + "backend b\n" + option,
                 times + front + "backend b\n" + option,
                 allowed + times + front + "backend b\n" + option + " external-check command true\n",
                 allowed + times + front + "backend b\n" + option + " external-check command true\n external-check path /bin\n",
                 allowed + times + option + " external-check command /bin/true\n" + front + "backend b\n server s :1 check\n",
                 times + front + "backend b\n external-check command /bin/true\n external-check path /bin\n")):
        path = tmp_path / "t.cfg"
        path.write_text(text)

        def play(program):
            done = run("-c", "-f", path, program=program)
            return done.returncode, [line.split(" : ", 1)[-1].strip() for line in re.findall(r"[^:]*external-check.*", done.stderr)]

        (their_code, theirs), (our_code, _) = oracle.both(play, name=str(i), script=text)
        assert our_code == their_code, text
        assert theirs or their_code == 0
        printed = oracle.plain(run("-c", "-f", path).stderr)
        for line in theirs:
            if "insecure-fork-wanted" not in line:  # the helper needs no such permission
                assert line in printed, (line, printed)
