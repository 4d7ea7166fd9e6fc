"""Servers with `slowstart` come back up at the same time, in HAProxy and in a scenario of virtual time
(tests/sim/process/slowstart_shown.txt), from which HAProxy gets the configuration and the commands: what is shown of them in each
second is the same, and what is logged."""

import re
import time

import oracle
from conftest import ROOT, echo
from oracle import Subject
from subject import LogServer

SCENARIO = ROOT / "tests/sim/process/slowstart_shown.txt"
START = 4  # seconds
COLUMNS = ("status", "weight", "uweight", "throttle", "act", "slim")


def parts():
    """The scenario's parts: the configuration, the lines of the script, those of the trace."""
    cfg, script, trace = re.split(r"^--- (?:script|trace)\n", SCENARIO.read_text(), flags=re.MULTILINE)
    return cfg, script.splitlines(), trace.splitlines()


def commands(script):
    """The commands that the servers come back up with."""
    return [c for line in script if (m := re.match(r'1s admin "(.*)"$', line)) for c in m[1].split("; ")]


def with_ports(cfg, origin, log):
    """The configuration for a machine."""
    return cfg.replace("127.0.0.1:2000", f"127.0.0.1:{origin}").replace("/run/log", f"127.0.0.1:{log}")


class Seen(dict):
    """{server, backend or state of a server: what is shown of it, without repetitions}"""

    def note(self, key, now):
        if key not in self or self[key][-1] != now:
            self.setdefault(key, []).append(now)

    def note_stat(self, key, row):
        if key[1] != "FRONTEND":
            self.note(key, [row[c] for c in COLUMNS])

    def note_state(self, fields):
        self.note((fields[1], fields[3], "oper"), fields[5])

    def summary(self):
        """For a backend the end counts: its servers start one after the other."""
        return {key: [rows[-1][:3]] if key[1] == "BACKEND" else rows for key, rows in self.items()}


def by_server(lines):
    """The lines of one come in an order that does not depend on the others."""
    out = {}
    for line in lines:
        text = re.sub(r"^<(\d+)>.*?\]: ", r"<\1>", line)
        # HAProxy repeats this at each step
        if "Server " in text and not text.endswith("remains in forced drain mode."):
            out.setdefault(re.search(r"Server (\S+)", text)[1], []).append(text)
    return out


def test_what_is_shown_while_servers_start(tmp_path, origins):
    cfg, script, trace = parts()

    def play(program):
        oracle.given("\n".join(commands(script)))
        if program == oracle.HAPROXY:
            return of_haproxy(program, tmp_path, cfg, commands(script), origins)
        oracle.given(with_ports(cfg, 20000, 20000))
        return of_trace(trace)

    theirs, ours = oracle.both(play)
    assert len(theirs[0]["rr", "s"]) == START + 1 and len(theirs[0]["leads", "k"]) == 1
    assert oracle.differences(theirs[0], ours[0]) == []
    assert oracle.differences(theirs[1], ours[1]) == []


def of_haproxy(program, directory, cfg, back_up, origins):
    """(what it shows, its log lines): it takes a step each second."""
    log, seen = LogServer(), Seen()
    subject = Subject(program, directory, with_ports(cfg, origins(echo).port, log.port))
    try:
        for command in back_up:
            assert subject.admin(command) == "\n", command
        end = time.monotonic() + START + 1.2
        while time.monotonic() < end:
            for key, row in subject.stat()[1].items():
                seen.note_stat(key, row)
            for row in subject.admin("show servers state").strip().split("\n")[2:]:
                seen.note_state(row.split(" "))
            time.sleep(0.02)
        return seen.summary(), by_server(log.drain())
    finally:
        subject.stop()
        log.close()


def of_trace(trace):
    """The same of the scenario, which is what tacit does: test_process_scenarios.c compares it."""
    seen, names = Seen(), ()
    for line in trace:
        m = re.search(r'^ *[\d.]+ admin gets "(.*)"$', line)
        if m and m[1].startswith("# "):
            names = m[1][2:].split(",")
        elif m and "," in m[1]:
            fields = m[1].split(",")
            seen.note_stat(tuple(fields[:2]), dict(zip(names, fields)))
        elif m and m[1]:
            seen.note_state(m[1].split(" "))
    return seen.summary(), by_server(m[1] for line in trace if (m := re.search(r"^ *[\d.]+ log: (.*)$", line)))
