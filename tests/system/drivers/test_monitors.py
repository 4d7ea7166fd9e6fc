"""Programs that watch HAProxy run unchanged: Debian's plug-ins for munin, checks for nagios, hatop and the exporter for
Prometheus."""

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
import urllib.request

import pytest
from programs import debian, environment, run
from clients import get
from conftest import free_port
from facts import LIMIT, Seen, listens
from subject import only_tacit

pytestmark = only_tacit
PLUGINS = "/usr/share/munin/plugins"
# The bytes that a terminal sends for these keys.
UP, END, F4, F7, F9, F10 = "\x1bOA", "\x1bOF", "\x1bOS", "\x1b[18~", "\x1b[20~", "\x1b[21~"
CHECKS = "/usr/lib/nagios/plugins"
CFG = """\
userlist watchers
    user munin insecure-password secret
listen stats
    mode http
    bind 127.0.0.1:{stats}
    stats enable
    stats uri /haproxy-status
    acl known http_auth(watchers)
    stats http-request auth unless known
frontend web
    mode http
    bind 127.0.0.1:{port}
    default_backend app
    http-request return status 200 content-type text/plain string one if {{ path /own }}
backend app
    mode http
    http-request return status 200 content-type text/plain string one
    server one 127.0.0.1:1 weight 10
    server two 127.0.0.1:2 weight 20 disabled
"""


@pytest.fixture
def site(daemon):
    """A process that has served three requests, and the address of its statistics."""
    port, stats = free_port(), free_port()
    d = daemon(CFG.format(port=port, stats=stats))
    assert [get(port) for _ in range(3)] == ["one"] * 3
    d.until("sessions eq 0")
    return d, f"127.0.0.1:{stats}/haproxy-status"


def munin(tmp_path, plugin, url, *args):
    """The lines of a plug-in by name; it is called by the name of a link, as munin-node does."""
    link = tmp_path / plugin
    if not link.exists():
        link.symlink_to(debian(f"{PLUGINS}/{plugin.replace('_backend', '_')}"))
    env = environment(MUNIN_LIBDIR="/usr/share/munin", MUNIN_PLUGSTATE=str(tmp_path), MUNIN_STATEFILE=str(tmp_path / "state"),
                      MUNIN_CAP_MULTIGRAPH="1", url=url)
    return run("perl", link, *args, env=env).splitlines()


def test_munin(site, tmp_path):
    _, address = site
    url = f"http://munin:secret@{address};csv;norefresh"
    # In the order of a hash of Perl.
    assert sorted(munin(tmp_path, "haproxy_backend", url)) == ["sone.value 0", "stwo.value 0"]
    shown = munin(tmp_path, "haproxy_backend", url, "config")
    assert "sone.label one" in shown and "stwo.label two" in shown


def test_munin_multigraph(site, tmp_path):
    _, address = site
    url = f"http://munin:secret@{address};csv;norefresh"
    graphs = [line for line in munin(tmp_path, "haproxy_ng", url, "config") if line.startswith("multigraph ")]
    assert "multigraph HAPBandwidthBack.app" in graphs and "multigraph HAPBandwidthFront" in graphs
    values = munin(tmp_path, "haproxy_ng", url)
    wrong = [line for line in values if re.search(r"\.value ", line) and not re.search(r"\.value (-?\d+(\.\d+)?|U)$", line)]
    assert not wrong and sum(".value " in line for line in values) > 30, values


def test_nagios_of_the_page(site):
    _, address = site
    args = ("-u", f"http://{address};csv", "-U", "munin", "-P", "secret")
    text = run("perl", debian(f"{CHECKS}/check_haproxy"), *args)
    assert re.match(r"HAPROXY OK -  ?app \(Active: 0/2\) \| t=[0-9.]+s;2;10;0;", text), text
    assert "401" in run("perl", f"{CHECKS}/check_haproxy", *args[:2], code=2)


@pytest.mark.parametrize("by", ["socket", "page"])
def test_nagios(site, by):
    d, address = site
    args = ("-s", d.sock) if by == "socket" else ("-U", f"http://{address};csv", "-u", "munin", "-x", "secret")
    check = debian(f"{CHECKS}/check_haproxy_stats")
    assert "CRITICAL - server: app:two is MAINT" in run("perl", check, *args, code=2)
    assert "OK - checked 4 proxies" in run("perl", check, *args, "-m")
    assert d.admin("enable server app/two") == "\n"
    assert "OK - checked 4 proxies" in run("perl", check, *args)


class Screen:
    """hatop in a terminal of 160 by 40."""

    def __init__(self, sock):
        self.fd, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
        self.proc = subprocess.Popen([debian("/usr/bin/hatop"), "-s", sock], env=environment(TERM="xterm"),
                                     stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
        os.close(terminal)
        self.seen = Seen()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        with contextlib.suppress(OSError):
            while True:
                self.seen.append(os.read(self.fd, 65536).decode(errors="replace"))

    def until(self, *words):
        """Waits until these words are written."""
        self.seen.until(lambda seen: all(word in "".join(seen) for word in words), words)

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def ends(self):
        return self.proc.wait(LIMIT)

    def close(self):
        self.proc.kill()
        self.proc.wait(LIMIT)
        self.reader.join()
        os.close(self.fd)


@pytest.fixture
def screen(site):
    s = Screen(site[0].sock)
    yield s
    s.close()


def test_hatop(site, screen):
    d, _ = site
    screen.until("BACKEND", "app", "MAINT")
    # The last row but two is a server: its weight is 1 more and it is disabled; then both are what they were.
    screen.press(END + UP + UP + F7 + F10)
    d.until("server app/one state eq MAINT")
    assert d.admin("get weight app/one") == "11 (initial 10)\n\n"
    screen.press(F4 + F9)
    d.until("server app/one state eq UP")
    assert d.admin("get weight app/one") == "10 (initial 10)\n\n"
    # Its command line.
    screen.press("5set weight app/one 3\rget weight app/one\r")
    screen.until("3 (initial 10)")
    screen.press("\x1bq")
    assert screen.ends() == 0


@pytest.fixture
def exporter(site):
    d, _ = site
    port = free_port()
    p = subprocess.Popen([debian("/usr/bin/prometheus-haproxy-exporter"), f"--web.listen-address=127.0.0.1:{port}",
                          f"--haproxy.scrape-uri=unix:{d.sock}"], stderr=subprocess.DEVNULL)
    listens(port)
    yield port
    p.kill()
    p.wait()


def test_prometheus_haproxy_exporter(site, exporter):
    with urllib.request.urlopen(f"http://127.0.0.1:{exporter}/metrics", timeout=LIMIT) as response:
        text = response.read().decode()
    rows = set(text.split("\n"))
    assert {"haproxy_up 1", 'haproxy_server_up{backend="app",server="one"} 1', 'haproxy_server_up{backend="app",server="two"} 0',
            'haproxy_frontend_http_requests_total{frontend="web"} 3', 'haproxy_exporter_csv_parse_failures_total 0'} <= rows, text
