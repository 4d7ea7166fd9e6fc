"""Names that are resolved at run time: the effects of a name server's answers; messages and columns are those of HAProxy."""

import http.client
import re
import subprocess
import threading

import facts
import moved_clock
import oracle
import pytest
from conftest import TACIT, WAIT, free_port
from facts import becomes
from nameserver import A, REFUSED, SERVFAIL, Nameserver
from resolve_rig import DEFAULTS, Web, get, ns, section, subject  # noqa: F401

SERVICE = "_http._tcp.x"

# --- both programs say the same ---

def patient(ns, program):
    """A section where a silent name server is given up, and where others are in time on a busy machine, too. HAProxy 2.6 asks for
    addresses of the other family with the next retry."""
    return section(ns).replace("timeout retry 1m", f"timeout retry {moved_clock.BRIEF if program == TACIT else '1s'}")


def play_addresses(s, ns):
    s.wait_until("s1", "no check", "127.0.0.2:80")
    ns.zone["app.x"] = {"a": ["127.0.0.3", "127.0.0.4"]}
    s.wait_until("s2", "no check", "127.0.0.4:80")
    ns.zone["app.x"] = {"aaaa": ["::1"]}
    s.wait_until("s1", "no check", "[::1]:80")
    s.wait_until("s2", "MAINT (resolution)", "")
    del ns.zone["app.x"]
    s.wait_until("s1", "MAINT (resolution)", "")
    ns.zone["app.x"] = {"cname": "real.x"}
    ns.zone["real.x"] = {"a": ["127.0.0.9"]}
    s.wait_until("s1", "no check", "127.0.0.9:80")
    ns.rcode = REFUSED
    s.wait_until("s1", "MAINT (resolution)")
    ns.rcode = 0
    s.wait_until("s1", "no check")
    ns.rcode = SERVFAIL
    s.wait_until("s1", "MAINT (resolution)")
    ns.rcode = 0
    s.wait_until("s1", "no check")
    s.give_up(ns, "app.x", ns.fall_silent("app.x"))
    s.wait_until("s1", "MAINT (resolution)")
    ns.silent = False
    s.wait_until("s1", "no check")
    return s.reports(), s.servers(), re.sub(r"\d+", "N", s.admin("show resolvers res")), s.admin("show resolvers q")


def play_records(s, ns):
    s.wait_until("s1", "no check")
    s.wait_until("t1", "no check", backend="c")
    ns.zone[SERVICE] = {"srv": [(500, 8001, "n1.x", "127.0.0.21")]}
    becomes(lambda: s.servers()["s1"], ("no check", "127.0.0.21:8001", "2"))
    del ns.zone[SERVICE]
    s.wait_until("s1", "MAINT (resolution)", "")
    return s.reports(), s.servers(), s.servers("c")


def rows_of(s):
    """Names, addresses and ports of `show servers state`."""
    return [(f[3], f[4], f[18]) for f in (row.split() for row in s.admin("show servers state b").splitlines()[2:]) if f]


def play_operator(s, ns):
    """ An operator's address stays while the record does; a failure takes the address, and leaves the port."""
    s.wait_until("s1", "no check", "127.0.0.2:80")
    s.admin("set server b/s1 addr 127.0.0.8 port 81")
    ns.heard("app.x", 3, more=True)
    stays = rows_of(s)
    ns.zone["app.x"] = {"a": ["127.0.0.2", "127.0.0.3"]}
    s.wait_until("s2", "no check", "127.0.0.3:80")
    added = rows_of(s)
    ns.zone["app.x"] = {"a": ["127.0.0.3", "127.0.0.4"]}
    s.wait_until("s1", "no check", "127.0.0.4:81")
    del ns.zone["app.x"]
    s.wait_until("s1", "MAINT (resolution)", "")
    s.wait_until("s2", "MAINT (resolution)", "")
    return stays, added, rows_of(s)


ADDRESSES = """
backend b
    server s1 app.x:80 resolvers res init-addr none
    server s2 app.x:80 resolvers res init-addr none
    server s3 127.0.0.1:80
"""
RECORDS = f"""
backend b
    server-template s 2 {SERVICE} resolvers res init-addr none
    server other 127.0.0.1:1
backend c
    server-template t 1 _other._tcp.x resolvers res init-addr none resolve-opts ignore-weight
"""


@pytest.mark.parametrize("cfg, play", [(ADDRESSES, play_addresses), (RECORDS, play_records), (ADDRESSES, play_operator)],
                         ids=["addresses", "records", "operator"])
def test_haproxy_prints_and_shows_the_same(subject, cfg, play):
    def play_once(program):
        ns = Nameserver()
        ns.zone["app.x"] = {"a": ["127.0.0.2"]}
        ns.zone[SERVICE] = {"srv": [(1, 8001, "n1.x", "127.0.0.11")]}
        ns.zone["_other._tcp.x"] = {"srv": [(1000, 8001, "n2.x")]}
        ns.zone["n2.x"] = {"a": ["127.0.0.12"]}
        try:
            return [sorted(x) if isinstance(x, list) else x for x in play(subject(patient(ns, program) + cfg, program, clock=program == TACIT), ns)]
        finally:
            ns.close()

    oracle.same(play_once, script=cfg)


CHECKED = f"""
backend b
    server s1 app.x:80 resolvers res init-addr none check inter 100ms addr 127.0.0.1 port PORT
backend c
    server-template t 1 {SERVICE} resolvers res init-addr none check inter 100ms addr 127.0.0.1 port PORT
"""


def test_haproxy_checks_the_same(subject):
    """The state of one server by DNS and checks: up, down by a name, down by a check, and both."""
    oracle.same(lambda program: reports_with_checks(subject, program), script=CHECKED)


def reports_with_checks(subject, program):
    """The lines of one program, in alphabetical order."""
    ns, web = Nameserver(), Web("up", "127.0.0.1")
    try:
        ns.zone["app.x"] = {"a": ["127.0.0.2"]}
        ns.zone[SERVICE] = {"srv": [(1, 8001, "n1.x", "127.0.0.11")]}
        s = subject(patient(ns, program) + CHECKED.replace("PORT", str(web.port)), program)
        s.wait_until("s1", "UP", "127.0.0.2:80")
        s.wait_until("t1", "UP", "127.0.0.11:8001", backend="c")
        del ns.zone["app.x"]
        s.wait_until("s1", "MAINT (resolution)", "")
        ns.zone["app.x"] = {"a": ["127.0.0.3"]}
        s.wait_until("s1", "UP", "127.0.0.3:80")
        web.close()
        s.wait_until("s1", "DOWN")
        s.wait_until("t1", "DOWN", backend="c")
        del ns.zone["app.x"]
        s.wait_until("s1", "MAINT (resolution)", "")
        ns.zone[SERVICE] = {}
        s.wait_until("t1", "MAINT (resolution)", "", backend="c")
        return sorted(re.sub(r"duration: \d+ms", "duration: Nms", line) for line in s.reports())
    finally:
        ns.close()


ANSWERS = [
    "set server b/s2 addr 127.0.0.99", "set server b/s2 addr 127.0.0.99", "set server b/s2 addr 127.0.0.99 port 81",
    "set server b/s2 addr 127.0.0.99 port 82", "set server b/s2 addr 127.0.0.98 port 83",
    "set server b/s2 addr 127.0.0.98 port +1", "set server b/s2 addr 127.0.0.98 port abc",
    "set server b/s2 addr 127.0.0.98 port", "set server b/s2 addr", "set server b/s2 addr foo",
    "set server b/s2 addr 127.0.0.97:80", "set server b/s2 addr ::1", "set server b/s2 addr ::1 port 84",
    "set server b/s2 addr [::1]", "set server b/s3 addr 127.0.0.20", "set server b/s3 addr 127.0.0.20 port 80",
    "set server b/s3 addr 127.0.0.20 port +5", "set server b/s4 addr 127.0.0.20 port 80",
    "set server b/s5 addr 127.0.0.1 port 80", "set server b/s1 fqdn new.x", "set server b/s1 fqdn new.x",
    "set server b/s1 fqdn", "set server b/s2 fqdn new.x", "set server b/s1 fqdn bad..name",
    "show resolvers nope",
]


def test_commands_are_answered_as_by_haproxy(subject):
    def play(program):
        ns = Nameserver()
        ns.zone["app.x"] = ns.zone["new.x"] = {"a": ["127.0.0.2"]}
        s = subject(section(ns) + """
backend b
    server s1 app.x:80 resolvers res init-addr none
    server s2 127.0.0.9:81
    server s3 127.0.0.10
    server s4 127.0.0.11:+10
    server s5 unix@/tmp/x
""", program)
        s.wait_until("s1", "no check")
        seen = [(command, s.admin(command)) for command in ANSWERS]
        ns.close()
        return seen

    oracle.same(play, script="\n".join(ANSWERS))


# --- start ---

def check(tmp_path, *args, cfg):
    file = tmp_path / "c.cfg"
    file.write_text(DEFAULTS + f"frontend f\n bind 127.0.0.1:{free_port()}\n default_backend b\n" + cfg)
    done = subprocess.run([TACIT, "-c", "-f", str(file), *args], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("how, code", [("", 1), ("init-addr last,libc,none", 0), ("init-addr none", 0),
                                       ("init-addr 127.0.0.1", 0)])
def test_names_stop_the_start_only_if_the_line_asks_for_it(tmp_path, how, code):
    assert check(tmp_path, cfg=f"backend b\n server s no.such.name.invalid:80 {how}\n")[0] == code
    assert check(tmp_path, "-dr", cfg=f"backend b\n server s no.such.name.invalid:80 {how}\n")[0] == 0


def test_a_dead_name_server_stops_nothing(subject):
    nobody = Nameserver()
    nobody.close()
    port = free_port()
    web = Web("up", "127.0.0.1")
    s = subject(section(nobody) + f"""
frontend f
    bind 127.0.0.1:{port}
    default_backend b
backend b
    server s1 app.x:80 resolvers res init-addr last,none
    server s2 127.0.0.1:{web.port}
""")
    assert get(port) == (200, "up")
    assert s.servers()["s1"][0] == "MAINT (resolution)"
    web.close()


# --- the protocol ---

def test_what_is_truncated_is_asked_for_over_tcp(subject, ns):
    ns.truncate = True
    ns.zone["app.x"] = {"a": ["127.0.0.5"]}
    s = subject(section(ns) + "backend b\n server s app.x:80 resolvers res init-addr none resolve-prefer ipv4\n")
    s.wait_until("s", "no check", "127.0.0.5:80")
    assert ("app.x", A, "udp") in ns.queries and ("app.x", A, "tcp") in ns.queries
    assert re.search(r"truncated: +[1-9]", s.admin("show resolvers res"))


def test_tcp_name_servers_are_asked_over_tcp_only(subject, ns):
    ns.zone["app.x"] = {"a": ["127.0.0.5"]}
    s = subject(section(ns).replace("ns1 127", "ns1 tcp@127") + "backend b\n server s app.x:80 resolvers res init-addr none\n")
    s.wait_until("s", "no check", "127.0.0.5:80")
    ns.zone["app.x"] = {"a": ["127.0.0.6"]}
    s.wait_until("s", "no check", "127.0.0.6:80")
    assert {over for _, _, over in ns.queries} == {"tcp"}


def test_forged_answers_change_nothing(subject, ns):
    """ Each answer is preceded by one with another id and another host's address."""
    ns.wrong_id = True
    ns.zone["app.x"] = {"a": ["127.0.0.5"]}
    s = subject(section(ns) + "backend b\n server s app.x:80 resolvers res init-addr none resolve-prefer ipv4\n")
    s.wait_until("s", "no check", "127.0.0.5:80")
    assert re.search(r"outdated: +[1-9]", s.admin("show resolvers res"))
    assert not [line for line in s.reports() if "DOWN" in line]


def test_the_other_name_server_answers(subject, ns):
    silent = Nameserver()
    silent.silent = True
    ns.zone["app.x"] = {"a": ["127.0.0.5"]}
    two = section(ns, f"nameserver ns2 127.0.0.1:{silent.port}")
    s = subject(two + "backend b\n server s app.x:80 resolvers res init-addr none resolve-prefer ipv4\n")
    s.wait_until("s", "no check", "127.0.0.5:80")
    silent.heard("app.x", 6, more=True)
    assert s.servers()["s"][0] == "no check"
    assert "by res/ns1." in "".join(s.reports())
    silent.close()


def test_five_hundred_records(subject, ns):
    ns.zone[SERVICE] = {"srv": [(1, 10000 + i, f"n{i}.x", f"127.1.{i // 250}.{i % 250 + 1}") for i in range(500)]}
    s = subject(section(ns).replace("8192", "65535") + f"backend b\n server-template s 500 {SERVICE} resolvers res init-addr none\n")
    s.until("counter b/act eq 500")
    assert s.servers()["s500"][1] == "127.1.1.250:10499"
    # The same over TCP, for an answer that does not fit into 512 bytes.
    ns.zone[SERVICE]["srv"].pop()
    ns.truncate = True
    s.until("server b/s500 state eq MAINT")
    assert sum(status == "no check" for status, _, _ in s.servers().values()) == 499


# --- under traffic ---

@pytest.mark.parametrize("workers", [1, 3])
def test_servers_move_under_traffic(subject, ns, workers):
    """ The address changes every few milliseconds, by answers and by commands, while clients use kept connections: no
    request fails, and after the last change none is sent to a previous address."""
    origins = [Web(f"o{i}", f"127.0.0.{10 + i}") if i == 0 else None for i in range(3)]
    origins[1:] = [Web(f"o{i}", f"127.0.0.{10 + i}", origins[0].port) for i in (1, 2)]
    ns.zone["app.x"] = {"a": ["127.0.0.10"]}
    port = free_port()
    s = subject(section(ns).replace("timeout resolve 200ms", "timeout resolve 20ms") + f"""
frontend f
    bind 127.0.0.1:{port}
    default_backend b
backend b
    http-reuse always
    server s app.x:{origins[0].port} resolvers res init-addr none resolve-prefer ipv4
""", workers=workers)
    s.wait_until("s", "no check")
    stop, bad, done = threading.Event(), [], facts.Seen()

    def client():
        while not stop.is_set():
            conn = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
            for _ in range(5):
                got = get(port, conn=conn)
                done.append(got)
                if got[0] != 200:
                    bad.append(got)
            conn.close()

    clients = [threading.Thread(target=client) for _ in range(4)]
    for c in clients:
        c.start()
    for turn in range(30):
        where, before = f"127.0.0.{10 + turn % 3}", len(done)
        if turn % 2:
            ns.zone["app.x"] = {"a": [where]}
        else:
            s.admin(f"set server b/s addr {where}")
        if turn % 2:
            s.wait_until("s", "no check", f"{where}:{origins[0].port}")
        done.until(lambda seen, n=before, body=f"o{turn % 3}": (200, body) in seen[n:], f"an answer from {where}")
    ns.zone["app.x"] = {"a": ["127.0.0.12"]}
    # An answer from before may be on its way.
    ns.heard("app.x", 3, more=True)
    s.wait_until("s", "no check", f"127.0.0.12:{origins[0].port}")
    after = [get(port) for _ in range(20)]
    stop.set()
    for c in clients:
        c.join()
    assert not bad, bad[:5]
    assert after == [(200, "o2")] * 20
    for o in origins:
        o.close()
