"""Agents of SPOE that die, stall, lie or answer out of order; the examples of Coraza and CrowdSec; errors of the file."""

import contextlib
import re
import socket
import threading
import types

import pytest
import spop_agent as spop
from conftest import WAIT, Origin, connect, free_port, recv_all, run
from moved_clock import BRIEF_S
from spop_agent import ACK, TXN, Agent, frame, set_var
from test_conf_played import read_head

SPOE = """[e]
spoe-agent ag
    messages m
    {options}
    option var-prefix p
    option set-on-error err
    timeout hello 1m
    timeout idle 1m
    timeout processing {ms}ms
    use-backend agents
spoe-message m
    args path=path
    event on-frontend-http-request
"""
CFG = """
frontend f
    mode http
    bind 127.0.0.1:{port}
    filter spoe engine e config {file}
    default_backend b
backend b
    mode http
    http-request return status 200 hdr x "%[var(txn.p.v)]/%[var(txn.p.err)]"
backend agents
    mode spop
    {options}
    server a 127.0.0.1:{agent}
"""


class Front:
    def __init__(self, daemon, tmp_path, agent, options="", ms=int(WAIT * 1000), hello="1m", servers="", extra="", clock=False):
        file = tmp_path / "spoe.cfg"
        file.write_text(SPOE.format(options=options, ms=ms).replace("hello 1m", f"hello {hello}"))
        self.port = free_port()
        self.daemon = daemon(CFG.format(port=self.port, file=file, agent=agent.port, options=servers), extra=extra, clock=clock)

    def open(self):
        return connect(self.port, timeout=WAIT)

    @staticmethod
    def send(c, path):
        c.sendall(f"GET /{path} HTTP/1.1\r\nHost: h\r\n\r\n".encode())

    @staticmethod
    def value(c):
        data = b""
        while b"\r\n\r\n" not in data:
            got = c.recv(65536)
            assert got
            data += got
        return re.search(rb"\r\nx: (\S*)\r\n", data)[1].decode()

    def ask(self, path="x"):
        with self.open() as c:
            self.send(c, path)
            return self.value(c)


def path_of(f):
    return dict(f.messages()[0][1])["path"].strip("/")


def says_path(agent, conn, f):
    return frame(ACK, set_var(TXN, "v", path_of(f)), f.stream, f.number)


@pytest.fixture
def agents():
    made = []

    def make(*args, **kw):
        made.append(Agent(*args, **kw))
        return made[-1]
    yield make
    for a in made:
        a.close()


def test_answers_in_another_order_reach_their_requests(daemon, tmp_path, agents):
    held, n = [], 12

    def last_first(agent, conn, f):
        held.append(f)
        return b"".join(says_path(agent, conn, x) for x in reversed(held)) if len(held) == n else b""
    agent = agents(last_first)
    front = Front(daemon, tmp_path, agent, extra="nbthread 1")
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(front.open()) for _ in range(n)]
        for i, c in enumerate(clients):
            front.send(c, f"c{i}")
        assert [front.value(c) for c in clients] == [f"c{i}/" for i in range(n)]
    assert len(agent.conns) == 1


def test_an_agent_that_does_not_pipeline_gets_one_question_a_connection(daemon, tmp_path, agents):
    n, all_there = 6, threading.Event()

    def together(agent, conn, f):
        assert all_there.wait(WAIT)
        return says_path(agent, conn, f)
    agent = agents(together, greet=lambda agent, conn, f: spop.hello(capabilities=""))
    front = Front(daemon, tmp_path, agent)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(front.open()) for _ in range(n)]
        for i, c in enumerate(clients):
            front.send(c, f"c{i}")
        agent.wait(lambda a: len(a.notifies) == n)
        all_there.set()
        assert [front.value(c) for c in clients] == [f"c{i}/" for i in range(n)]
    assert front.ask("again") == "again/"


def test_a_window_that_is_full_opens_another_connection(daemon, tmp_path, agents):
    held, n = [], 6

    def all_at_once(agent, conn, f):
        held.append((conn, f))
        if len(held) == n:
            for c, x in held:
                c.sendall(says_path(agent, c, x))
        return b""
    agent = agents(all_at_once)
    front = Front(daemon, tmp_path, agent, options="max-waiting-frames 2\n    no option async", extra="nbthread 1")
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(front.open()) for _ in range(n)]
        for i, c in enumerate(clients):
            front.send(c, f"c{i}")
        assert [front.value(c) for c in clients] == [f"c{i}/" for i in range(n)]
    assert len(agent.conns) == n / 2


def test_a_late_answer_is_used_for_no_other_request(daemon, tmp_path, agents):
    first = []

    def late(agent, conn, f):
        if not first:
            first.append(f)
            return b""
        return frame(ACK, set_var(TXN, "v", "late"), first[0].stream, first[0].number) + says_path(agent, conn, f)
    agent = agents(late)
    front = Front(daemon, tmp_path, agent, ms=BRIEF_S * 1000, clock=True)
    with front.open() as c:
        front.send(c, "one")
        agent.wait(lambda a: a.notifies)
        front.daemon.expire()
        assert front.value(c) == "/1"
        front.send(c, "two")
        assert front.value(c) == "two/"


@pytest.mark.parametrize("lie", ["fragment", "huge", "action", "abort", "cut"])
def test_a_frame_that_is_invalid_costs_its_question(daemon, tmp_path, agents, lie):
    lies = {"fragment": lambda f: frame(ACK, b"", f.stream, f.number, flags=0), "huge": lambda f: b"\xff\xff\xff\xff",
            "action": lambda f: frame(ACK, b"\x07\x00", f.stream, f.number),
            "abort": lambda f: frame(ACK, b"", f.stream, f.number, flags=3),
            "cut": lambda f: frame(ACK, set_var(TXN, "v", "x")[:-1], f.stream, f.number)}
    agent = agents(lambda agent, conn, f: says_path(agent, conn, f) if path_of(f) == "good" else lies[lie](f))
    front = Front(daemon, tmp_path, agent, options="no option async")
    errors = {"fragment": "266", "huge": "259"}
    assert front.ask("bad") == f"/{errors.get(lie, '260')}"
    assert front.ask("good") == "good/"
    assert len(agent.conns) == 2


def test_an_agent_that_dies_costs_what_it_was_asked(daemon, tmp_path, agents):
    agent = agents(lambda agent, conn, f: None if path_of(f) == "kill" else says_path(agent, conn, f))
    front = Front(daemon, tmp_path, agent, options="no option async")
    for _ in range(3):
        assert front.ask("a") == "a/"
        assert front.ask("kill") == "/257"


def test_questions_of_an_asynchronous_agent_end_with_its_last_connection(daemon, tmp_path, agents):
    agent = agents(lambda agent, conn, f: None)
    front = Front(daemon, tmp_path, agent)
    assert front.ask() == "/257"


def test_a_status_of_an_agent_is_an_error(daemon, tmp_path, agents):
    bye = frame(spop.AGENT_DISCONNECT, spop.text("status-code") + spop.value((3, spop.varint(2**32 - 256)))
                + spop.text("message") + spop.value("bye"))
    front = Front(daemon, tmp_path, agents(lambda agent, conn, f: bye), options="no option async")
    assert front.ask() == "/355"


def test_a_response_of_a_cache_waits_for_no_agent(daemon, tmp_path, agents, origins):
    """The rules behind send-spoe-group run on it."""
    file, port = tmp_path / "spoe.cfg", free_port()
    agent = agents(lambda agent, conn, f: frame(ACK, b"", f.stream, f.number))
    file.write_text(SPOE.format(options="groups g", ms=int(WAIT * 1000)).replace("path=path", "x=int(1)").replace("messages m\n", "", 1).replace("    event on-frontend-http-request\n", "")
                    + "spoe-group g\n    messages m\n")

    def serve(conn):
        if read_head(conn):
            conn.sendall(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
    daemon(f"""
frontend f
    mode http
    bind 127.0.0.1:{port}
    filter spoe engine e config {file}
    http-response send-spoe-group e g
    http-response set-header X-After yes
    default_backend b
backend b
    mode http
    http-request cache-use c
    http-response cache-store c
    server s 127.0.0.1:{origins(serve).port}
backend agents
    mode spop
    server a 127.0.0.1:{agent.port}
cache c
    total-max-size 1
""")
    for is_hit in (False, True):
        with connect(port, timeout=WAIT) as c:
            c.sendall(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            got = recv_all(c).lower()
        assert b"\r\nx-after: yes\r\n" in got and (b"\r\nage: " in got) == is_hit, got
    assert len(agent.notifies) == 1


def test_an_agent_that_stalls_is_left_when_its_window_is_full(daemon, tmp_path, agents):
    stalled = []

    def stalls(agent, conn, f):
        stalled[:] = stalled or [conn]
        return b"" if conn is stalled[0] else says_path(agent, conn, f)
    agent = agents(stalls)
    front = Front(daemon, tmp_path, agent, options="max-waiting-frames 1", ms=BRIEF_S * 1000, clock=True)
    with front.open() as c:
        front.send(c, "c0")
        agent.wait(lambda a: a.notifies)
        front.daemon.expire()
        assert front.value(c) == "/1"
    assert [front.ask(f"c{i}") for i in (1, 2)] == ["c1/", "c2/"]
    agent.wait(lambda a: a.disconnects)
    assert agent.disconnects[0].items()["status-code"] == 2


@pytest.mark.parametrize("option, made", [("", ""), ("option force-set-var", "agent")])
def test_variables_of_the_process_are_made_by_trusted_agents_only(daemon, tmp_path, agents, option, made):
    """One that the process has already is set, and unset, by any."""
    file, port = tmp_path / "spoe.cfg", free_port()
    sets = set_var(spop.PROC, "made", "agent") + set_var(spop.PROC, "known", "agent") + spop.unset_var(spop.PROC, "gone")
    agent = agents(lambda agent, conn, f: frame(ACK, sets, f.stream, f.number))
    file.write_text(SPOE.format(options=option, ms=int(WAIT * 1000)))
    cfg = CFG.replace("%[var(txn.p.v)]/%[var(txn.p.err)]", "%[var(proc.p.made)]/%[var(proc.p.known)]/%[var(proc.p.gone)]")
    daemon(cfg.format(port=port, file=file, agent=agent.port, options=""),
           extra="set-var proc.p.known str(old)\n    set-var proc.p.gone str(old)")
    with connect(port, timeout=WAIT) as c:
        Front.send(c, "x")
        assert Front.value(c) == f"{made}/agent/"


@pytest.mark.parametrize("sent, found", [((7, bytes(15) + b"\1"), "::1"), ((6, b"\x7f\0\0\1"), "127.0.0.1"), (None, ""), (True, "1"),
                                         (-5, "-5"), ((3, spop.varint(2**31)), "2147483648")])
def test_values_of_an_agent_have_their_types(daemon, tmp_path, agents, sent, found):
    agent = agents(lambda agent, conn, f: frame(ACK, set_var(TXN, "v", sent), f.stream, f.number))
    assert Front(daemon, tmp_path, agent, ms=int(WAIT * 1000)).ask() == f"{found}/"


@pytest.mark.parametrize("greeting, code", [
    (spop.hello(version="1.0"), 8), (spop.hello(size=255), 9), (spop.hello(size=2**20), 9), (frame(ACK, b"", 1, 1), 4),
    (frame(spop.AGENT_HELLO, b""), 5), (frame(spop.AGENT_HELLO, spop.text("version") + spop.value("2.0")), 6),
    (frame(spop.AGENT_HELLO, b"\x09"), 4), (b"", 2)])
def test_a_wrong_greeting_is_refused_with_its_reason(daemon, tmp_path, agents, greeting, code):
    """b"": it says nothing. The question waits for the next connection, or the one after it if that was late."""
    agent = agents(says_path, greet=lambda agent, conn, f: spop.hello() if len(agent.hellos) > 1 else greeting)
    front = Front(daemon, tmp_path, agent, hello="1m" if greeting else "1s")
    assert front.ask("good") == "good/"
    agent.wait(lambda a: a.disconnects)
    assert {d.items()["status-code"] for d in agent.disconnects} == {code}


def test_a_farewell_of_an_agent_without_a_reason_is_an_io_error(daemon, tmp_path, agents):
    bye = frame(spop.AGENT_DISCONNECT, b"")
    front = Front(daemon, tmp_path, agents(lambda agent, conn, f: bye), options="no option async", ms=int(WAIT * 1000))
    assert front.ask() == "/257"


@pytest.mark.parametrize("options, capabilities", [
    ("no option async", "pipelining"), ("no option pipelining", "async"), ("no option async\n    no option pipelining", "")])
def test_an_engine_lists_what_its_options_permit(daemon, tmp_path, agents, options, capabilities):
    agent = agents(says_path)
    assert Front(daemon, tmp_path, agent, options=options, ms=int(WAIT * 1000)).ask("x") == "x/"
    assert agent.hellos[0].items()["capabilities"] == capabilities


def test_an_agent_that_is_away_costs_the_timeout(daemon, tmp_path):
    front = Front(daemon, tmp_path, types.SimpleNamespace(port=free_port()), ms=150)
    assert front.ask() == "/1"


SERVER_SPOE = SPOE.replace("args path=path\n    event on-frontend-http-request", "args len=res.len\n    event {event}")
SERVER_CFG = """
frontend f
    bind 127.0.0.1:{port}
    filter spoe engine e config {file}
    default_backend b
backend b
    server o 127.0.0.1:{origin}
backend agents
    mode spop
    server a 127.0.0.1:{agent}
"""


def serve_tcp(daemon, tmp_path, agent, origin, event, ms, clock=False):
    file = tmp_path / "spoe.cfg"
    file.write_text(SERVER_SPOE.format(options="", ms=ms, event=event))
    d = daemon(SERVER_CFG.format(port=free_port(), file=file, agent=agent.port, origin=origin.port), clock=clock)
    d.port = int(re.search(r"bind 127.0.0.1:(\d+)", d.cfg.read_text())[1])
    return d


@pytest.mark.parametrize("event", ["on-server-session", "on-tcp-response"])
@pytest.mark.parametrize("end", ["answers", "dies", "stalls"])
def test_a_server_that_ends_while_an_agent_is_asked(daemon, tmp_path, agents, origins, event, end):
    """The client gets all that the server has sent, and its end, when the agent has answered, died or let the time pass."""
    ended, n = threading.Event(), 3

    def answer(agent, conn, f):
        assert ended.wait(WAIT)
        return {"answers": frame(ACK, b"", f.stream, f.number), "dies": None, "stalls": b""}[end]

    def bye(conn):
        conn.sendall(b"bye" * 1000)
        conn.close()
        ended.set()
    agent = agents(answer)
    d = serve_tcp(daemon, tmp_path, agent, origins(bye), event, BRIEF_S * 1000, clock=True)
    for i in range(n):
        ended.clear()
        with connect(d.port) as c:
            c.settimeout(WAIT)
            if end == "stalls":
                agent.wait(lambda a, i=i: len(a.notifies) > i)
                assert ended.wait(WAIT)
                d.expire()
            assert recv_all(c) == b"bye" * 1000
    agent.wait(lambda a: len(a.notifies) == n)


def test_a_client_that_leaves_while_an_agent_is_asked_about_its_server(daemon, tmp_path, agents, origins):
    """Its session ends, and the answer that comes then is ignored."""
    left = threading.Event()

    def answer(agent, conn, f):
        assert left.wait(WAIT)
        return frame(ACK, set_var(TXN, "v", "late"), f.stream, f.number)
    agent = agents(answer)
    d = serve_tcp(daemon, tmp_path, agent, origins(lambda conn: conn.recv(1)), "on-tcp-response", int(WAIT * 1000))
    c = connect(d.port)
    agent.wait(lambda a: a.notifies)
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    c.close()
    d.until("sessions eq 0")
    left.set()
    agent.wait(lambda a: a.answered)
    assert d.is_running()


def test_a_client_that_leaves_is_forgotten(daemon, tmp_path, agents):
    waits = []

    def holds(agent, conn, f):
        if path_of(f) == "left":
            waits.append(f)
            return b""
        return b"".join(frame(ACK, set_var(TXN, "v", "left"), x.stream, x.number) for x in waits) + says_path(agent, conn, f)
    agent = agents(holds)
    front = Front(daemon, tmp_path, agent)
    with front.open() as c:
        front.send(c, "left")
        agent.wait(lambda a: a.notifies)
    assert front.ask("stays") == "stays/"


def test_checks_keep_agents_out(daemon, tmp_path, agents):
    agent = agents(says_path, greet=lambda agent, conn, f: spop.hello("2.0" if "healthcheck" not in f.items() else "1.0"))
    front = Front(daemon, tmp_path, agent, ms=150, servers="option spop-check\n    default-server check inter 100ms fall 1")
    agent.wait(lambda a: len(a.hellos) > 1)
    assert front.ask() == "/1"
    assert not agent.notifies


def test_workers_have_connections_of_their_own(daemon, tmp_path, agents):
    agent = agents(says_path)
    front = Front(daemon, tmp_path, agent, extra="nbthread 2")
    assert [front.ask(f"c{i}") for i in range(40)] == [f"c{i}/" for i in range(40)]
    assert len({h.items()["engine-id"] for h in agent.hellos}) == len(agent.conns) <= 2


def test_logs(daemon, tmp_path, agents):
    """The effect of maxerrrate is in tests/sim/process/spoe_error_rate.txt."""
    agent = agents(lambda agent, conn, f: says_path(agent, conn, f) if path_of(f) == "good" else None)
    front = Front(daemon, tmp_path, agent, options="log global", extra="nbthread 1\n    log stdout format raw local0")
    assert [front.ask(path) for path in ("good", "bad", "good")] == ["good/", "/257", "good/"]
    front.daemon.stop()
    lines = re.findall(r"SPOE: \[ag\] <EVENT:on-frontend-http-request> sid=\d+ st=(\d+) \d+ (\d/\d)", front.daemon.stdout)
    assert lines == [("0", "0/1"), ("257", "1/2"), ("0", "1/3")]


# --- published examples ---

# The files of coraza-spoa (example/haproxy) and of crowdsec's bouncer (config/), shortened to what concerns the agent.
CORAZA = """[coraza]
spoe-agent coraza-agent
    messages   coraza-res
    groups      coraza-req
    option      var-prefix      coraza
    option      set-on-error    error
    timeout     hello           2s
    timeout     idle            2m
    timeout     processing      500ms
    use-backend coraza-spoa
    log         global
spoe-message coraza-req
    args app=var(txn.coraza.app) src-ip=src src-port=src_port dst-ip=dst dst-port=dst_port method=method path=path query=query \
version=req.ver headers=req.hdrs body=req.body exportRuleIDs=bool(false)
spoe-message coraza-res
    args app=var(txn.coraza.app) id=var(txn.coraza.id) version=res.ver status=status headers=res.hdrs body=res.body \
exportRuleIDs=bool(false)
    event on-http-response
spoe-group coraza-req
    messages coraza-req
"""
CORAZA_CFG = """
frontend default
    mode http
    bind 127.0.0.1:{port}
    http-request set-var(txn.coraza.app) str(sample_app)
    filter spoe engine coraza config {file}
    http-request send-spoe-group coraza coraza-req
    http-request redirect code 302 location %[var(txn.coraza.data)] if {{ var(txn.coraza.action) -m str redirect }}
    http-response redirect code 302 location %[var(txn.coraza.data)] if {{ var(txn.coraza.action) -m str redirect }}
    http-request deny deny_status 403 hdr waf-block "request"  if {{ var(txn.coraza.action) -m str deny }}
    http-response deny deny_status 403 hdr waf-block "response" if {{ var(txn.coraza.action) -m str deny }}
    http-request silent-drop if {{ var(txn.coraza.action) -m str drop }}
    http-response silent-drop if {{ var(txn.coraza.action) -m str drop }}
    http-request deny deny_status 500 if {{ var(txn.coraza.error) -m int gt 0 }}
    http-response deny deny_status 500 if {{ var(txn.coraza.error) -m int gt 0 }}
    use_backend httpbin_backend
backend httpbin_backend
    mode http
    server backend 127.0.0.1:{origin}
backend coraza-spoa
    mode tcp
    server coraza_spoa 127.0.0.1:{agent}
"""
CROWDSEC = """[crowdsec]
spoe-agent crowdsec-agent
    messages    crowdsec-tcp
    groups      crowdsec-http-body crowdsec-http-no-body
    option      var-prefix      crowdsec
    option      set-on-error    error
    timeout     hello           200ms
    timeout     idle            55s
    timeout     processing      500ms
    use-backend crowdsec-spoa
    log         global
spoe-message crowdsec-tcp
    args id=unique-id src-ip=src src-port=src_port
    event on-client-session
spoe-message crowdsec-http-body
    args remediation=var(txn.crowdsec.remediation) id=unique-id method=method path=path query=query version=req.ver \
headers=req.hdrs body=req.body url=url ssl=ssl_fc src-ip=src src-port=src_port
spoe-message crowdsec-http-no-body
    args remediation=var(txn.crowdsec.remediation) id=unique-id method=method path=path query=query version=req.ver \
headers=req.hdrs url=url ssl=ssl_fc src-ip=src src-port=src_port
spoe-group crowdsec-http-body
    messages    crowdsec-http-body
spoe-group crowdsec-http-no-body
    messages    crowdsec-http-no-body
"""
CROWDSEC_CFG = """
frontend http-in
    mode http
    option http-buffer-request
    bind 127.0.0.1:{port}
    unique-id-format %[uuid()]
    unique-id-header X-Unique-ID
    filter spoe engine crowdsec config {file}
    acl body_within_limit req.body_size -m int le 51200
    http-request send-spoe-group crowdsec crowdsec-http-body if body_within_limit || !{{ req.body_size -m found }}
    http-request send-spoe-group crowdsec crowdsec-http-no-body if !body_within_limit {{ req.body_size -m found }}
    http-request set-header X-Crowdsec-Remediation %[var(txn.crowdsec.remediation)] if {{ var(txn.crowdsec.remediation) -m found }}
    http-request return status 403 content-type text/plain string "Forbidden" if {{ var(txn.crowdsec.remediation) -m str "ban" }}
    http-after-response set-header Set-Cookie %[var(txn.crowdsec.captcha_cookie)] if {{ var(txn.crowdsec.captcha_cookie) -m found }}
    use_backend app
backend crowdsec-spoa
    mode tcp
    timeout connect 1m
    timeout server 60s
    server spoa 127.0.0.1:{agent}
backend app
    mode http
    server s 127.0.0.1:{origin}
"""
POST = b"POST /login?u=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nu=bad"
GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"


def answer_all(c):
    c.recv(65536)
    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret")


def play(daemon, tmp_path, cfg, spoe, agent, requests):
    file, port = tmp_path / "engine.cfg", free_port()
    # An agent that is late because the machine is busy is asked all the same.
    file.write_text(re.sub(r"(timeout +(?:hello|processing)) .*", r"\1 1m", spoe))
    with contextlib.closing(Origin(answer_all)) as origin:
        daemon(cfg.format(port=port, file=file, agent=agent.port, origin=origin.port))
        answers = []
        for request in requests:
            with connect(port) as c:
                c.sendall(request)
                answers.append(c.recv(65536))
        return answers


def test_coraza(daemon, tmp_path, agents):
    def firewall(agent, conn, f):
        name, items = f.messages()[0]
        args, id_ = dict(items), b""
        bad = b"bad" in args["body"] if name == "coraza-req" else args["headers"].lower().startswith("content-length: 6")
        if name == "coraza-req":
            id_ = set_var(TXN, "id", "t1")
        else:
            assert args["id"] == "t1"
        return frame(ACK, id_ + (set_var(TXN, "action", "deny") if bad else b""), f.stream, f.number)
    agent = agents(firewall)
    denied, answered = play(daemon, tmp_path, CORAZA_CFG, CORAZA, agent, [POST, GET])
    assert denied.startswith(b"HTTP/1.1 403") and b"waf-block: request" in denied
    assert answered.startswith(b"HTTP/1.1 403") and b"waf-block: response" in answered and b"secret" not in answered
    first = dict(agent.notifies[0].messages()[0][1])
    assert (first["app"], first["method"], first["query"], first["body"], first["exportRuleIDs"]) == \
        ("sample_app", "POST", "u=1", b"u=bad", False)


def test_crowdsec(daemon, tmp_path, agents):
    def bouncer(agent, conn, f):
        name, items = f.messages()[0]
        args = dict(items)
        if name == "crowdsec-tcp":
            return frame(ACK, set_var(TXN, "remediation", "allow"), f.stream, f.number)
        assert args["remediation"] == "allow" and args["id"]
        bad = args.get("body") == b"u=bad"
        return frame(ACK, set_var(TXN, "remediation", "ban") if bad else set_var(TXN, "captcha_cookie", "c=1"), f.stream, f.number)
    agent = agents(bouncer)
    banned, passed = play(daemon, tmp_path, CROWDSEC_CFG, CROWDSEC, agent, [POST, GET])
    assert banned.startswith(b"HTTP/1.1 403")
    assert passed.startswith(b"HTTP/1.1 200") and b"Set-Cookie: c=1" in passed
    assert [f.messages()[0][0] for f in agent.notifies] == ["crowdsec-tcp", "crowdsec-http-body"] * 2


# --- errors ---

def check(tmp_path, text):
    (tmp_path / "a.cfg").write_text("defaults\n timeout client 1s\n timeout connect 1s\n timeout server 1s\n" + text)
    return run("-c", "-f", tmp_path / "a.cfg")


ERRORS = [
    ("bad-word 1", "3:5", "unknown keyword 'bad-word' in 'spoe-agent' section"),
    ("messages nobody", "3:14", "there is no 'spoe-message nobody' in this engine"),
    ("groups nobody", "3:12", "there is no 'spoe-group nobody' in this engine"),
    ("messages m", "3:14", "'m' is there already"),
    ("max-frame-size 100", "3:20", "max-frame-size"),
    ("max-frame-size 16381", "3:20", "'max-frame-size' has to be at most 16380, since 'tune.bufsize' is 16384"),
    ("option var-prefix a-b", "3:23", "a prefix is made of letters"),
    ("log 127.0.0.1 local0", "3:9", "targets of an agent are not supported"),
    ("option set-on-error txn-x", "3:25", "stands without its scope"),
    ("use-backend nowhere", "3:17", "unable to find backend 'nowhere'"),
    ("use-backend b", "3:17", "must be in mode tcp or spop"),
]


@pytest.mark.parametrize(("line", "at", "text"), ERRORS, ids=[e[0] for e in ERRORS])
def test_errors_name_the_line_of_the_file(tmp_path, line, at, text):
    file = tmp_path / "spoe.cfg"
    last = SPOE.format(options="", ms=100).replace("use-backend agents\n", "" if line.startswith("use-") else "use-backend agents\n")
    file.write_text(last.replace("spoe-agent ag\n    messages m\n", f"spoe-agent ag\n    {line}\n    messages m\n"
                                 if line != "messages m" else f"spoe-agent ag\n    messages m {'m'}\n"))
    done = check(tmp_path, CFG.format(port=1, file=file, agent=2, options=""))
    assert done.returncode == 1
    place = at if line != "messages m" else "3:16"
    assert f"[{file}:{place}]" in done.stderr and text in done.stderr, done.stderr


def test_scopes_have_names(tmp_path):
    """As HAProxy: a scope without a bracket at its end is an error; its lines were skipped."""
    file = tmp_path / "spoe.cfg"
    cfg = CFG.format(port=1, file=file, agent=2, options="")
    for scope, at in ("[e]", None), ("[e", "1:1"), ("[]", "1:1"):
        file.write_text(SPOE.format(options="", ms=100).replace("[e]", scope))
        done = check(tmp_path, cfg)
        assert (done.returncode, f"[{file}:{at}]" in done.stderr) == (int(at is not None), at is not None), done.stderr
        assert ("a scope is a name in brackets" in done.stderr) == (at is not None)


MESSAGES = [
    ("event on-server-session", "'path' is not available in event 'on-server-session'"),
    ("event on-backend-http-request", "is not supported in 'f': use a 'filter spoe' in the backend"),
    ("event on-client-session", "'path' is not available in event 'on-client-session'"),
    ("event on-frontend-http-request if nothing", "nothing"),
    ("args x=nothing", "nothing"),
    ("args x=res.hdr(a)\n    event on-frontend-http-request", "'x' is not available in event"),
]


@pytest.mark.parametrize(("lines", "text"), MESSAGES, ids=[m[0][:30] for m in MESSAGES])
def test_errors_of_messages(tmp_path, lines, text):
    file = tmp_path / "spoe.cfg"
    file.write_text(SPOE.format(options="", ms=100).replace("event on-frontend-http-request\n", lines + "\n"))
    done = check(tmp_path, CFG.format(port=1, file=file, agent=2, options=""))
    assert done.returncode == 1
    assert f"[{file}:" in done.stderr and text in done.stderr, done.stderr


def test_a_backend_of_agents_is_for_agents_only(tmp_path):
    done = check(tmp_path, "frontend f\n bind 127.0.0.1:1\n default_backend a\nbackend a\n mode spop\n server s 127.0.0.1:2\n")
    assert done.returncode == 1 and "incompatible spop backend 'a'" in done.stderr
