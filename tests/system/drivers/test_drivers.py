"""Programs that drive HAProxy by its socket or read its logs run unchanged against tacit: PyPI's in build/drivers/tools, and
Debian's goaccess and awstats."""

import json
import re
import sys

import pytest
from programs import debian, environment, run
from programs import pypi as path_of
from clients import get
from conftest import free_port
from subject import LogServer, only_tacit

pytestmark = only_tacit
ENV = environment("tools")
CFG = """\
frontend web
    mode http
    bind 127.0.0.1:{port}
    log 127.0.0.1:{log} local0 info
    option httplog
    default_backend app
backend app
    mode http
    http-request return status 200 content-type text/plain string one
    server one 127.0.0.1:1 weight 10
    server two 127.0.0.1:2 weight 20 disabled
"""


def pypi(name, *args):
    return run(sys.executable, path_of("tools", f"bin/{name}"), *args, env=ENV)


@pytest.fixture
def site(daemon):  # noqa: F811
    """A process with a site, its port and its log."""
    log, port = LogServer(), free_port()
    d = daemon(CFG.format(port=port, log=log.port))
    yield d, port, log
    log.close()


@pytest.fixture
def lines(site, tmp_path):
    """A log file of 12 requests, as rsyslog writes it."""
    _, port, log = site
    for _ in range(12):
        assert get(port) == "one"
    path = tmp_path / "haproxy.log"
    path.write_text("".join(f"Nov 28 12:00:00 host haproxy[7]: {line}\n" for line in log.wait(12)))
    return path


def state(d, server):
    rows = [line.split(",") for line in d.admin("show stat").split("\n") if line.startswith(f"app,{server},")]
    return rows[0][17], rows[0][18]


HAPROXYADMIN = """
import sys
from haproxyadmin import haproxy
from haproxyadmin.server import STATE_DISABLE, STATE_DRAIN, STATE_ENABLE
h = haproxy.HAProxy(socket_file=sys.argv[1])
print([f.name for f in h.frontends()], [b.name for b in h.backends()], sorted(s.name for s in h.servers()))
one = h.server("one", backend="app")[0]
for change in (STATE_DRAIN, STATE_DISABLE, STATE_ENABLE):
    one.setstate(change)
    print(one.status)
print(one.weight, one.setweight(7), one.weight)
one.address = "127.0.0.9"
one.port = 99
print(one.address, one.port)
print(h.frontend("web").requests, h.version.split("-")[0], h.processids)
h.setmaxconn(77)
print(h.maxconn)
"""


def test_haproxyadmin(site):
    d, port, _ = site
    path_of("tools", "haproxyadmin")
    assert get(port) == "one"
    printed = run(sys.executable, "-c", HAPROXYADMIN, d.sock, env=ENV).splitlines()
    assert printed == ["['web'] ['app'] ['one', 'two']", "DRAIN", "MAINT", "no check", "10 True 7", "127.0.0.9 99", f"1 3.0.0 ['{d.pid}']", "77"]
    assert state(d, "one") == ("no check", "7")


def test_haproxytool(site):
    d, _, _ = site

    def tool(*args):
        return pypi("haproxytool", *args[:1], "-F", d.sock, *args[1:])

    assert "app" in tool("backend", "--show") and "web" in tool("frontend", "--show")
    assert re.search(r"app\s+two\s+MAINT", tool("server", "--status", "two"))
    assert tool("server", "--ready", "--backend=app", "two") == "two set to ready in app backend\n"
    assert "5" in tool("server", "--weight", "5", "--backend=app", "two")
    assert state(d, "two") == ("no check", "5")
    assert "two set to maintenance" in tool("server", "--force", "--maintenance", "--backend=app", "one", "two")
    assert (state(d, "one")[0], state(d, "two")[0]) == ("MAINT", "MAINT")


def test_haproxy_cli(site):
    d, _, _ = site

    def cli(command, *args):
        return pypi("haproxy-cli", "-k", d.sock, "-c", command, *args)

    assert f"Pid: {d.pid}" in cli("info")
    assert cli("frontends").split() == ["web"] and cli("backends").split() == ["app"]
    assert "one" in cli("servers", "-b", "app")
    assert "10 (initial 10)" in cli("get-weight", "-b", "app", "-s", "one")
    cli("disable", "-b", "app", "-s", "one")
    assert state(d, "one")[0] == "MAINT"
    cli("enable", "-b", "app", "-s", "one")
    cli("set-weight", "-b", "app", "-s", "one", "-w", "3")
    assert state(d, "one") == ("no check", "3")


def test_haproxy_log_analysis(lines):
    printed = pypi("haproxy_log_analysis", "-l", lines, "-c", "counter,http_methods,status_codes_counter", "--json")
    found = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    assert found == [{"COUNTER": 12}, {"HTTP_METHODS": [{"GET": 12}]}, {"STATUS_CODES_COUNTER": [{"200": 12}]}]


def test_goaccess(lines, tmp_path):
    out = tmp_path / "report.json"
    form = '%^ %^ %^ %^ %^[%^]: %h:%^ [%d:%t.%^] %^ %^ %^/%^/%^/%^/%L %s %b %^ %^ %^ %^ %^ "%r"'
    run(debian("/usr/bin/goaccess"), lines, "--no-global-config", "--log-format", form, "--date-format", "%d/%b/%Y", "--time-format", "%H:%M:%S", "-o", out)
    general = json.loads(out.read_text())["general"]
    assert (general["total_requests"], general["valid_requests"], general["failed_requests"]) == (12, 12, 0)


def test_awstats(lines, tmp_path):
    (tmp_path / "awstats.site.conf").write_text(f"""\
LogFile="{lines}"
LogType=W
LogFormat="%other %other %other %other %other %host %time1 %other %other %other %code %bytesd %other %other %other %other %other %methodurl"
LogSeparator=" "
SiteDomain="site"
DNSLookup=0
DirData="{tmp_path}"
""")
    # awstats wants the client without a port
    lines.write_text(re.sub(r": 127\.0\.0\.1:\d+ ", ": 127.0.0.1 ", lines.read_text()))
    printed = run("perl", debian("/usr/lib/cgi-bin/awstats.pl"), "-config=site", f"-configdir={tmp_path}", "-update")
    assert "Found 0 corrupted records" in printed and "Found 12 new qualified records" in printed, printed
