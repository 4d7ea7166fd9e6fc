"""Messages of -c about a haproxy.cfg: each cause once, with all its lines, and no consequential errors."""

import glob
import json
import os
import re
import subprocess

import pytest
from conftest import TACIT

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = sorted(glob.glob(os.path.join(HERE, "configs", "*.cfg")))
ENTRY = re.compile(r"\[(ALERT|WARNING|NOTICE)\] +\(\d+\) : config : (?:parsing \[([^:\]]+):(\d+)(?::\d+)?\] : )?(.*)")
MORE = re.compile(r"   \| and (\d+) more lines?: (.*)")


def check(path):
    done = subprocess.run([TACIT, "-c", "-f", os.path.basename(path)], cwd=os.path.dirname(path), capture_output=True,
                          text=True, timeout=20, check=False)
    entries = []
    for line in done.stderr.splitlines():
        found = ENTRY.fullmatch(line)
        more = MORE.fullmatch(line)
        if found:
            entries.append([found.group(1), found.group(4), [int(found.group(3))] if found.group(3) else []])
        elif more:
            entries[-1][2] += [int(n) for n in more.group(2).split(", ") if n != "..."]
    return done.returncode, entries


@pytest.mark.parametrize("path", FILES, ids=os.path.basename)
def test_each_cause_is_one_entry(path):
    code, entries = check(path)
    assert code == 1
    last = entries.pop()
    said = [(e[0], e[1]) for e in entries]
    assert len(set(said)) == len(said)
    wrong = {n for e in entries if e[0] == "ALERT" for n in e[2]}
    noted = {n for e in entries if e[0] == "NOTICE" for n in e[2]}
    assert wrong and not wrong & noted
    errors, warnings = (sum(e[0] == kind for e in entries) for kind in ("ALERT", "WARNING"))
    assert last[1] == (f"Fatal errors found in configuration: {os.path.basename(path)}: "
                       f"{errors} error{'s' * (errors != 1)} ({len(wrong)} line{'s' * (len(wrong) != 1)}), "
                       f"{warnings} warning{'s' * (warnings != 1)}.")


def test_mistakes():
    _, entries = check(os.path.join(HERE, "configs", "mistakes.cfg"))
    assert {line for e in entries if e[0] == "ALERT" for line in e[2]} == \
        {3, 4, 10, 14, 19, 23, 24, 30, 31, 32, 33, 34, 38}
    assert not [e for e in entries if e[0] != "ALERT"]
    by_line = {}
    for _, text, lines in entries:
        for line in lines:
            by_line.setdefault(line, []).append(text)
    assert len(by_line[31]) == 5
    assert by_line[31][:2] == by_line[32] == by_line[33]


@pytest.mark.parametrize("path", FILES, ids=os.path.basename)
def test_json_has_the_same_messages(path):
    code, entries = check(path)
    done = subprocess.run([TACIT, "-cj", "-f", os.path.basename(path)], cwd=os.path.dirname(path), capture_output=True,
                          text=True, timeout=20, check=False)
    found = json.loads(done.stdout)
    assert (done.returncode, done.stdout.count("\n"), found["valid"]) == (code, 1, False)
    severity = {"error": "ALERT", "warning": "WARNING", "notice": "NOTICE"}
    texts = [(severity[m["severity"]], m["text"].split("\n")[0]) for m in found["messages"]]
    assert texts == [(e[0], e[1]) for e in entries[:-1]]
    for m, e in zip(found["messages"], entries):
        lines = [p["line"] for p in m["places"]]
        assert lines[:len(e[2])] == e[2] or sorted(set(lines))[:len(e[2])] == sorted(set(e[2]))
        assert {p["file"] for p in m["places"]} <= {os.path.basename(path)}
    assert done.stderr == ""


def test_json_of_a_right_configuration(tmp_path):
    cfg = tmp_path / "a.cfg"
    cfg.write_text("listen l\n bind 127.0.0.1:80\n mode tcp\n timeout client 1s\n timeout connect 1s\n timeout server 1s\n"
                   " server s 127.0.0.1:81\n")
    done = subprocess.run([TACIT, "-cj", "-f", cfg], capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, '{"valid":true,"messages":[],"not_shown":0}\n', "")
