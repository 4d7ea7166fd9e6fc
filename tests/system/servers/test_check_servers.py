"""Every built-in health check against the server that it was made for: an nginx, a Redis, an OpenSMTPD, a slapd, a MariaDB, a
PostgreSQL of Debian, each an ordinary process on a free port of 127.0.0.1 with its data in the directory of its test.
tacit and HAProxy check it at the same time: both see it UP, then DOWN when it is stopped, in the same words.

In `make check` what is not installed is skipped, and so are the servers that take seconds to make their data;
`make all-servers` (CI) installs and runs all of them."""

import atexit
import contextlib
import functools
import glob
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import oracle
import pytest
from conftest import TACIT, WAIT, free_ports, is_open, wait_for
from subject import LogServer
from test_oracle_checks import words
from test_oracle_stat import Subject

ALL = os.environ.get("TACIT_SERVERS") == "all"
START = 6 * WAIT
COLUMNS = ("status", "check_status", "check_code", "check_desc", "last_chk", "check_rise", "check_fall", "check_health")

# A self-signed certificate and its key, for localhost.
CERTIFICATE = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgb8iF8QDiYludqkmg
ypw/YTDbhVFdht2CH8bVxJvqkvShRANCAARI7Hg0uqchKe19oBm3q+g2prN52v/s
McAx6eInT/R4PlYtWP6RKnVnFk1Kz6imxmECX24cpeK3SBbipmHe9OAg
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUGZC4El75MSFx7rF0N4dDxLAaLb0wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzE4NTExOVoYDzIxMjYxMDMw
MTg1MTE5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARI7Hg0uqchKe19oBm3q+g2prN52v/sMcAx6eInT/R4PlYtWP6RKnVn
Fk1Kz6imxmECX24cpeK3SBbipmHe9OAgo1MwUTAdBgNVHQ4EFgQUTbpKv2boJSqR
ZZfQV9Z3OiKUWLUwHwYDVR0jBBgwFoAUTbpKv2boJSqRZZfQV9Z3OiKUWLUwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiBjr+reGmO+efGfzNyKiCyk
yxhAxXFKUzPMKnd9v2us1gIhANDELPGY3n+z8922sk7K1EpinTz7XPCFq/sB86XQ
avOe
-----END CERTIFICATE-----
"""

NGINX = """\
daemon off;
master_process off;
pid {dir}/pid;
error_log {dir}/error.log;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    server {{
        listen 127.0.0.1:{port}{ssl};
        ssl_certificate {dir}/pem;
        ssl_certificate_key {dir}/pem;
        location /health {{ return {status}; }}
    }}
}}
"""

HAPROXY_CFG = """\
defaults
    mode http
    timeout connect 1m
    timeout client 1m
    timeout server 1m
frontend f
    bind 127.0.0.1:{port}{ssl}
    monitor-uri /alive
    http-request return status 200 content-type text/plain string ready if {{ path /ready }}
    http-request deny
"""

MARIADB = ["--skip-log-bin", "--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M", "--skip-name-resolve",
           "--max-connect-errors=1000000", "--bind-address=127.0.0.1"]
POSTGRES = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off", "shared_buffers": "1MB",
            "max_wal_senders": "0"}


def program(name, *places):
    """Its path; without it the test is skipped, unless all have to run."""
    found = shutil.which(name, path=os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin", *places]))
    if not found and ALL:
        pytest.fail(f"{name} is not installed")
    return found or pytest.skip(f"{name} is not installed")


def needs_root():
    if os.geteuid() != 0:
        pytest.skip("needs root: it starts as another user")


@contextlib.contextmanager
def running(command, port, directory, **popen):
    """Started, and listening; ended by its own pid."""
    with open(directory / "said", "wb") as reported:
        proc = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=reported, stderr=reported, cwd=directory, **popen)
    try:
        assert wait_for(lambda: is_open(port) or proc.poll() is not None, START, 0.05) and proc.poll() is None, \
            (directory / "said").read_text(errors="replace")
        yield proc
    finally:
        stop(proc)


def stop(proc):
    if proc.poll() is None:
        proc.terminate()
        try:
            proc.wait(WAIT)
        except subprocess.TimeoutExpired:
            proc.kill()
            proc.wait(WAIT)


# --- the servers: each a command ---

def nginx(directory, port, ssl="", status=204):
    (directory / "pem").write_text(CERTIFICATE)
    (directory / "nginx.conf").write_text(NGINX.format(dir=directory, port=port, ssl=ssl, status=status))
    return [program("nginx"), "-c", str(directory / "nginx.conf")], {}


def nginx_ssl(directory, port):
    return nginx(directory, port, " ssl")


def haproxy(directory, port, ssl=""):
    (directory / "pem").write_text(CERTIFICATE)
    (directory / "h.cfg").write_text(HAPROXY_CFG.format(port=port, ssl=ssl.format(dir=directory)))
    return [program("haproxy"), "-db", "-f", str(directory / "h.cfg")], {}


def haproxy_ssl(directory, port):
    return haproxy(directory, port, " ssl crt {dir}/pem alpn http/1.1 strict-sni")


def redis(directory, port):
    return [program("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(directory),
            "--daemonize", "no"], {}


def smtpd(directory, port):
    path = program("smtpd")
    needs_root()
    (directory / "smtpd.conf").write_text(f"listen on 127.0.0.1 port {port}\naction out relay\n"
                                          "match from local for local action out\n")
    return [path, "-d", "-f", str(directory / "smtpd.conf")], {}


def slapd(directory, port):
    (directory / "slapd.conf").write_text(f"pidfile {directory}/pid\nargsfile {directory}/args\n")
    return [program("slapd"), "-d", "0", "-h", f"ldap://127.0.0.1:{port}", "-f", str(directory / "slapd.conf")], {}


def prepare(command, **popen):
    done = subprocess.run(command, capture_output=True, text=True, timeout=START, check=False, **popen)
    assert done.returncode == 0, done.stdout + done.stderr


def mariadb(directory, port):
    path = program("mariadbd")
    data = directory / "data"
    # Without a password, as the manual has it.
    (directory / "users").write_text("CREATE USER IF NOT EXISTS 'haproxy'@'127.0.0.1';\n")
    owner = f"--user={'root' if os.geteuid() == 0 else os.getlogin()}"
    prepare([program("mariadb-install-db"), "--no-defaults", owner, f"--datadir={data}", "--skip-test-db", *MARIADB[:3]])
    return [path, "--no-defaults", owner, f"--datadir={data}", f"--port={port}", f"--socket={directory}/s",
            f"--pid-file={directory}/pid", f"--init-file={directory}/users", *MARIADB], {}


@functools.cache
def home():
    """A directory that other users can enter. Those of pytest are closed to them each time that a pytest begins, any of root's."""
    made = tempfile.TemporaryDirectory(prefix="tacit-servers-")
    atexit.register(made.cleanup)
    Path(made.name).chmod(0o711)
    return Path(made.name)


def postgres(_directory, port):
    """Starts PostgreSQL, which refuses to run as root."""
    places = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    initdb, path = program("initdb", *places), program("postgres", *places)
    popen = {}
    if os.geteuid() == 0:
        popen = {"user": "nobody", "group": "nogroup", "extra_groups": []}
    data = home() / str(port)
    data.mkdir(mode=0o700)
    if popen:
        shutil.chown(data, "nobody", "nogroup")
    prepare([initdb, "-D", str(data), "-A", "trust", "-U", "postgres", "-N", "--no-locale"], cwd="/", **popen)
    options = [word for name, value in POSTGRES.items() for word in ("-c", f"{name}={value}")]
    return [path, "-D", str(data), "-p", str(port), *options], popen


LIGHT = [
    ("httpchk", nginx, " mode http\n option httpchk GET /health", "L7OK"),
    ("httpchk-head", nginx, " mode http\n option httpchk HEAD /health HTTP/1.1\n http-check send hdr Host localhost", "L7OK"),
    ("httpchk-404", nginx, " mode http\n option httpchk GET /elsewhere", "L7STS"),
    ("httpchk-tls", nginx_ssl, " mode http\n option httpchk GET /health", "L7STS"),
    ("ssl-hello-chk", nginx_ssl, " option ssl-hello-chk", "L6OK"),
    ("ssl-hello-chk-plain", nginx, " option ssl-hello-chk", "L6RSP"),
    ("connect-ssl", nginx_ssl, " option tcp-check\n tcp-check connect ssl", "L6OK"),
    ("connect-ssl-plain", nginx, " option tcp-check\n tcp-check connect ssl comment secure", "L6RSP"),
    ("http-check-ssl", nginx_ssl, " mode http\n option httpchk\n http-check connect ssl alpn http/1.1\n"
     " http-check send meth GET uri /health\n http-check expect status 204", "L7OK"),
    ("haproxy-monitor", haproxy, " mode http\n option httpchk GET /alive", "L7OK"),
    ("haproxy-denies", haproxy, " mode http\n option httpchk GET /elsewhere", "L7STS"),
    ("haproxy-string", haproxy, " mode http\n option httpchk GET /ready\n http-check expect string ready", "L7OK"),
    ("haproxy-sni", haproxy_ssl, " option tcp-check\n tcp-check connect ssl sni localhost", "L6OK"),
    ("haproxy-without-sni", haproxy_ssl, " option tcp-check\n tcp-check connect ssl", "L6RSP"),
    ("redis-check", redis, " option redis-check", "L7OK"),
    ("smtpchk", smtpd, " option smtpchk", "L7OK"),
    ("smtpchk-ehlo", smtpd, " option smtpchk EHLO localhost", "L7OK"),
]
HEAVY = [
    ("ldap-check", slapd, " option ldap-check", "L7OK"),
    ("mysql-check", mariadb, " option mysql-check", "L7OK"),
    ("mysql-check-user", mariadb, " option mysql-check user haproxy", "L7OK"),
    ("mysql-check-nobody", mariadb, " option mysql-check user somebody", "L7STS"),
    ("mysql-check-pre-41", mariadb, " option mysql-check user haproxy pre-41", "L7OK"),
    ("pgsql-check", postgres, " option pgsql-check user postgres", "L7OK"),
    # Any answer of its protocol will do, also the error that there is no such user.
    ("pgsql-check-nobody", postgres, " option pgsql-check user somebody", "L7OK"),
]


CONFIG = """\
 log 127.0.0.1:{log} local0
defaults
 log global
 timeout connect 1m
 timeout client 1m
 timeout server 1m
 timeout check 1m
frontend f
 {mode}
 bind 127.0.0.1:{own}
 default_backend b
backend b
{lines}
 option log-health-checks
 server s 127.0.0.1:{port} check inter 300ms rise 1 fall 1 verify none
"""


class Checker:
    """tacit or HAProxy, and what it logs."""

    def __init__(self, path, directory, lines, port):
        directory.mkdir()
        mode = "mode http" if "mode http" in lines else "mode tcp"
        self.log = LogServer()
        try:
            self.subject = Subject(path, directory, CONFIG.format(log=self.log.port, mode=mode, own=free_ports(1)[0],
                                                                  lines=lines, port=port))
        except BaseException:
            self.log.close()
            raise

    def row(self):
        row = self.subject.stat()[1]["b", "s"]
        return {c: row[c] for c in COLUMNS}

    def lines(self):
        return [words(line) for line in self.log.drain() if "b/s" in line]

    def stop(self):
        self.subject.stop()
        self.log.close()


def rows_when(checkers, is_there):
    """{name: its columns} once this holds for each."""
    found = {}

    def read():
        found.update({name: c.row() for name, c in checkers.items()})
        return all(is_there(row) for row in found.values())
    assert wait_for(read, 2 * WAIT, 0.05), found
    return found


def is_settled(row):
    """A check is over, and none is running."""
    return row["check_status"] not in ("INI", "") and "*" not in row["check_status"]


def assert_same(rows):
    """HAProxy logs the version of a MySQL and the answer of an LDAP server that are up, but does not show them. Of a
    server that refuses it may say that a handshake failed, which has not begun."""
    ours, theirs = dict(rows["tacit"]), dict(rows["haproxy"])
    if theirs["check_status"] == "L4CON":
        theirs["last_chk"] = theirs["last_chk"].replace("SSL handshake failure (Connection refused)", "Connection refused")
    if not theirs["last_chk"]:
        ours["last_chk"] = ""
    assert ours == theirs


@oracle.live("it checks the same server at the same time")
@pytest.mark.parametrize("server,lines,expected", [
    pytest.param(*row[1:], id=row[0],
                 marks=[pytest.mark.skipif(not ALL, reason="takes seconds: make all-servers")] * (row in HEAVY))
    for row in LIGHT + HEAVY])
def test_both_see_it_up_and_down(tmp_path, server, lines, expected):
    port, = free_ports(1)
    here = tmp_path / "server"
    here.mkdir()
    command, popen = server(here, port)
    with contextlib.ExitStack() as stack:
        proc = stack.enter_context(running(command, port, here, **popen))
        checkers = {}
        for name, path in (("tacit", TACIT), ("haproxy", oracle.HAPROXY)):
            checkers[name] = Checker(path, tmp_path / name, lines, port)
            stack.callback(checkers[name].stop)
        rows = rows_when(checkers, is_settled)
        assert_same(rows)
        up = "UP" if expected in ("L7OK", "L6OK") else "DOWN"
        assert (rows["tacit"]["status"], rows["tacit"]["check_status"]) == (up, expected), rows["tacit"]
        reported = {name: c.lines() for name, c in checkers.items()}
        assert reported["tacit"] == reported["haproxy"] and reported["tacit"]
        stop(proc)
        rows = rows_when(checkers, lambda row: row["check_status"] == "L4CON")
        assert_same(rows)
        assert rows["tacit"]["status"] == "DOWN"
