"""HAProxy and tacit are asked the same on the stats socket: forms, words and levels of each answer are compared."""

import json
import re
import shutil

import pytest
from conftest import ROOT, Origin, admin, free_ports, wait_for
from test_oracle_stat import HAPROXY, TACIT, Subject, http_origin, request, talk

pytestmark = pytest.mark.skipif(not HAPROXY, reason="haproxy is not installed")

CFG = """
 description of: both
defaults
 mode http
 timeout client 5s
 timeout server 5s
 timeout connect 1s
 timeout check 5s
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
 server s1 127.0.0.1:{o} cookie c1 check inter 300ms maxconn 50 maxqueue 9 observe layer7
 server s2 127.0.0.1:{d} track b/s1
 server s3 127.0.0.1:{d} disabled
 server s4 127.0.0.1:{d} check inter 300ms backup
 server s5 127.0.0.1:{o} weight 0
backend bt
 mode tcp
 server s1 127.0.0.1:{o}
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """[haproxy, tacit], each running with the same configuration and with a request behind it."""
    origin, subjects = Origin(http_origin), []
    try:
        for name, program in (("haproxy", HAPROXY), ("tacit", TACIT)):
            directory = tmp_path_factory.mktemp(name)
            f, t, d = free_ports(3)
            cfg = f" stats socket ipv4@127.0.0.1:{free_ports(1)[0]} level user\n setenv KEY some=value\n" + "".join(f" stats socket {directory}/{level}.sock level {level}\n" for level in ("user", "operator"))
            subjects.append(Subject(program, directory, cfg + CFG.format(f=f, t=t, d=d, o=origin.port)))
            talk(f, request("/a"))
        for s in subjects:
            assert wait_for(lambda s=s: " DOWN" not in s.admin("show stat b 4 1") and
                            "L4CON" in s.admin("show stat b 4 -1") and "L7OK" in s.admin("show stat b 4 -1"))
        yield subjects
    finally:
        for s in subjects:
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
    theirs, ours = (typed_info(s, args) for s in both)
    # HAProxy's has 32 bits, which are too few.
    theirs["Memmax_bytes"] = (*theirs["Memmax_bytes"][:2], "u64")
    assert {n: v for n, v in ours.items() if v[0] < 1000} == theirs


def test_info_json(both):
    theirs, ours = ([dict(f, value=f["value"]["type"]) for f in json.loads(s.admin("show info json"))
                     if f["field"]["name"] != "Memmax_bytes"] for s in both)
    assert [f for f in ours if f["field"]["pos"] < 1000] == theirs


@pytest.mark.parametrize("args", ["desc", "typed desc", "desc float"])
def test_info_desc(both, args):
    """The descriptions are tacit's own."""
    forms = []
    for s in both:
        lines = s.admin(f"show info {args}").strip().split("\n")
        assert all(re.search(r':"[^"]+"$', line) for line in lines), lines
        forms.append([re.split(r"[:.] ?", line)[:2] if "typed" in args else line.split(":")[0] for line in lines])
    assert forms[1][:len(forms[0])] == forms[0]


# --- show stat ---

def typed_stat(subject, args=""):
    """{(type, iid, sid, position, name): (tags, type)}"""
    out = {}
    for line in subject.admin(f"show stat {args} typed").strip().split("\n"):
        head, tags, kind, value = line.split(":", 3)
        *key, process = head.split(".")
        assert process == "1"
        # The duration of a check that failed at once is not known.
        if key[4] not in ("check_duration", "src_ilim", "need_conn_est"):
            out[tuple(key)] = (tags, kind, value if kind == "str" and "chk" not in key[4] else None)
    return out


def when_equal(ask):
    """The answer of both: while a check runs in one of them, fields about the last one are missing there."""
    said = []

    def agree():
        said[:] = ask()
        return said[0] == said[1]
    wait_for(agree)
    return said


@pytest.mark.parametrize("args", ["", "b -1 -1", "-1 4 -1", "f 1 -1", "b 4 2"])
def test_stat_typed(both, args):
    # Addresses differ by their ports.
    theirs, ours = when_equal(lambda: [{k: v for k, v in typed_stat(s, args).items() if k[4] != "addr"} for s in both])
    assert ours == theirs


@pytest.mark.parametrize("args", ["", "b -1 -1", "b 4 99", "-1 4 -1 up"])
def test_stat_json(both, args):
    def shapes(subject):
        return [[(f["objType"], f["proxyId"], f["id"], f["field"], f["processNum"], f["tags"], f["value"]["type"])
                 for f in row if f["field"]["pos"] < 1000 and f["field"]["name"] not in ("check_duration", "src_ilim", "need_conn_est")]
                for row in json.loads(subject.admin(f"show stat {args} json"))]

    theirs, ours = when_equal(lambda: [shapes(s) for s in both])
    for their, our in zip(theirs, ours, strict=True):
        assert [f for f in our if f not in their] == [f for f in their if f not in our]
    assert ours == theirs


@pytest.mark.parametrize("args", ["up", "no-maint", "up no-maint", "no-maint up", "b 4 -1 up", "-1 4 -1 no-maint", "desc",
                                  "domain proxy", "domain proxy b -1 -1 up", "t -1 -1"])
def test_stat_rows(both, args):
    theirs, ours = ([row.split(",")[:2] for row in s.admin(f"show stat {args}").strip().split("\n")] for s in both)
    assert ours == theirs


@pytest.mark.parametrize("args", ["nobody 1 1", "domain", "domain nothing"])
def test_stat_errors(both, args):
    theirs, ours = (s.admin(f"show stat {args}") for s in both)
    assert ours == theirs


def test_stat_typed_desc(both):
    for s in both:
        for line in s.admin("show stat typed desc").strip().split("\n"):
            assert re.search(r':"[^"]+"$', line)


def test_schema(both):
    theirs, ours = (json.loads(s.admin("show schema json")) for s in both)
    assert ours == theirs


# --- commands ---

TABLE = (ROOT / "include/app/admin/commands.tbl.h").read_text()
# words: level
COMMANDS = dict(re.findall(r'ADMIN_CMD\("([^"]+)",\s*"[^"]*",\s*"[^"]*",\s*([A-Z]+)', TABLE))
MISSING = dict(re.findall(r'ADMIN_NOT\("([^"]+)",\s*"([^"]+)"\)', TABLE))
# Usages in HAProxy's help that do not end where the command's words do.
USAGE_ENDS = re.compile(r" *[\[<{(@].*| \(DEPRECATED\).*")


# Commands of tacit alone, or with words of its own.
OWN_HELP = {"add server", "add ssl ca-file", "clear counters", "clear counters all", "debug dev delay", "debug dev loop",
            "disable agent", "disable health", "disable server", "echo", "enable agent", "enable health", "enable server",
            "get map", "new ssl crl-file", "prepare map", "set maxconn server", "set weight", "show acl", "show events", "show latency",
            "show map", "show sess", "show ssl ca-file", "show ssl crl-file", "show ssl ocsp-response", "show ssl ocsp-updates",
            "show startup-logs", "show syscalls", "show trace", "trace", "update ssl ocsp-response", "wait"}
ANOTHER = "another command of this name"
OWN_LEVELS = {"trace": ANOTHER, "show trace": ANOTHER, "set ssl tls-key": "HAProxy lets every user replace keys",
              "set ssl ocsp-response": "HAProxy lets every user replace responses",
              "add ssl ca-file": "later than 2.6", "update ssl ocsp-response": "later than 2.6"}


def help_of(subject, args=""):
    """{usage: help}"""
    out = {}
    for line in subject.admin(f"expert-mode on;experimental-mode on;help {args}").split("\n"):
        if line.startswith("  "):
            usage, _, text = line[2:].partition(":") if line[42:44] != ": " else (line[2:42], "", line[44:])
            out[re.sub(" +", " ", usage.strip())] = text.strip()
    return out


def test_each_command_is_there_or_listed_as_missing(both):
    words = {USAGE_ENDS.sub("", usage) for usage in help_of(both[0])}
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
    theirs, ours = (help_of(s) for s in both)
    same = {usage for usage in ours if ours[usage] == theirs.get(usage)}
    # Usages of tacit alone, and where the words are tacit's because it does something else.
    own = {usage for usage in ours if USAGE_ENDS.sub("", usage) in OWN_HELP}
    assert set(ours) - own == same
    for s in both:
        lines = s.admin("help show info").split("\n")
        assert lines[0] == "The following commands are valid at this level:"
        assert [line[2:].split()[0] for line in lines[2:5]] == ["help", "prompt", "quit"]
        assert lines[5:] == ["", ""]




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
    theirs, ours = (re.sub(r"\n  .*", "", s.admin(line)) for s in both)
    assert ours == theirs


def test_prompt(both):
    lines = "prompt\nshow cli level\nset severity-output number\nget weight x\nshow cli level;operator;show cli level\nprompt"
    theirs, ours = (admin(s.sock, lines) for s in both)
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
    "experimental-mode on;set var sess.z int(4)", "experimental-mode on;operator;set var proc.z int(4)", "show tasks",
])
def test_words(both, line):
    theirs, ours = (s.admin(line).split("\n  function")[0].strip() for s in both)
    assert ours == theirs


@pytest.mark.parametrize("words", ["show cli sockets", "show env", "show libs", "show threads", "show startup-logs"])
def test_forms(both, words):
    """The same number of lines of the same form, where the values are those of each process."""
    forms = []
    for s in both:
        text = s.admin(words)
        assert re.fullmatch(r"(.+\n)*\n+", text), text
        forms.append(text)
    theirs, ours = forms
    if words == "show cli sockets":
        assert [re.sub(r"\d+|[^/@ ]*/", "", line) for line in ours.split("\n")] == \
            [re.sub(r"\d+|[^/@ ]*/", "", line) for line in theirs.split("\n")]
    elif words == "show env":
        assert set(ours.split("\n")) >= {line for line in theirs.split("\n") if not line.startswith("HAPROXY_")}
    elif words == "show libs":
        for text in forms:
            assert re.fullmatch(r"(0x[0-9a-f]{12}-0x[0-9a-f]{12} \(0x[0-9a-f]{7}\) \S+\n)+\n", text), text
    elif words == "show threads":
        for text in forms:
            assert re.match(r"\* Thread 1 : id=0x[0-9a-f]+ ", text), text


# A command that changes nothing when it is run without arguments, in HAProxy at the same level. HAProxy allows every
# user to change maps.
LEVELS = {w: level for w, level in COMMANDS.items() if not re.match(r"(add|set|del|clear|prepare|commit) (map|acl)$", w)}


@pytest.mark.parametrize("words", sorted(LEVELS))
def test_levels(both, words):
    """The levels that may run it: user, operator."""
    if words in OWN_LEVELS:
        pytest.skip(OWN_LEVELS[words])
    for level in ("user", "operator"):
        theirs, ours = (admin(s.dir / f"{level}.sock", words) == "Permission denied\n\n" for s in both)
        assert ours == theirs, level


# --- answers to arguments that name nothing, or are too many or too few ---

ARGS = ("", "x", "x y", "nobody/x", "b/nobody", "b/nobody x", "b/s1 x", "nobody 5", "f x", "x global 5", "5 6")
NOT_ASKED = {
    "quit", "prompt", "help",                                  # of the dialogue, above
    "wait", "echo", "add ssl ca-file", "show ssl ocsp-updates", "update ssl ocsp-response",  # later than 2.6
    "_getsocks",                                               # answers with descriptors: test_replace.py
    "clear counters", "clear counters all", "set maxconn global", "shutdown frontend", "disable frontend",   # they do it
    "show info", "show stat", "show stats", "show schema json", "show version", "show env", "show libs", "show threads",
    "show cli sockets", "show startup-logs",                   # values, compared above
    "show events", "show profiling",                           # compared in test_oracle_ring.py, and of each program
    "show activity", "show fd", "show latency", "show pools", "show sess", "show syscalls", "show trace", "trace",  # of each program's own form
}
OWN_WORDS = {
    "set maxconn frontend f x": "a value must be a number",
    "shutdown session f x": "an identifier may be without 0x",
    "show acl": "HAProxy's own client has some",
    "del acl *": "HAProxy says map",
}


@pytest.mark.parametrize("words", sorted(set(COMMANDS) - NOT_ASKED))
def test_wrong_arguments(both, words):
    wrong = []
    for line in (f"{words} {args}".strip() for args in ARGS):
        if line in OWN_WORDS or (f"{words} *" in OWN_WORDS and line != words):
            continue
        theirs, ours = (re.sub(r"0x[0-9a-f]+|\d+", "N", s.admin(f"set severity-output number;{line}")).strip() for s in both)
        # HAProxy keeps the system's CAs for its own client.
        theirs = re.sub(r"\n@system-ca .*", "", theirs)
        if re.sub(r"\n  .*", "", ours) != re.sub(r"\n  .*", "", theirs):
            wrong.append(f"{line}: {ours!r}, haproxy {theirs!r}")
    assert not wrong, "\n".join(wrong)
