"""HAProxy and tacit are asked the same on the stats socket: forms, words and levels of each answer are compared."""

import json
import os
import re

import oracle
import pytest
from conftest import ROOT, Origin, admin, free_ports, wait_for
from oracle import Subject
from test_oracle_stat import http_origin, request, talk

CFG = """
 description of: both
defaults
 mode http
 timeout client 1m
 timeout server 1m
 timeout connect 1m
 timeout check 1m
frontend f
 bind 127.0.0.1:{f}
 maxconn 150
 default_backend b
frontend t
 mode tcp
 bind 127.0.0.1:{t}
 default_backend bt
backend b
 cookie SRV insert
 option httpchk
 server s1 127.0.0.1:{o} cookie c1 check inter 1m fastinter 300ms maxconn 50 maxqueue 9 observe layer7
 server s2 127.0.0.1:{d} track b/s1
 server s3 127.0.0.1:{d} disabled
 server s4 127.0.0.1:{d} check inter 1m fastinter 300ms backup
 server s5 127.0.0.1:{o} weight 0
backend bt
 mode tcp
 server s1 127.0.0.1:{o}
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """oracle.both() of two subjects, each running with the same configuration and with a request behind it."""
    origin, subjects = Origin(http_origin), {}
    try:
        for name, program in oracle.PROGRAMS.items():
            directory = tmp_path_factory.mktemp(name)
            f, t, d = free_ports(3)
            cfg = f" stats socket ipv4@127.0.0.1:{free_ports(1)[0]} level user\n setenv KEY some=value\n" + "".join(f" stats socket {directory}/{level}.sock level {level}\n" for level in ("user", "operator"))
            subjects[name] = Subject(program, directory, cfg + CFG.format(f=f, t=t, d=d, o=origin.port))
            talk(f, request("/a"))
        for s in subjects.values():
            assert wait_for(lambda s=s: " DOWN" not in s.admin("show stat b 4 1") and
                            "L4CON" in s.admin("show stat b 4 -1") and "L7OK" in s.admin("show stat b 4 -1"))


        def compare(play, **kw):
            return oracle.both(play, subjects, script=CFG, **kw)
        compare.subjects = subjects
        yield compare
    finally:
        for s in subjects.values():
            s.stop()
        origin.close()


def numbers_apart(text):
    """The text with every number replaced: values of two processes differ, their form may not."""
    return re.sub(r"\b\d+\b", "N", text)


# --- show info ---

def typed_info(subject, args):
    """{name: (position, tags, type)} of the lines of `show info typed`."""
    out = {}
    for line in subject.admin(f"show info {args}").strip().split("\n"):
        head, tags, kind, _ = line.split(":", 3)
        position, name, process = head.split(".")
        assert process == "1"
        out[name] = (int(position), tags, kind)
    return out


@pytest.mark.parametrize("args", ["typed", "typed float", "json typed"])
def test_info_typed(both, args):
    theirs, ours = both(lambda s: typed_info(s, args))
    # HAProxy's has 32 bits, which are too few.
    theirs["Memmax_bytes"] = (*theirs["Memmax_bytes"][:2], "u64")
    assert {n: v for n, v in ours.items() if v[0] < 1000} == theirs


def test_info_json(both):
    theirs, ours = both(lambda s: [dict(f, value=f["value"]["type"]) for f in json.loads(s.admin("show info json"))
                                   if f["field"]["name"] != "Memmax_bytes"])
    assert [f for f in ours if f["field"]["pos"] < 1000] == theirs


@pytest.mark.parametrize("args", ["desc", "typed desc", "desc float"])
def test_info_desc(both, args):
    """The descriptions are tacit's own."""
    def play(s):
        lines = s.admin(f"show info {args}").strip().split("\n")
        assert all(re.search(r':"[^"]+"$', line) for line in lines), lines
        return [" ".join(re.split(r"[:.] ?", line)[:2]) if "typed" in args else line.split(":")[0] for line in lines]

    theirs, ours = both(play)
    assert ours[:len(theirs)] == theirs


# --- show stat ---

def typed_stat(subject, args=""):
    """{type.iid.sid: [position.name:tags:type, and the value of a text]}"""
    out = {}
    for line in subject.admin(f"show stat {args} typed").strip().split("\n"):
        head, tags, kind, value = line.split(":", 3)
        *row, position, name, process = head.split(".")
        assert process == "1"
        # The duration of a check that failed at once is not known. Addresses differ by their ports.
        if name not in ("check_duration", "src_ilim", "need_conn_est", "addr"):
            shown = f":{value}" if kind == "str" and "chk" not in name else ""
            out.setdefault(".".join(row), []).append(f"{position}.{name}:{tags}:{kind}{shown}")
    return out


def test_stat_typed(both):
    """While a check runs in one of them, fields about the last one are missing there."""
    theirs, ours = both(typed_stat, until_equal=True)
    assert ours == theirs


@pytest.mark.parametrize("args", ["b -1 -1", "-1 4 -1", "f 1 -1", "b 4 2"])
def test_rows_of_stat_typed(both, args):
    theirs, ours = both(lambda s: list(typed_stat(s, args)))
    assert ours == theirs


@pytest.mark.parametrize("args", ["", "b -1 -1", "b 4 99", "-1 4 -1 up"])
def test_stat_json(both, args):
    def shapes(subject):
        rows = json.loads(subject.admin(f"show stat {args} json"))
        fields = [f for row in rows for f in row if f["field"]["pos"] < 1000
                  and f["field"]["name"] not in ("check_duration", "src_ilim", "need_conn_est")]
        forms = {f"{f['objType']} {f['field']['pos']}.{f['field']['name']} {f['processNum']} {f['tags']} {f['value']['type']}"
                 for f in fields}
        return [f"{row[0]['objType']} {row[0]['proxyId']}.{row[0]['id']}" for row in rows], forms if not args else len(forms)

    theirs, ours = both(shapes, until_equal=True)
    assert ours == theirs


@pytest.mark.parametrize("args", ["up", "no-maint", "up no-maint", "no-maint up", "b 4 -1 up", "-1 4 -1 no-maint", "desc",
                                  "domain proxy", "domain proxy b -1 -1 up", "t -1 -1"])
def test_stat_rows(both, args):
    theirs, ours = both(lambda s: [row.split(",")[:2] for row in s.admin(f"show stat {args}").strip().split("\n")])
    assert ours == theirs


@pytest.mark.parametrize("args", ["nobody 1 1", "domain", "domain nothing"])
def test_stat_errors(both, args):
    theirs, ours = both(lambda s: s.admin(f"show stat {args}"))
    assert ours == theirs


def test_stat_typed_desc(both):
    assert both(lambda s: [line for line in s.admin("show stat typed desc").strip().split("\n")
                           if not re.search(r':"[^"]+"$', line)]) == ([], [])


def test_schema(both):
    theirs, ours = both(lambda s: json.loads(s.admin("show schema json")))
    assert ours == theirs


# --- commands ---

TABLE = (ROOT / "include/app/admin/commands.tbl.h").read_text()
# words: level
COMMANDS = dict(re.findall(r'ADMIN_CMD\("([^"]+)",\s*"[^"]*",\s*"[^"]*",\s*([A-Z]+)', TABLE))
MISSING = dict(re.findall(r'ADMIN_NOT\("([^"]+)",\s*"([^"]+)"\)', TABLE))
# Usages in HAProxy's help that do not end where the command's words do.
USAGE_ENDS = re.compile(r" *[\[<{(@].*| \(DEPRECATED\).*")


# Commands of tacit alone, or with words of its own.
OWN_HELP = {"add server", "add ssl ca-file", "clear cache", "clear counters", "clear counters all", "clear syscalls",
            "debug dev delay", "debug dev loop", "disable agent", "disable health", "disable server", "echo", "enable agent", "enable health",
            "enable server",
            "get map", "new ssl crl-file", "prepare map", "publish backend", "set maxconn server", "set weight", "show acl", "show events", "show health",
            "show latency",
            "show map", "show sess", "show ssl ca-file", "show ssl crl-file", "show ssl ocsp-response", "show ssl ocsp-updates",
            "show startup-logs", "show syscalls", "show trace", "trace", "unpublish backend", "update ssl ocsp-response", "wait"}
ANOTHER = "another command of this name"
OWN_LEVELS = {"clear syscalls": "HAProxy has none", "clear cache": "HAProxy has none", "trace": ANOTHER, "show trace": ANOTHER,
              "set ssl tls-key": "HAProxy lets every user replace keys",
              "set ssl ocsp-response": "HAProxy lets every user replace responses",
              "add ssl ca-file": "later than 2.6", "update ssl ocsp-response": "later than 2.6", "publish backend": "later than 2.6",
              "unpublish backend": "later than 2.6"}


def help_of(subject, args=""):
    """{usage: help}"""
    out = {}
    for line in subject.admin(f"expert-mode on;experimental-mode on;help {args}").split("\n"):
        if line.startswith("  "):
            usage, _, text = line[2:].partition(":") if line[42:44] != ": " else (line[2:42], "", line[44:])
            out[re.sub(" +", " ", usage.strip())] = text.strip()
    return out


def test_each_command_is_there_or_listed_as_missing(both):
    words = {USAGE_ENDS.sub("", usage) for usage in both(help_of)[0]}
    # `set timeout [cli]` and the like have a word in brackets; a typing error in HAProxy's help.
    words = {w.replace("new ssl crlfile", "new ssl crl-file") for w in words}
    assert len(words) > 80
    assert words - set(COMMANDS) - set(MISSING) == set()
    assert set(MISSING) - words == set()


def test_the_manual_lists_what_is_missing():
    text = (ROOT / "man/tacit.8").read_text()
    section = text[text.index(".SS Commands of HAProxy that are missing"):]
    section = section[:section.index(".SH ")]
    listed = {}
    for reason, names in re.findall(r"^\.TP\n(.*):\n((?:\.BR .*\n)+)", section, re.MULTILINE):
        for name in re.findall(r'^\.BR "([^"]+)"', names, re.MULTILINE):
            listed[name] = reason[0].lower() + reason[1:]
    assert listed == {w: r[0].lower() + r[1:] for w, r in MISSING.items()}


def test_help_has_the_same_form(both):
    theirs, ours = both(help_of)
    same = {usage for usage in ours if ours[usage] == theirs.get(usage)}
    # Usages of tacit alone, and where the words are tacit's because it does something else.
    own = {usage for usage in ours if USAGE_ENDS.sub("", usage) in OWN_HELP}
    assert set(ours) - own == same


def test_help_of_one_command(both):
    """The descriptions are each program's own."""
    def play(s):
        lines = s.admin("help show info").split("\n")
        return lines[0], [line[2:].split()[0] for line in lines[2:5]], lines[5:]

    theirs, ours = both(play)
    assert ours == theirs == ("The following commands are valid at this level:", ["help", "prompt", "quit"], ["", ""])


@pytest.mark.parametrize("line", [
    "expert-mode", "expert-mode on;expert-mode", "expert-mode on;expert-mode off;expert-mode", "expert-mode nothing",
    "experimental-mode on;experimental-mode;operator;experimental-mode", "user;experimental-mode on", "user;expert-mode",
    "show cli level;operator;show cli level;user;show cli level;operator", "operator 1 2;show cli level",
    "set severity-output", "set severity-output loud", "set severity-output number;set severity-output", "set timeout",
    "set timeout cli", "set timeout cli x", "set timeout cli -1", "set timeout cli 0", "set timeout client 5", "set timeout cli 1h;show cli level",
    "set severity-output number;show cli level", "set severity-output string;get weight b/nobody",
    "set severity-output number;expert-mode;user;expert-mode", "set severity-output string;set timeout cli",
    "set severity-output number;get weight b/s1", "show cli level;show cli level ;  show cli level",
    "show cli level extra words # and more", "quit;show cli level", "show\\ cli level;quit", "get weight b\\;c/s1;get weight b/s1",
])
def test_dialogue(both, line):
    """Suggestions differ: HAProxy's have another spelling, tacit's the same start."""
    theirs, ours = both(lambda s: re.sub(r"\n  .*", "", s.admin(line)))
    assert ours == theirs


def test_prompt(both):
    lines = "prompt\nshow cli level\nset severity-output number\nget weight x\nshow cli level;operator;show cli level\nprompt"
    theirs, ours = both(lambda s: admin(s.sock, lines))
    assert ours == theirs


# --- the process ---

@pytest.mark.parametrize("line", [
    "show env KEY", "show env key", "set severity-output number;show env NONE", "get var", "get var proc.none", "get var txn.x",
    "set severity-output number;get var;get var proc.none", "set var proc.x int(1)", "expert-mode on;set var proc.x int(1)",
    *("experimental-mode on;set var proc.x " + value + ";get var proc.x" for value in (
        "int(-5)", "str(abc)", "bool(true)", "str(ab),upper", "expr int(6)", "fmt a%[int(5)]", "fmt plain", "expr str(a\\ b)",
        "str(192.168.1.2),ipmask(16)")),
    "set severity-output string;experimental-mode on;set var proc.x int(1);get var proc.x",
    "experimental-mode on;set var", "experimental-mode on;set var proc.z", "experimental-mode on;set var proc.z int(7) extra",
    "experimental-mode on;set var sess.z int(4)", "experimental-mode on;operator;set var proc.z int(4)",
])
def test_words(both, line):
    theirs, ours = both(lambda s: s.admin(line).split("\n  function")[0].strip())
    assert ours == theirs


def test_show_tasks(both):
    """HAProxy counts a timer of its own that runs at that moment, too: the answer that lasts is compared."""
    theirs, ours = both(lambda s: s.admin("show tasks").split("\n  function")[0].strip(), until_equal=True)
    assert ours == theirs


@pytest.mark.parametrize("words", ["show cli sockets", "show env", "show libs", "show threads", "show startup-logs"])
def test_forms(both, words):
    """The same number of lines of the same form, where the values are those of each process."""
    def play(s):
        text = s.admin(words)
        assert re.fullmatch(r"(.+\n)*\n+", text), text
        if words == "show cli sockets":
            return [re.sub(r"\d+|[^/@ ]*/", "", line) for line in text.split("\n")]
        if words == "show env":
            return {line for line in text.split("\n") if line.startswith("KEY=")}, {*os.environ} <= {
                line.partition("=")[0] for line in text.split("\n")}
        if words == "show libs":
            assert re.fullmatch(r"(0x[0-9a-f]{12}-0x[0-9a-f]{12} \(0x[0-9a-f]{7}\) \S+\n)+\n", text), text
        if words == "show threads":
            assert re.match(r"\* Thread 1 : id=0x[0-9a-f]+ ", text), text
        return "its form"

    theirs, ours = both(play)
    assert ours == theirs


# A command that changes nothing when it is run without arguments, in HAProxy at the same level. HAProxy allows every
# user to change maps.
LEVELS = {w: level for w, level in COMMANDS.items() if not re.match(r"(add|set|del|clear|prepare|commit) (map|acl)$", w)}


@pytest.mark.parametrize("words", sorted(LEVELS))
def test_levels(both, words):
    """The levels that may run it: user, operator."""
    if words in OWN_LEVELS:
        pytest.skip(OWN_LEVELS[words])
    theirs, ours = both(lambda s: {level for level in ("user", "operator")
                                   if admin(s.dir / f"{level}.sock", words) == "Permission denied\n\n"})
    assert ours == theirs


# --- answers to arguments that name nothing, or are too many or too few ---

ARGS = ("", "x", "x y", "nobody/x", "b/nobody", "b/nobody x", "b/s1 x", "nobody 5", "f x", "x global 5", "5 6")
NOT_ASKED = {
    "quit", "prompt", "help",                                  # of the dialogue, above
    "clear cache",                                             # HAProxy has none
    # later than 2.6
    "wait", "echo", "add ssl ca-file", "show ssl ocsp-updates", "update ssl ocsp-response", "publish backend", "unpublish backend",
    "_getsocks",                                               # answers with descriptors: test_replace.py
    "clear counters", "clear counters all", "clear syscalls", "set maxconn global", "shutdown frontend", "disable frontend",   # they do it
    "show info", "show stat", "show stats", "show schema json", "show version", "show env", "show libs", "show threads",
    "show cli sockets", "show startup-logs",                   # values, compared above
    "show events", "show profiling",                           # compared in test_oracle_ring.py, and of each program
    "show activity", "show fd", "show health", "show latency", "show pools", "show sess", "show syscalls", "show trace", "trace",  # of each program's own form
}
OWN_WORDS = {
    "set maxconn frontend f x": "a value must be a number",
    "shutdown session f x": "an identifier may be without 0x",
    "show acl": "HAProxy's own client has some",
    "del acl *": "HAProxy says map",
}


@pytest.mark.parametrize("words", sorted(set(COMMANDS) - NOT_ASKED))
def test_wrong_arguments(both, words):
    lines = [line for line in (f"{words} {args}".strip() for args in ARGS)
             if line not in OWN_WORDS and (f"{words} *" not in OWN_WORDS or line == words)]

    def play(s):
        """HAProxy keeps the system's CAs for its own client; what follows a message is a list of commands."""
        return {line: re.sub(r"\n@system-ca .*|\n  .*", "", re.sub(
            r"0x[0-9a-f]+|\d+(/[A-Z][a-z]{2}/\d+)?", "N", s.admin(f"set severity-output number;{line}")).strip()) for line in lines}

    theirs, ours = both(play)
    assert [(line, ours[line], theirs[line]) for line in lines if ours[line] != theirs[line]] == []
