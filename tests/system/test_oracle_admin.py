"""HAProxy and tacit are asked the same on the stats socket: forms, words and levels of each answer are compared."""

import json
import re
import shutil

import pytest
from conftest import Origin, admin, free_ports, wait_for
from test_oracle_stat import HAPROXY, TACIT, Subject, http_origin, request, talk

pytestmark = pytest.mark.skipif(not HAPROXY, reason="haproxy is not installed")

CFG = """
 description of: both
defaults
 mode http
 timeout client 5s
 timeout server 5s
 timeout connect 1s
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
            cfg = "".join(f" stats socket {directory}/{level}.sock level {level}\n" for level in ("user", "operator"))
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
        # How long a check took is not known when it failed at once.
        if key[4] not in ("check_duration", "src_ilim", "need_conn_est"):
            out[tuple(key)] = (tags, kind, value if kind == "str" and "chk" not in key[4] else None)
    return out


@pytest.mark.parametrize("args", ["", "b -1 -1", "-1 4 -1", "f 1 -1", "b 4 2"])
def test_stat_typed(both, args):
    theirs, ours = (typed_stat(s, args) for s in both)
    # Addresses differ by their ports.
    assert {k: v for k, v in ours.items() if k[4] != "addr"} == {k: v for k, v in theirs.items() if k[4] != "addr"}


@pytest.mark.parametrize("args", ["", "b -1 -1", "b 4 99", "-1 4 -1 up"])
def test_stat_json(both, args):
    def shapes(subject):
        return [[(f["objType"], f["proxyId"], f["id"], f["field"], f["processNum"], f["tags"], f["value"]["type"])
                 for f in row if f["field"]["name"] not in ("check_duration", "src_ilim", "need_conn_est")]
                for row in json.loads(subject.admin(f"show stat {args} json"))]

    theirs, ours = (shapes(s) for s in both)
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
