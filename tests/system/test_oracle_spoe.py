"""`filter spoe`, `send-spoe-group` and `option spop-check`: what an agent is sent by HAProxy and by tacit, and what its answers do."""

import contextlib
import re
import socket

import facts
import oracle
import pytest
import spop_agent as spop
from conftest import WAIT, Origin, free_port
from oracle import Subject
from spop_agent import ACK, REQ, SESS, TXN, Agent, frame, set_var, unset_var
from subject import LogServer

GET = b"GET /x?y=1 HTTP/1.1\r\nhost: h\r\na: 1\r\n\r\n"
FILE = """[other]
spoe-agent none
    nonsense
[e]
spoe-agent ag
    messages {messages}
    groups g1
    option var-prefix p
    option set-on-error err
    register-var-names a b
    {options}
    timeout hello 1m
    timeout idle 1m
    timeout processing {processing}
    use-backend agents
spoe-message mc
    args src id=str(c)
    event on-client-session
spoe-message mt
    args n=req.len
    event on-frontend-tcp-request
spoe-message mf
    acl is_x path /x
    args method=method path=path query=query version=req.ver headers=req.hdrs body=req.body none=var(txn.none)
    args b=bool(true) n=int(-5) big=int(5000000000) bin=str(ab),sha1 six=ipv6(2001:db8::1)
    event on-frontend-http-request if is_x
spoe-message mb
    args path=path be=be_name
    event on-backend-http-request
spoe-message ms
    args src=src be=be_name fe=fe_name v=var(txn.p.v)
    event on-server-session
spoe-message mtr
    args {seen} v=var(txn.p.v)
    event on-tcp-response
spoe-message mr
    args st=status x=res.hdr(x) body=res.body
    event on-http-response
spoe-message gm
    args len={len} v=var(txn.p.v)
spoe-group g1
    messages gm
[last]
"""
TIMES = """defaults
 timeout client 1m
 timeout server 1m
 timeout connect 1m
"""
AGENTS = """backend agents
 server a 127.0.0.1:{agent}
"""
# The rules of the frontend, and of the backend; the fields show the variables.
REQUEST = TIMES + """frontend f
 mode http
 bind 127.0.0.1:{port}
 filter spoe engine e config {file}
 {rules}
 default_backend b
backend b
 mode http
 http-request return status 200 hdr x "v%[var(txn.p.v)] %[var(req.p.r)] %[var(sess.p.s)] %[var(txn.p.ip)] %[var(txn.p.err)]."
""" + AGENTS
RESPONSE = TIMES + """frontend f
 mode http
 bind 127.0.0.1:{port}
 {front}
 {rules}
 http-response set-header fr "v%[var(txn.p.v)] %[var(txn.p.err)]."
 default_backend b
backend b
 mode http
 {back}
 http-response set-header br "v%[var(txn.p.v)]."
 server o 127.0.0.1:{origin}
""" + AGENTS
SERVER = TIMES + """frontend f
 bind 127.0.0.1:{port}
 {front}
 log 127.0.0.1:{log} local0
 log-format "%ts v=%[var(txn.p.v)] err=%[var(txn.p.err)]"
 default_backend b
backend b
 {back}
 {rules}
 server o 127.0.0.1:{origin}
""" + AGENTS
TCP = TIMES + """frontend f
 bind 127.0.0.1:{port}
 filter spoe engine e config {file}
 tcp-request inspect-delay 1m
 tcp-request content send-spoe-group e g1
 tcp-request content reject if {{ var(sess.p.bad) -m found }}
 tcp-request content accept if {{ req.len gt 5 }}
 default_backend b
backend b
 server o 127.0.0.1:{origin}
""" + AGENTS


def says(*actions):
    return lambda agent, conn, f: frame(ACK, b"".join(actions), f.stream, f.number)


def names_message(agent, conn, f):
    return frame(ACK, set_var(TXN, "v", f.messages()[0][0]), f.stream, f.number)


def nothing(agent, conn, f):
    return b""


def wrong_then_right(agent, conn, f):
    return frame(ACK, set_var(TXN, "v", "lie"), f.stream + 7, f.number) + says(set_var(TXN, "v", "true"))(agent, conn, f)


def another_frame_first(agent, conn, f):
    return frame(77, b"?") + says(set_var(TXN, "v", "x"))(agent, conn, f)


def over_the_first(agent, conn, f):
    agent.conns[0].sendall(says(set_var(TXN, "v", "x"))(agent, conn, f))
    return b""


ALL = says(set_var(TXN, "v", "text"), set_var(REQ, "r", True), set_var(SESS, "s", -7), set_var(TXN, "ip", (6, b"\x7f\0\0\2")),
           set_var(TXN, "gone", 1), unset_var(TXN, "gone"))
PLAIN = {"greet": lambda agent, conn, f: spop.hello(capabilities="")}
BARE = {"greet": lambda agent, conn, f: frame(spop.AGENT_HELLO, spop.text("version") + spop.value("2.0")
                                              + spop.text("max-frame-size") + b"\x04" + spop.varint(1000))}
FILTER = "filter spoe engine e config {file}"
# By name: the messages, the agent's answer, and rules or options.
REQUESTS = {
    "all types": ("mf", ALL, {}),
    "condition": ("mf", ALL, {"path": b"/other"}),
    "events": ("mc mf", names_message, {"rules": "http-request send-spoe-group e g1"}),
    "no answer": ("mf", nothing, {}),
    "lies": ("mf", wrong_then_right, {}),
    "unknown frame": ("mf", another_frame_first, {}),
    "null": ("mc", says(set_var(TXN, "v", None)), {}),
    "wrong name": ("mc", says(set_var(TXN, "v-1", 1), set_var(TXN, "v", 2)), {}),
    "no hello": ("mc", ALL, {"agent": {"greet": nothing}}),
    "error ends all": ("mc mf", nothing, {}),
    "error ends one": ("mc mf", nothing, {"options": "option continue-on-error"}),
    "no pipelining": ("mc mf", names_message, {"agent": PLAIN}),
    "bare hello": ("mc mf", names_message, {"agent": BARE}),
}
RESPONSES = {
    "frontend": ("mr", names_message, {"front": "filter spoe engine e config {file}"}),
    "backend": ("mb mr", names_message, {"back": "filter spoe engine e config {file}"}),
    "group": ("mr", names_message, {"front": "filter spoe engine e config {file}", "rules": "http-response send-spoe-group e g1"}),
    "server": ("ms mtr mr", names_message, {"front": "filter spoe engine e config {file}"}),
    "server of a backend": ("mr mtr ms", names_message, {"back": "filter spoe engine e config {file}"}),
    "no answer about the server": ("ms mtr mr", nothing, {"front": "filter spoe engine e config {file}"}),
}
# A server in mode tcp, by name: the messages, the agent's answer, and rules of the backend.
RULES = "tcp-response inspect-delay 1m\n "
SERVERS = {
    "frontend": ("ms mtr", names_message, {"front": FILTER}),
    "backend": ("mtr ms", names_message, {"back": FILTER}),
    "no data yet": ("mtr", names_message, {"front": FILTER, "seen": "len=res.len pay=res.payload(0,1)"}),
    "in order": ("mc ms mtr", names_message, {"front": FILTER}),
    "speaks first": ("ms mtr", names_message, {"front": FILTER, "greeting": b"220 hi"}),
    "no answer": ("ms mtr", nothing, {"front": FILTER}),
    "no answer, continues": ("ms mtr", nothing, {"front": FILTER, "options": "option continue-on-error"}),
    "rejected": ("mtr", says(set_var(SESS, "bad", 1)),
                 {"front": FILTER, "rules": "tcp-response content reject if {{ var(sess.p.bad) -m found }}"}),
    "group": ("ms", names_message, {"back": FILTER, "rules": RULES + "tcp-response content send-spoe-group e g1 if {{ res.len gt 0 }}"
                                    "\n tcp-response content accept if {{ res.len gt 0 }}", "len": "res.len"}),
    "group rejects": ("ms", says(set_var(SESS, "bad", 1)),
                      {"back": FILTER, "rules": RULES + "tcp-response content send-spoe-group e g1 if {{ res.len gt 0 }}"
                       "\n tcp-response content reject if {{ var(sess.p.bad) -m found }}", "len": "res.len"}),
}


def fields(data):
    head = data.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    return head[0], sorted(line for line in head[1:] if line.split(":")[0] in ("x", "fr", "br"))


def exchange(connection, request):
    connection.sendall(request)
    data = b""
    while b"\r\n\r\n" not in data:
        got = connection.recv(65536)
        if not got:
            return None
        data += got
    length = int(data.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(data.partition(b"\r\n\r\n")[2]) < length:
        got = connection.recv(65536)
        assert got, data
        data += got
    return fields(data)


@contextlib.contextmanager
def playing(program, directory, cfg, messages, answer, more):
    directory.mkdir(parents=True)
    agent = Agent(answer, **more.get("agent", {}))
    file = directory / "spoe.cfg"
    processing = "500ms" if nothing in (answer, agent.greet) else "1m"
    file.write_text(oracle.given(FILE.format(messages=messages, options=more.get("options", ""), len=more.get("len", "str(g)"),
                                              seen=more.get("seen", "a=src"), processing=processing)))
    port = free_port()
    greeting = more.get("greeting", b"")
    with contextlib.closing(Origin(lambda c: answer_all(c, greeting))) as origin:
        words = {"port": port, "agent": agent.port, "file": file, "origin": origin.port, "log": more.get("log", 0)}
        parts = {w: more.get(w, "").format(**words) for w in ("rules", "front", "back")}
        subject = Subject(program, directory, cfg.format(**words, **parts))
        try:
            yield agent, port, subject
        finally:
            subject.stop()
            agent.close()


def answer_all(connection, greeting=b""):
    with contextlib.suppress(OSError):
        connection.sendall(greeting)
        while connection.recv(65536):
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx: 1\r\n\r\nhello")


def known(agent, asked):
    """Makes the program know an agent that is going to be silent: the time for an answer begins before a connection is opened,
    which would take a part of it. asked() asks for an answer, and is true if that has come in time. The number of frames."""
    if agent.answer is not nothing:
        return 0
    agent.answer = says(set_var(TXN, "v", "known"))
    facts.becomes(asked, True, "an answer in time")
    agent.answer = nothing
    return len(agent.notifies)


def sent(agent, begin=0):
    """The hello that the agent was sent, without the engine's id, and the frames."""
    if agent.greet is nothing:
        agent.wait(lambda a: a.hellos)
    hello = [{k: v for k, v in h.items().items() if k != "engine-id"} for h in agent.hellos[:1]]
    return hello, [(f.flags, f.number, f.payload) for f in agent.notifies[begin:]]


def http_play(program, directory, cfg, case):
    messages, answer, more = case
    request = GET.replace(b"/x?y=1", more.get("path", b"/x?y=1"))
    with playing(program, directory, cfg, messages, answer, more) as (agent, port, _):
        def asked():
            with socket.create_connection(("127.0.0.1", port), WAIT) as c:
                return bool(re.search(r"vknown +\.", str(exchange(c, request))))

        begin = known(agent, asked)
        with socket.create_connection(("127.0.0.1", port), WAIT) as c:
            return [exchange(c, request), exchange(c, request)], sent(agent, begin)


@pytest.mark.parametrize("name", REQUESTS)
def test_requests(tmp_path, name):
    def play(program):
        answers, (hello, frames) = http_play(program, oracle.at(tmp_path, program), REQUEST, REQUESTS[name])
        # HAProxy uses a FRAME-ID again that was not answered.
        return answers, hello, [f if name != "error ends one" else (f[0], f[2]) for f in frames]
    oracle.same(play)


@pytest.mark.parametrize("name", RESPONSES)
def test_responses(tmp_path, name):
    answers, _ = oracle.same(lambda program: http_play(program, oracle.at(tmp_path, program), RESPONSE, RESPONSES[name]))
    assert all("mr" in str(a) for a in answers) or name.startswith("no answer"), answers


def tcp_play(program, directory, answer):
    with playing(program, directory, TCP, "mc mt", answer, {"len": "req.len"}) as (agent, port, subject), \
            socket.create_connection(("127.0.0.1", port), WAIT) as c:
        agent.wait(lambda a: a.answered == 3)
        subject.settle()
        with contextlib.suppress(BrokenPipeError):
            c.sendall(GET)
        try:
            data = c.recv(65536)
        except ConnectionResetError:
            data = b""
        return data, sent(agent)


@pytest.mark.parametrize("name", ["passes", "rejected"])
def test_tcp(tmp_path, name):
    answer = names_message if name == "passes" else says(set_var(SESS, "bad", 1))
    oracle.same(lambda program: tcp_play(program, oracle.at(tmp_path, program), answer))


def session(port, log, greeting):
    """Returns what the client gets, and the line that is logged."""
    n, data = len(log.lines), b""
    # A rejection may come while it connects.
    with contextlib.suppress(ConnectionResetError, BrokenPipeError), socket.create_connection(("127.0.0.1", port), WAIT) as c:
        c.sendall(b"hello")
        data = c.recv(len(greeting) or 65536)
        c.shutdown(socket.SHUT_WR)
        while c.recv(65536):
            pass
    return data, log.lines.until(lambda lines: len(lines) > n, "a line")[n].partition("]: ")[2]


def server_play(program, directory, case):
    messages, answer, more = case
    log = LogServer()
    more = {**more, "log": log.port}
    try:
        with playing(program, directory, SERVER, messages, answer, more) as (agent, port, _):
            begin = known(agent, lambda: session(port, log, b"")[1].endswith("v=known err=-"))
            data, line = session(port, log, more.get("greeting", b""))
            return data if more.get("rules", "").find("reject") < 0 else b"", line, sent(agent, begin)
    finally:
        log.close()


@pytest.mark.parametrize("name", SERVERS)
def test_servers_in_mode_tcp(tmp_path, name):
    def play(program):
        data, line, (hello, frames) = server_play(program, oracle.at(tmp_path, program), SERVERS[name])
        return data, line, hello, [f if name != "no answer, continues" else (f[0], f[2]) for f in frames]
    oracle.same(play)


def disconnect(code):
    return frame(spop.AGENT_DISCONNECT, spop.text("status-code") + b"\x03" + spop.varint(code) + spop.text("message") + spop.value("no"))


CHECKS = {
    "good": spop.hello(),
    "version": spop.hello("1.0"),
    "too small": spop.hello(size=100),
    "too big": spop.hello(size=100000),
    "disconnect": disconnect(8),
    "disconnect without a reason": disconnect(0),
    "silence": b"",
    "incomplete": spop.hello()[:-3],
    "ack": frame(ACK, b"", 1, 1),
    "fragment": frame(spop.AGENT_HELLO, b"", flags=0),
}


def check_play(program, directory):
    directory.mkdir()
    agents = {name: Agent(greet=lambda agent, conn, f, hello=hello: hello) for name, hello in CHECKS.items()}
    log = LogServer()
    # All checks begin at once. One that times out has the time to connect at least.
    cfg = " max-spread-checks 1\n" + TIMES
    for i, (name, a) in enumerate(agents.items()):
        times = " timeout connect 1s\n timeout check 500ms\n" if name in ("silence", "incomplete") else " timeout check 1m\n"
        cfg += f"backend b{i}\n log 127.0.0.1:{log.port} local0\n option log-health-checks\n option spop-check\n{times}" \
            f" server s{i} 127.0.0.1:{a.port} check inter 1m rise 1 fall 1\n"
    subject = Subject(program, directory, cfg)
    results = re.compile(r"Health check for server b\d+/s(\d+) (.*), check duration")
    try:
        lines = log.lines.until(lambda lines: len(dict(results.findall("\n".join(lines)))) == len(CHECKS), "results of all checks")
        found = dict(reversed(results.findall("\n".join(lines))))
        return {name: (found[str(i)], a.hellos[0].payload) for i, (name, a) in enumerate(agents.items())}
    finally:
        subject.stop()
        log.close()
        for a in agents.values():
            a.close()


def test_checks(tmp_path):
    found = oracle.same(lambda program: check_play(program, oracle.at(tmp_path, program)))
    assert found["good"][0].startswith("succeeded")
