"""Alerts by mail: what HAProxy and tacit tell a mail server when servers change, and which changes are no alert."""

import contextlib
import re

import oracle
from conftest import free_ports
from mail_server import MailServer
from oracle import Subject

CFG = """mailers m
 timeout mail 1m
 mailer one 127.0.0.1:{mail}
{more}
defaults
 mode http
 timeout connect 1m
 timeout client 1m
 timeout server 1m
 email-alert mailers m
 email-alert from from@a.example
 email-alert to to@b.example
 email-alert myhostname here.example
 email-alert level {level}
backend be
 {lines}
 server s1 127.0.0.1:{up} check inter 1h
 server s2 127.0.0.1:{up} track be/s1
 server sb 127.0.0.1:{up} check inter 1h backup
listen li
 bind 127.0.0.1:{port}
 server only 127.0.0.1:{up} check inter 1h
"""


@contextlib.contextmanager
def started(tmp_path, program, level="notice", replies=None, lines="", more=""):
    mail, up, port = free_ports(3)
    server = MailServer(mail, replies)
    target = MailServer(up)   # checks connect to it
    cfg = CFG.format(mail=mail, up=up, port=port, level=level, lines=lines, more=more.format(mail=mail))
    oracle.at(tmp_path, program).mkdir(parents=True, exist_ok=True)
    subject = Subject(program, oracle.at(tmp_path, program), cfg)
    try:
        yield subject, server, target
    finally:
        subject.stop()
        server.close()
        target.close()


def test_alerts(tmp_path):
    """Each change is made when the mail of the one before has come: the last one shows that the others were no alert."""
    def play(program):
        with started(tmp_path, program) as (subject, server, _):
            seen = []
            for n, command in enumerate(["be/s1 health down", "be/s1 health up", "be/sb health down", "be/sb health up"], 1):
                subject.admin(f"set server {command}")
                # s2 tracks s1.
                seen = server.until([2, 4, 5, 6][n - 1])
            for command in ["be/s1 health stopping", "be/s1 health up"]:
                subject.admin(f"set server {command}")
            seen = server.until(8)
            for command in ["be/s1 state maint", "be/s1 state ready", "be/sb state maint", "li/only state maint",
                            "li/only state ready", "be/s2 weight 0", "be/s1 state drain"]:
                subject.admin(f"set server {command}")
            seen = server.until(10)
            subject.admin("set server be/s1 health down")
            seen = server.until(12)
            return [sorted(seen[i:i + 2]) if i in (0, 2, 6, 8, 10) else seen[i:i + 2] for i in range(0, 12, 2)]
    oracle.same(play)


def test_the_least_severe_alert(tmp_path):
    """The email of an alert of this level shows that others before it were not sent."""
    for level in ["emerg", "alert", "err", "notice", "debug"]:
        def play(program, level=level):
            with started(tmp_path / level, program, level) as (subject, server, _):
                for command in ["be/sb state drain", "be/sb health down", "be/sb state ready", "be/sb health up", "li/only health down"]:
                    subject.admin(f"set server {command}")
                    # Two alerts at once may have any order of connections; each is waited for.
                    if level in ("notice", "debug") and command not in ("be/sb state ready",):
                        server.until(["be/sb state drain", "be/sb health down", "be/sb health up", "li/only health down"]
                                     .index(command) + 1)
                if level != "emerg":
                    server.until(4 if level in ("notice", "debug") else 1)
                subject.settle()
                return [mail.splitlines()[3] for mail in server.mails]
        oracle.same(play, name=level)


def test_the_dialogue(tmp_path):
    """A good one, and those that a reply ends, where the next alert is not sent before."""
    rows = {
        "good": {}, "greeting 554": {"greeting": "554 no"}, "HELO 500": {"HELO": "500 no"}, "MAIL 550": {"MAIL": "550 no"},
        "RCPT 550": {"RCPT": "550 no"}, "DATA 550": {"DATA": "550 no"}, "mail 554": {".": "554 no"}, "QUIT 500": {"QUIT": "500 no"},
        "several lines": {"greeting": "220-a\r\n220 b", "DATA": "354-a\r\n354 b"},
    }
    for name, replies in rows.items():
        def play(program, name=name, replies=replies):
            with started(tmp_path / name.replace(" ", "-"), program, replies=replies) as (subject, server, _):
                subject.admin("set server li/only health down")
                server.until(1, "talks")
                subject.admin("set server li/only health up")
                # Each with all that the client has said.
                server.until(2, "ends")
                return server.talks[0]
        oracle.same(play, name=name)


def test_each_mailer_gets_each_alert(tmp_path):
    def play(program):
        with started(tmp_path, program, more=" mailer two 127.0.0.1:{mail}") as (subject, server, _):
            subject.admin("set server li/only health down")
            return server.until(2)
    oracle.same(play)


def test_results_of_checks(tmp_path):
    """option log-health-checks makes each change of a check's result an alert of the level info; the first check is that of s1."""
    def play(program):
        with started(tmp_path, program, "info", {"greeting": "220 hi"},
                     "option log-health-checks\n option httpchk\n default-server rise 1 fall 1") as (_, server, __):
            return sorted(re.sub("duration: [0-9]+ms", "duration", mail.splitlines()[3]) for mail in server.until(3)[:3])
    assert any("Health check for server be/s1 failed" in line for line in oracle.same(play))
