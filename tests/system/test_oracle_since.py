"""Since which version HAProxy has a word: what the manual says, beside the words that HAProxy 2.6 lists (-dK)."""

import os
import re

import oracle
from conftest import ROOT, TACIT, run

LISTS_ALL = ("FETCHES", "CONVERTERS")    # of options and keywords HAProxy lists those of its tables only
ACL_NAMES = {"req_rdp_cookie", "req_rdp_cookie_cnt"}    # names for conditions, which are no fetches in HAProxy
# Other words of the same name are in 2.6.
NEW_SECTIONS = ("CRT-STORE KEYWORDS", "LOG-PROFILE KEYWORDS")


def words_of_haproxy(program):
    text = run(oracle.given("-dKall"), "-q", "-c", "-f", os.devnull, program=program).stdout
    part = dict(re.findall(r"(?ms)^# List of registered (.*?):\n(.*?)(?=^# List|\Z)", text))
    keywords = part["configuration keywords"]
    return {
        "FETCHES": sorted(re.findall(r"(?m)^\[[ Y.]*\] ([\w.+-]+)", part["sample fetch functions"])),
        "CONVERTERS": sorted(re.findall(r"(?m)^([\w.-]+)", part["sample converter functions"])),
        "BIND OPTIONS": sorted(set(re.findall(r"(?m)^\tbind <addr> ([\w.-]+)", keywords))),
        "SERVER OPTIONS": sorted(set(re.findall(r"(?m)^\tserver <name> <addr> ([\w.-]+)", keywords))),
        "KEYWORDS": sorted(set(re.findall(r"(?m)^\t((?!bind <|server <)[a-z][\w. -]*?)(?: \+.*| \[.*| <.*)?$", keywords))),
    }


def versions(page):
    """Heading and name of each entry of the page -> its version as a tuple, None if HAProxy does not have it."""
    found, heading = {}, None
    for head, name, version in re.findall(r"(?ms)^\.SH (.*?)$|^\.TP\n\\fB(.*?)\\fR.*?^(?:In|Not in) HAProxy(.*?)\.$", page):
        heading = head or heading
        if not head:
            number = re.match(r" since (\d)\.(\d+)", version)
            name = re.sub(r"[(<].*", "", name.replace("\\-", "-"))
            found[heading, name] = tuple(map(int, number.groups())) if number else None
    return found


def test_words_of_2_6_are_no_newer():
    listed, ours = oracle.both(lambda program: words_of_haproxy(program) if program != TACIT else
                               versions(run(oracle.given("-dKall")[:3], "man").stdout))
    assert len(ours) > 1000
    for (heading, name), since in ours.items():
        is_listed = name in listed.get(heading, listed["KEYWORDS"] if heading.endswith("KEYWORDS") else ())
        is_old = since is not None and since <= (2, 6)
        if is_listed and heading not in NEW_SECTIONS:
            assert is_old, (heading, name, since)
        if heading in LISTS_ALL and name not in ACL_NAMES:
            assert is_old == is_listed, (heading, name, since)


def test_each_version_is_one():
    """In the table: that they rise below a heading, and that a name stands there once."""
    rows = re.findall(r'SINCE\("(.*?)", "(.*?)",\s*(.*?)\)\n', (ROOT / "include/cfg/since.tbl.h").read_text(), re.S)
    assert len(rows) > 100
    last, names = {}, set()
    for heading, version, text in rows:
        assert re.fullmatch(r"-|\d\.\d( to \d\.\d| or later)?", version), version
        order = (9, 0) if version == "-" else tuple(map(int, version[:3].split(".")))
        assert order >= last.get(heading, (0, 0)), (heading, version)
        last[heading] = order
        for name in "".join(re.findall(r'"(.*?)"', text)).split(", "):
            assert name and (heading, name) not in names, (heading, name)
            names.add((heading, name))
