"""HAProxy and tacit load the same files of server states: the states afterwards and the warnings are compared, and each
program loads what the other one has written."""

import contextlib
import re

import oracle
import pytest
from conftest import Origin
from oracle import Subject

NAMES = ("be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight "
         "srv_time_since_last_change srv_check_status srv_check_result srv_check_health srv_check_state srv_agent_state "
         "bk_f_forced_id srv_f_forced_id srv_fqdn srv_port srvrecord srv_use_ssl srv_check_port srv_check_addr "
         "srv_agent_addr srv_agent_port").split()
HEAD = "1\n# " + " ".join(NAMES) + "\n"
PLAIN = dict(zip(NAMES, "2 b 1 s 127.0.0.1 2 0 10 10 5000 1 0 2 0 0 0 0 - 80 - 0 0 - - 0".split()))
SINCE, RESULT, HEALTH, CHECK, AGENT = 9, 11, 12, 13, 14
NUMBERS = ("srv_op_state", "srv_admin_state", "srv_uweight", "srv_iweight", "srv_time_since_last_change",
           "srv_check_status", "srv_check_result", "srv_check_state", "srv_agent_state", "bk_f_forced_id",
           "srv_f_forced_id", "srv_port")
CHECKED = {"srv_check_state": "6", "srv_check_status": "15", "srv_check_result": "3"}
# options of the server, and what its row has instead of PLAIN's fields
CASES = [("", {})] + [
    ("", {name: "99999" if name in ("srv_uweight", "srv_iweight", "srv_port") else "99"}) for name in NUMBERS
    if name != "srv_time_since_last_change"] + [
    ("", {"srv_time_since_last_change": "x"}),
    ("", {"srv_uweight": "300", "srv_iweight": "999", "bk_f_forced_id": "5"}),
    ("", {"srv_op_state": "0"}), ("", {"srv_op_state": "3"}), ("", {"srv_admin_state": "1", "srv_op_state": "0"}),
    ("", {"srv_admin_state": "2"}), ("", {"srv_admin_state": "8"}), ("", {"srv_admin_state": "9"}),
    ("", {"srv_admin_state": "16"}), ("", {"srv_admin_state": "40"}), ("", {"srv_admin_state": "5"}),
    ("", {"srv_uweight": "3"}), ("", {"srv_uweight": "0"}), ("", {"srv_uweight": "3", "srv_iweight": "5"}),
    ("", {"srv_uweight": "256"}), ("", {"srv_time_since_last_change": "0"}), ("", {"srv_port": "7777"}),
    ("", {"srv_addr": "127.0.0.9"}), ("", {"srv_fqdn": "localhost"}), ("", {"srv_check_port": "99"}),
    ("", {"srv_check_addr": "127.0.0.3"}), ("", {"srv_agent_addr": "127.0.0.3"}), ("", {"srv_agent_port": "99"}),
    ("disabled", {}), ("disabled", {"srv_admin_state": "1", "srv_op_state": "0"}),
    ("disabled", {"srv_admin_state": "5", "srv_op_state": "0"}), ("backup", {"srv_op_state": "0"}),
    ("check", CHECKED), ("check", CHECKED | {"srv_op_state": "0"}), ("check", CHECKED | {"srv_op_state": "3"}),
    ("check", CHECKED | {"srv_admin_state": "1", "srv_op_state": "0"}), ("check", CHECKED | {"srv_admin_state": "8"}),
    ("check", CHECKED | {"srv_check_state": "2"}), ("check", CHECKED | {"srv_check_port": "99"}),
    ("check", CHECKED | {"srv_check_addr": "127.0.0.3"}), ("check", CHECKED | {"srv_agent_port": "99"}),
    ("check", CHECKED | {"srv_check_status": "17", "srv_check_result": "2", "srv_op_state": "0"}),
    ("check agent-check agent-port {agent}", CHECKED | {"srv_agent_state": "22", "srv_agent_port": "{agent}"}),
    ("check agent-check agent-port {agent}", CHECKED | {"srv_agent_state": "18", "srv_agent_port": "{agent}"}),
    ("check agent-check agent-port {agent}", CHECKED | {"srv_agent_state": "22", "srv_agent_addr": "127.0.0.3"}),
    ("ssl verify none", {}), ("ssl verify none", {"srv_use_ssl": "1"}), ("", {"srv_use_ssl": "1"}),
    ("track b/t1", {}), ("track b/t2", {}), ("track b/t3", {}),
]
# names: options with the address, and the row's fields
NAMED = [
    ("ipv4@localhost:{port}", {"srv_addr": "127.0.0.9", "srv_fqdn": "localhost"}),
    ("ipv4@localhost:{port} init-addr last,libc", {"srv_addr": "127.0.0.9", "srv_fqdn": "localhost"}),
    ("ipv4@localhost:{port} init-addr libc,last", {"srv_addr": "127.0.0.9", "srv_fqdn": "localhost"}),
    ("ipv4@localhost:{port} init-addr 127.0.0.5", {"srv_addr": "127.0.0.9", "srv_fqdn": "localhost"}),
    ("nosuch.invalid:{port} init-addr last,none", {"srv_addr": "127.0.0.7", "srv_fqdn": "nosuch.invalid"}),
    ("nosuch.invalid:{port} init-addr last,none", {"srv_addr": "::7", "srv_fqdn": "other.invalid", "srv_port": "99"}),
    ("nosuch.invalid:{port} init-addr last,none", {"srv_addr": "-", "srv_op_state": "0", "srv_admin_state": "32"}),
    ("ipv4@localhost:{port}", {"srv_addr": "127.0.0.9", "srv_fqdn": "localhost", "srv_op_state": "0"}),
]
TRACKED = {"t1": {"srv_op_state": "0"}, "t2": {"srv_admin_state": "1", "srv_op_state": "0"}, "t3": {"srv_admin_state": "8"}}

CFG = """{glob}
defaults
 timeout connect 1m
 timeout client 1m
 timeout server 1m
 default-server inter 1h agent-inter 1h
 {load}
backend b
 {name}
 server first 127.0.0.1:{port} weight 10 check
{servers}
"""


def row(**fields):
    return " ".join((PLAIN | fields).values()) + "\n"


class World:
    def __init__(self, directory, stack):
        self.dir = directory
        self.stack = stack
        origin = Origin(lambda c: c.recv(1))
        agent = Origin(lambda c: c.sendall(b"up\n"))
        stack.callback(origin.close)
        stack.callback(agent.close)
        self.ports = {"port": str(origin.port), "agent": str(agent.port)}

    def start(self, program, text, servers="", load="load-server-state-from-file global", glob="", own=""):
        d = oracle.at(self.dir, program)
        d.mkdir(exist_ok=True)
        oracle.given(text or "")
        if text is not None:
            (d / "states").write_text(text)
        s = Subject(program, d, CFG.format(glob=glob or f" server-state-file {d}/states", load=load, name=own,
                                           servers=servers, **self.ports))
        self.stack.callback(s.stop)
        s.ports = self.ports.values()
        return s

    def both(self, read, *args, name="", **kw):
        """The results of read(subject) for HAProxy, and for tacit."""
        def play(program):
            subject = self.start(program, *args, **kw)
            try:
                return read(subject)
            finally:
                subject.stop()
        return oracle.both(play, name=name)


@pytest.fixture
def world(tmp_path):
    with contextlib.ExitStack() as stack:
        yield World(tmp_path, stack)


def rows(subject):
    """Without what depends on the moment, and the health of servers without checks: HAProxy counts it."""
    out = {}
    for line in subject.admin("show servers state").split("\n")[2:]:
        fields = line.split(" ")
        if len(fields) != len(NAMES):
            continue
        fields[SINCE] = min((0, 5000), key=lambda x, n=int(fields[SINCE]): abs(n - x))
        if not int(fields[CHECK]) & 2:
            fields[HEALTH] = fields[RESULT] = fields[10] = ""
        if int(fields[CHECK]) & 1:
            fields[RESULT] = ""
        fields[CHECK], fields[AGENT] = int(fields[CHECK]) & ~1, int(fields[AGENT]) & ~1
        out[fields[3]] = dict(zip(NAMES, fields))
    return out


def of_the_file(subject):
    """The part of rows() that is not in PLAIN, without what the first check of the first server may have changed already, and without
    the health of servers that are down."""
    found = rows(subject)
    del found["first"]
    for server, fields in found.items():
        # The address of localhost depends on the machine.
        if fields["srv_addr"] == "::1":
            fields["srv_addr"] = "127.0.0.1"
        skip = {"srv_check_status", "srv_check_result", "srv_name", *(["srv_check_health"] if fields["srv_op_state"] == "0" else [])}
        changed = {k: {"srv_port": "PORT", "srv_agent_port": "AGENT"}.get(k, v) if v in subject.ports else v
                   for k, v in fields.items() if v != PLAIN[k] and k not in skip}
        found[server] = changed
    return found


def warnings(subject):
    """About files, and about servers that have changed; tacit logs the latter, too."""
    text = re.sub(r"\[WARNING\] +\(\d+\) : (config : )?", "W ", subject.err).replace(str(subject.dir), "DIR")
    return sorted(re.sub(r"\d+ active.*", "", line) for line in text.split("\n")
                  if line.startswith("W ") and " via " not in line and "reason:" not in line
                  and "remains in" not in line and " can be " not in line and "stopped" not in line
                  and "stays root" not in line)


def test_each_field(world):
    lines, text = [], HEAD
    for i, (options, fields) in enumerate(CASES, 1):
        port = {"srv_port": world.ports["port"], "srv_name": f"s{i}", "srv_id": str(i)}
        lines.append(f" server s{i} 127.0.0.1:{{port}} weight 10 {options}")
        text += row(**(port | {k: v.format(**world.ports) for k, v in fields.items()}))
    for name, fields in TRACKED.items():
        lines.append(f" server {name} 127.0.0.1:{{port}} weight 10 check")
        text += row(srv_name=name, srv_port=world.ports["port"], **fields)
    for i, (address, fields) in enumerate(NAMED, 1):
        lines.append(f" server n{i} {address} weight 10")
        text += row(**({"srv_name": f"n{i}", "srv_port": world.ports["port"]} | fields))
    (a, theirs), (b, ours) = world.both(lambda s: (of_the_file(s), warnings(s)), text, servers="\n".join(lines).format(**world.ports))
    assert a.keys() == b.keys()
    different = {}
    for name in a:
        skip = set()
        # without agent-port that of checks is shown; HAProxy shows the one of the configuration
        if not a[name].get("srv_agent_state"):
            skip.add("srv_agent_port")
        one, two = ({k: v for k, v in r[name].items() if k not in skip} for r in (a, b))
        if one != two:
            different[name] = one, two
    assert not different
    # a server in maintenance is not reported to be down besides
    kept = [w for w in theirs if not any(f"b/{n} is DOWN" in w for n in b if int(b[n].get("srv_admin_state", 0)) & 0x25)]
    assert kept == ours


FILES = {
    "missing": None, "empty": "", "version": HEAD.replace("1\n", "2\n", 1) + row(srv_name="first"),
    "no version": row(srv_name="first"), "short": HEAD + "2 b 1 first 127.0.0.1\n",
    "incomplete": HEAD + row(srv_name="first", srv_uweight="3").rstrip("\n"),
    "twenty": HEAD + " ".join(row(srv_name="first", srv_uweight="3").split()[:20]) + "\n",
    "nineteen": HEAD + " ".join(row(srv_name="first", srv_uweight="3").split()[:19]) + "\n",
    "more": HEAD + row(srv_name="first", srv_uweight="3").rstrip("\n") + " a b\n",
    "comments": HEAD + "# x\n\n" + row(srv_name="first", srv_uweight="3"),
    "half": HEAD + row(srv_name="first", srv_uweight="3") + "2 b 1\n" + row(srv_name="first", srv_uweight="4"),
    "others": HEAD + row(srv_name="nosuch", srv_uweight="3") + row(be_name="x", srv_name="first", srv_uweight="3"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("load", ["global", "local"])
def test_bad_files(world, name, load):
    """Each is a warning at most, and never a failed start."""
    def read(s):
        return rows(s)["first"]["srv_uweight"], warnings(s)
    if load == "global":
        theirs, ours = world.both(read, FILES[name])
    else:
        if FILES[name] is not None:
            (world.dir / "f").write_text(FILES[name])
        theirs, ours = world.both(read, None, load="load-server-state-from-file local", glob=f" server-state-base {world.dir}",
                                  own="server-state-file-name f")
    assert ours == theirs


def test_which_file(world):
    (world.dir / "b").write_text(HEAD + row(srv_name="first", srv_uweight="6"))
    (world.dir / "other").write_text(HEAD + row(srv_name="first", srv_uweight="7"))
    base = f" server-state-base {world.dir}\n server-state-file other"
    cases = (("none", "", "10"), ("global", "", "7"), ("local", "", "6"), ("local", "server-state-file-name", "6"),
             ("local", "server-state-file-name use-backend-name", "6"), ("local", "server-state-file-name other", "7"),
             ("local", f"server-state-file-name {world.dir}/other", "7"), ("none", "load-server-state-from-file local", "6"))
    for i, (load, own, weight) in enumerate(cases):
        assert world.both(lambda s: rows(s)["first"]["srv_uweight"], None, load=f"load-server-state-from-file {load}", own=own,
                          glob=base, name=str(i)) == (weight, weight)
    theirs, ours = world.both(warnings, None, glob=" #")
    assert theirs == ours and any("'server-state-file' is not set!" in line for line in ours)


SERVERS = """ server a 127.0.0.1:{port} weight 20 check
 server b 127.0.0.1:{port} weight 20
 server c 127.0.0.1:{port} weight 20 check disabled
 server d ipv4@localhost:{port} weight 20
 server e 127.0.0.1:{port} weight 20 track b/a
 server f 127.0.0.1:{port} weight 20 check
"""


CHANGES = ("set server b/a state drain", "set server b/b weight 5", "disable server b/f", "set server b/d state maint",
           "set server b/b addr 127.0.0.1")
WANT = {"a": ("2", "8", "20"), "b": ("2", "0", "5"), "c": ("0", "5", "20"), "d": ("0", "1", "20"), "e": ("2", "16", "20"),
        "f": ("0", "1", "20")}


def test_what_one_writes_the_other_reads(world):
    """Each program loads what it has written, and what the other one has."""
    servers = SERVERS.format(**world.ports)

    def write(program):
        first = world.start(program, None, servers=servers)
        for c in CHANGES:
            first.admin(oracle.given(c))
        text = first.admin("show servers state").replace(f" {world.ports['port']} ", " PORT ")
        first.stop()
        # The time since the last change depends on when it was written, and the first server may have been checked by then.
        text = re.sub(r"(?m)^((?:\S+ ){3}first (?:\S+ ){6})\d+ \d+ \d+ ", r"\g<1>6 3 4 ", text)
        return re.sub(r"(?m)^((?:\S+ ){9})\d+ ", r"\g<1>0 ", text)

    def read(program):
        found = []
        for text in written:
            again = world.start(program, text.replace(" PORT ", f" {world.ports['port']} "), servers=servers)
            got = rows(again)
            assert {n: (got[n]["srv_op_state"], got[n]["srv_admin_state"], got[n]["srv_uweight"]) for n in WANT} == WANT
            assert "application failed" not in again.err and "corrupted" not in again.err
            # and they can be changed as before
            again.admin("set server b/d state ready")
            found.append(rows(again)["d"]["srv_op_state"])
            again.stop()
        return found

    written = oracle.both(write, name="written")
    assert oracle.same(read, name="read") == ["2", "2"]
