"""Alerts by mail beyond what HAProxy does (test_oracle_mailers.py): several workers, mail servers that fail, lines that are wrong."""

import signal
import socket
import threading

import pytest
from conftest import WAIT, connect, free_port, recv_all, run
from facts import contains, contains_often
from mail_server import GREETING, MailServer
from test_master import MASTER, reload

CFG = """
mailers m
 timeout mail {timeout}
 mailer one 127.0.0.1:{mail}
backend be
 email-alert mailers m
 email-alert from from@a.example
 email-alert to to@b.example
 email-alert level notice
 server s 127.0.0.1:{mail} check inter 1h
frontend f
 bind 127.0.0.1:{port}
 mode http
 http-request return status 200
"""


@pytest.fixture
def mail_server():
    servers = []

    def make(replies=None):
        servers.append(MailServer(free_port(), replies))
        servers[-1].port = servers[-1].sock.getsockname()[1]
        return servers[-1]

    yield make
    for server in servers:
        server.close()


def start(daemon, port, timeout="1m", options="", **kw):
    at = free_port()
    d = daemon(CFG.format(mail=port, port=at, timeout=timeout).replace("inter 1h", f"inter 1h {options}"), **kw)
    d.port = at
    return d


def change(d, times=1):
    for _ in range(times):
        d.admin("set server be/s health down")
        d.admin("set server be/s health up")


def is_served(d):
    with connect(d.port) as c:
        c.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return recv_all(c).startswith(b"HTTP/1.1 200")


def test_several_workers_send_each_alert_once(daemon, mail_server):
    """Twenty alerts, in the order of the events; the name of this host greets."""
    server = mail_server()
    d = start(daemon, server.port, extra=" nbthread 4")
    change(d, 10)
    mails = server.until(20)
    server.until(20, "ends")
    assert [("DOWN" in mail, "UP" in mail) for mail in mails] == [(True, False), (False, True)] * 10
    d.stop()
    assert len(server.mails) == 20 and "mailer" not in d.stderr
    assert {talk[0] for talk in server.talks if talk} == {f"HELO {socket.gethostname()}\r\n"}


def test_a_server_that_is_busy_gets_the_alert_later(daemon, mail_server):
    server = mail_server({"RCPT": "450 greylisted"})
    d = start(daemon, server.port)
    change(d)
    contains(d.stderr_path, "mailers 'm': mailer 'one': an alert cannot be sent, tacit tries again: 450 greylisted.")
    server.replies["RCPT"] = "250 ok"
    assert ["DOWN" in mail for mail in server.until(2)] == [True, False]
    contains(d.stderr_path, "mailer 'one': an alert was sent. Dropped before: 0.")
    assert d.stop() == 0


def test_a_server_that_refuses_is_reported_once(daemon, mail_server):
    server = mail_server({"MAIL": "550 5.7.1 who are you?"})
    d = start(daemon, server.port)
    change(d, 3)
    server.until(6, "talks")
    contains(d.stderr_path, "mailer 'one': an alert is dropped: 550 5.7.1 who are you?.")
    d.stop()
    contains_often(d.stderr_path, "mailer 'one'", 2)
    assert "mailer 'one': alerts that were not sent: 6." in d.stderr


def test_a_reload_sends_no_alert_again(daemon, mail_server):
    """A server that is down over a reload was alerted before; what happens afterwards is alerted. The first check of either process
    succeeds, which is not enough."""
    server = mail_server()
    d = start(daemon, server.port, options="rise 9", mode=MASTER)
    d.admin("set server be/s health down")
    assert ["DOWN" in mail for mail in server.until(1)] == [True]
    server.until(1, "ends")
    assert reload(d)
    assert ",DOWN" in d.admin("show stat be 4 -1")
    d.admin("set server be/s health up")
    assert ["DOWN" in mail for mail in server.until(2)] == [True, False]
    d.stop()
    assert len(server.mails) == 2


class LateServer(MailServer):
    """Greets once may_greet is set."""

    def __init__(self, port, replies=None):
        self.may_greet = threading.Event()
        super().__init__(port, replies)

    def _reply(self, conn, word):
        if word == GREETING:
            self.may_greet.wait(WAIT)
        return super()._reply(conn, word)


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGUSR1])
def test_a_process_that_ends_sends_what_waits(daemon, sig):
    server = LateServer(free_port())
    # The time in which the server may answer stands still.
    d = start(daemon, server.sock.getsockname()[1], clock="stands")
    change(d)
    server.until(1, "talks")
    d.send(sig)
    server.may_greet.set()
    assert ["DOWN" in mail for mail in server.until(2)] == [True, False]
    assert d.wait() == 0
    assert "not sent" not in d.stderr
    server.close()


def test_a_silent_server_costs_requests_nothing(daemon, mail_server):
    """Each try ends after 'timeout mail', and alerts wait."""
    server = mail_server({"greeting": ""})
    d = start(daemon, server.port, timeout="50ms")
    change(d, 20)
    assert all(is_served(d) for _ in range(20))
    server.until(2, "talks")
    contains(d.stderr_path, "tries again: 'timeout mail' has expired.")
    d.stop()
    assert "alerts that were not sent: 40." in d.stderr


def test_a_dead_server_costs_requests_nothing(daemon):
    d = start(daemon, free_port())
    change(d, 20)
    assert all(is_served(d) for _ in range(20))
    contains(d.stderr_path, "tries again: Connection refused.")
    assert d.stop() == 0


TIMES = "defaults\n mode http\n timeout connect 1s\n timeout client 1s\n timeout server 1s\n"
MAILERS = "mailers ops\n mailer one 127.0.0.1:25\n"
ALERTS = " email-alert mailers ops\n email-alert from a@b\n email-alert to c@d\n"
WRONG = [
    ("backend b\n" + ALERTS.replace("ops", "osp"), "there is no section 'mailers osp', which backend 'b' names; did you mean 'ops'?"),
    ("backend b\n email-alert to c@d\n", "'email-alert' : backend 'b' sends no alerts: 'email-alert from' is missing."),
    ("backend b\n" + ALERTS + ' email-alert from "a>\\r\\nRCPT TO:<x"\n', "have no place in a command of SMTP."),
    ("backend b\n" + ALERTS + " email-alert myhostname two words\n", "cannot handle unexpected argument 'words'"),
    ("backend b\n email-alert level loud\n", "'loud' is not one of emerg, alert, crit, err, warning, notice, info, debug."),
    ("frontend f\n bind 127.0.0.1:1\n" + ALERTS, "'email-alert to' has no effect in a frontend: alerts are about servers."),
    ("mailers ops\n", "section 'mailers ops' exists already."),
    ("mailers two\n mailer one 127.0.0.1:25\n mailer one 127.0.0.1:26\n", "'mailer' : 'one' is in this section already."),
    ("mailers two\n mailer one /tmp/x\n", "a unix socket is not acceptable here."),
    ("mailers two\n mailer one 127.0.0.1\n", "'mailer one' : '127.0.0.1' : the port is missing."),
    ("mailers two\n timeout mail 0\n", "timer underflow in argument '0'"),
    ("mailers two\nbackend b\n" + ALERTS.replace("ops", "two"), "section 'mailers two' has no mailer: it sends no alerts."),
    ("", "section 'mailers ops' has no effect: no proxy sends alerts to it."),
]


@pytest.mark.parametrize("lines,message", WRONG)
def test_lines_that_are_wrong(tmp_path, lines, message):
    cfg = tmp_path / "a.cfg"
    cfg.write_text(MAILERS + TIMES + lines)
    assert message in run("-c", "-f", str(cfg)).stderr
