"""Messages of -c about a haproxy.cfg: each cause once, with all its lines, and no consequential errors."""

import glob
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
