"""The example configurations with health checks, played with scripted servers: one goes down, the traffic moves, it
comes back. HAProxy plays them too. Addresses are replaced by addresses of the loopback network, intervals are shorter."""

import contextlib
import os
import re
import socket

import oracle
import pytest
from conftest import WAIT, Origin, free_network, recv_all, wait_for
from test_oracle_stat import Subject

CONF = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "conf")
TRIES = 12  # connections whose servers are compared: more than any example has servers


class Node:
    """A host with servers on its ports. The tests change its state: `status` of the checks, `role`."""

    def __init__(self, site, name, host, **handlers):
        self.name, self.site, self.address = name, site, site.address(host)
        self.handlers = {int(port[1:]): handle for port, handle in handlers.items()}
        self.status = {}     # path: code; 200 unless set
        self.role = "master"
        self.requests = []
        self.running = []
        self.start()

    def start(self):
        self.running = [Origin(lambda conn, handle=handle: handle(self, conn), (self.address, port))
                        for port, handle in self.handlers.items()]

    def stop(self):
        for origin in self.running:
            origin.close()
        self.running = []


# --- servers ---

def greet(node, conn):
    """Sends its name, then waits for the end."""
    conn.sendall(node.name.encode() + b"\n")
    recv_all(conn)


def read_head(conn):
    data = b""
    while b"\r\n\r\n" not in data:
        got = conn.recv(4096)
        if not got:
            return None
        data += got
    return data.decode()


def web(node, conn):
    """Answers each request with its name, and with the status set for the path."""
    while (head := read_head(conn)) is not None:
        method, path = head.split(" ")[:2]
        node.requests.append(head.split("\r\n")[0])
        body = b"" if method == "OPTIONS" else node.name.encode() + b"\n"
        conn.sendall(b"HTTP/1.1 %d x\r\nContent-Length: %d\r\n\r\n" % (node.status.get(path, 200), len(body)) + body)


def redis(node, conn):
    for line in conn.makefile("rb"):
        word = line.strip().lower()
        reply = {b"ping": b"+PONG\r\n", b"quit": b"+OK\r\n", b"who": node.name.encode() + b"\n",
                 b"info replication": b"$30\r\n# Replication\r\nrole:%s\r\n\r\n" % node.role.encode()}[word]
        conn.sendall(reply)


def mysql(node, conn):
    greeting = b"\x0a8.0-" + node.name.encode() + b"\n\0" + b"\1\0\0\0" + b"saltsalt\0" + b"\xff\xf7\x21\2\0" + bytes(26)
    conn.sendall(len(greeting).to_bytes(3, "little") + b"\0" + greeting)
    if node.site.user in conn.recv(4096):
        conn.sendall(b"\7\0\0\2\0\0\0\2\0\0\0" if node.status.get("login", 200) == 200 else
                     b"\x09\0\0\2\xff\x15\x04denied")
        recv_all(conn)


def amqp(node, conn):
    if conn.recv(8) == b"AMQP\0\0\x09\x01" and node.status.get("start", 200) == 200:
        conn.sendall(b"\1\0\0\0\0\0\x20\0\x0a\0\x0a" + node.name.encode() + b"\n")
        recv_all(conn)


# --- the site ---

class Site:
    """A program with an example, on a part of the loopback network of its own."""

    user = b"haproxy"

    def __init__(self, program, directory, stack):
        self.program, self.dir, self.stack = program, directory, stack
        self.net = free_network()

    def address(self, host):
        return f"{self.net}.{host}"

    def node(self, name, host, **handlers):
        node = Node(self, name, host, **handlers)
        self.stack.callback(node.stop)
        return node

    def run(self, conf):
        with open(os.path.join(CONF, conf), encoding="utf-8") as f:
            text = f.read()
        text = re.sub(r"\tstats socket .*\n|\tlog .*\n|\tmaxconn \d+\n", "", text)
        text = text.replace("192.0.2.", self.net + ".").replace("bind :", f"bind {self.address(1)}:")
        text = re.sub(r"\b(inter|fastinter|downinter) \w+", r"\1 40ms", text)
        # The replica of redis.cfg is found by it: it never says what is expected. Elsewhere a server that is late is not down.
        limit = "1s" if conf == "redis.cfg" else "1m"
        text = re.sub(r"timeout check \w+", f"timeout check {limit}", text)
        assert f"timeout check {limit}" in text
        # No other time ends because the machine is busy.
        text = re.sub(r"timeout (connect|client|server|queue|http-request|http-keep-alive) \d+s", r"timeout \1 1m", text)
        # An ordinary user may not listen on port 143.
        text = re.sub(r":143\b", ":2143", text)
        # No period of a rate ends while a test plays, however busy the machine is.
        text = re.sub(r"rate\(\d+[smh]\)", "rate(1h)", text)
        text = re.sub(r"\bexpire \w+", "expire 1d", text)
        self.subject = Subject(self.program, self.dir, text)
        self.stack.callback(self.subject.stop)

    def connect(self, port):
        return socket.create_connection((self.address(1), port), timeout=WAIT)

    def ask(self, port, request=b"", cookie=None):
        """The name of the server that a client gets, and its response; without one (None, what came), perhaps a page of an error."""
        data = b""
        with contextlib.suppress(OSError), self.connect(port) as s:
            s.sendall(request.replace(b"\r\n\r\n", b"\r\nCookie: " + cookie + b"\r\n\r\n") if cookie else request)
            while not re.search(rb"[a-z]+\d\n|</html>\n", data):
                got = s.recv(4096)
                if not got:
                    break
                data += got
        name = re.search(rb"([a-z]+\d)\n", data)
        return name.group(1).decode() if name else None, data.decode("latin-1")

    def servers(self, port, request=b""):
        return {self.ask(port, request)[0] for _ in range(TRIES)}

    def goes_to(self, port, names, request=b""):
        """New clients of this port reach all of these servers, and no other one."""
        seen = []
        assert wait_for(lambda: seen.append(self.servers(port, request)) or seen[-1] == set(names.split()), WAIT, 0.05), \
            (names, seen[-1], self.subject.admin("show stat"))

    @contextlib.contextmanager
    def session(self, port, request=b""):
        """An open connection with what the server sent first."""
        with self.connect(port) as s:
            s.sendall(request)
            assert s.recv(4096)
            yield s


def is_closed(s):
    try:
        return s.recv(4096) == b""
    except ConnectionResetError:
        return True


@pytest.fixture(params=oracle.PROGRAMS.values(), ids=os.path.basename)
def site(request, tmp_path):
    with contextlib.ExitStack() as stack:
        yield Site(request.param, tmp_path, stack)


# --- the examples ---

def application(node, conn):
    """Begins a session for each client without one."""
    while (head := read_head(conn)) is not None:
        node.site.sessions += 1
        cookie = "" if "JSESSIONID" in head else f"Set-Cookie: JSESSIONID=s{node.site.sessions}.x\r\n"
        conn.sendall(f"HTTP/1.1 200 x\r\n{cookie}Content-Length: {len(node.name) + 1}\r\n\r\n{node.name}\n".encode())


class Client:
    """One of several hosts with their own addresses, and a connection."""

    def __init__(self, site, host, port=8080):
        self.source, self.target = (site.address(host), 0), (site.address(1), port)
        self.conn = site.stack.enter_context(socket.create_connection(self.target, WAIT, self.source))

    def get(self, path, method="GET"):
        """The status of the answer."""
        self.conn.sendall(f"{method} {path} HTTP/1.1\r\nHost: www\r\nContent-Length: 0\r\n\r\n".encode())
        head = read_head(self.conn).partition("\r\n\r\n")
        left = int(re.search(r"(?i)content-length: *(\d+)", head[0])[1]) - len(head[2])
        while left:
            left -= len(self.conn.recv(left))
        return int(head[0].split(" ")[1])


def test_limits(site):
    nodes = [site.node(f"www{i}", 10 + i, p8000=web) for i in (1, 2)]
    for node in nodes:
        node.status.update({"/none": 404, "/login": 401})
    site.run("limits.cfg")
    busy, other = Client(site, 50), Client(site, 51)
    assert [busy.get("/") for _ in range(100)] == [200] * 100
    assert busy.get("/") == 429
    assert other.get("/") == 200

    # errors: the one that is over the limit is still answered
    assert [other.get("/none") for _ in range(21)] == [404] * 21
    assert other.get("/") == 403
    assert Client(site, 51).get("/") == 403
    site.subject.admin(f"clear table errors key {site.address(51)}")
    assert other.get("/") == 200

    guest = Client(site, 52)
    assert [guest.get("/login", "POST") for _ in range(6)] == [401] * 6
    assert guest.get("/login", "POST") == 429
    assert guest.get("/login") == 401
    assert guest.get("/") == 200
    assert Client(site, 53).get("/login", "POST") == 401


def test_sticky(site):
    site.sessions = 0
    mails = [site.node(f"mail{i}", 10 + i, p2143=greet) for i in (1, 2, 3)]
    apps = [site.node(f"app{i}", 20 + i, p8000=application) for i in (1, 2)]
    site.node("sorry0", 29, p8000=application)
    site.run("sticky.cfg")

    def mail(host):
        with Client(site, host, 1143).conn as conn:
            return conn.recv(100).decode().strip()

    first = {host: mail(host) for host in (50, 51, 52)}
    assert set(first.values()) == {"mail1", "mail2", "mail3"}
    assert all(mail(host) == first[host] for host in (51, 50, 52, 51))
    # down: its clients move, and stay where they are then
    down = next(n for n in mails if n.name == first[50])
    down.stop()
    moved = mail(50)
    assert moved != first[50]
    down.start()
    assert {mail(50) for _ in range(TRIES)} == {moved}

    get = b"GET / HTTP/1.1\r\nHost: app\r\n\r\n"
    sessions = {}
    for _ in range(TRIES):
        name, response = site.ask(8080, get)
        sessions[re.search("set-cookie: (JSESSIONID=[^\r;]*)", response, re.I)[1].encode()] = name
    assert set(sessions.values()) == {"app1", "app2"}
    assert all(site.ask(8080, get, cookie)[0] == name for cookie, name in sessions.items())
    for node in apps:
        node.stop()
    cookie = next(iter(sessions))
    site.goes_to(8080, "sorry0", get)
    assert site.ask(8080, get, cookie)[0] == "sorry0"
    for node in apps:
        node.start()
    site.goes_to(8080, "app1 app2", get)
    assert all(site.ask(8080, get, cookie)[0] == name for cookie, name in sessions.items())


def test_kubernetes(site):
    masters = [site.node(f"master{i}", 10 + i, p6443=greet) for i in (1, 2, 3)]
    workers = [site.node(f"worker{i}", 20 + i, p30443=greet, p10254=web) for i in (1, 2)]
    site.run("kubernetes.cfg")
    site.goes_to(6443, "master1 master2 master3")
    masters[1].stop()
    site.goes_to(6443, "master1 master3")
    masters[1].start()
    site.goes_to(6443, "master1 master2 master3")

    site.goes_to(8443, "worker1 worker2")
    workers[0].status["/readyz"] = 500
    site.goes_to(8443, "worker2")
    workers[0].status["/readyz"] = 200
    site.goes_to(8443, "worker1 worker2")
    assert set(workers[0].requests) == {"GET /readyz HTTP/1.0"}


def test_galera(site):
    nodes = [site.node(f"db{i}", 10 + i, p3306=greet, p9200=web) for i in (1, 2, 3)]
    site.run("galera.cfg")
    site.goes_to(3306, "db1")
    site.goes_to(3307, "db1 db2 db3")
    with site.session(3306) as s:
        nodes[0].status["/"] = 503
        assert is_closed(s)
    site.goes_to(3306, "db2")
    site.goes_to(3307, "db2 db3")
    with site.session(3306) as s:
        nodes[0].status["/"] = 200
        # sessions on backups end when the first server is back
        assert is_closed(s)
    site.goes_to(3306, "db1")
    site.goes_to(3307, "db1 db2 db3")


def test_galera_mysql_check(site):
    replica = site.node("replica1", 14, p3306=mysql)
    spare = site.node("db3", 13, p3306=mysql)
    site.run("galera.cfg")
    site.goes_to(3308, "replica1")
    replica.status["login"] = 401
    site.goes_to(3308, "db3")
    replica.status["login"] = 200
    site.goes_to(3308, "replica1")
    assert spare.running


def test_patroni(site):
    nodes = [site.node(f"pg{i}", 10 + i, p5432=greet, p8008=web) for i in (1, 2, 3)]

    def leader(node):
        for n in nodes:
            n.status = {"/primary": 200 if n is node else 503, "/replica": 503 if n is node else 200}

    leader(nodes[0])
    site.run("patroni.cfg")
    site.goes_to(5000, "pg1")
    site.goes_to(5001, "pg2 pg3")
    with site.session(5000) as s:
        leader(nodes[1])
        assert is_closed(s)
    site.goes_to(5000, "pg2")
    site.goes_to(5001, "pg1 pg3")
    nodes[1].stop()
    assert wait_for(lambda: site.servers(5000) == {None})
    leader(nodes[2])
    site.goes_to(5000, "pg3")
    site.goes_to(5001, "pg1")
    nodes[1].start()
    site.goes_to(5001, "pg1 pg2")
    assert {r.split(" ")[0] for r in nodes[0].requests} == {"OPTIONS"}


def test_redis(site):
    nodes = [site.node(f"redis{i}", 10 + i, p6379=redis) for i in (1, 2, 3)]

    def master(node):
        for n in nodes:
            n.role = "master" if n is node else "slave"

    master(nodes[0])
    site.run("redis.cfg")
    site.goes_to(6379, "redis1", b"WHO\r\n")
    with site.session(6379, b"WHO\r\n") as s:
        master(nodes[2])
        assert is_closed(s)
    site.goes_to(6379, "redis3", b"WHO\r\n")
    nodes[2].stop()
    master(nodes[0])
    site.goes_to(6379, "redis1", b"WHO\r\n")
    # the old master is back as a replica
    nodes[2].start()
    site.goes_to(6379, "redis1", b"WHO\r\n")


def test_rabbitmq(site):
    nodes = [site.node(f"rabbit{i}", 10 + i, p5672=amqp, p15672=web) for i in (1, 2, 3)]
    header, get = b"AMQP\0\0\x09\x01", b"GET / HTTP/1.1\r\nHost: rabbitmq\r\n\r\n"
    site.run("rabbitmq.cfg")
    site.goes_to(5672, "rabbit1 rabbit2 rabbit3", header)
    nodes[0].status["start"] = 0
    site.goes_to(5672, "rabbit2 rabbit3", header)
    nodes[0].status["start"] = 200
    site.goes_to(5672, "rabbit1 rabbit2 rabbit3", header)

    site.goes_to(15672, "rabbit1 rabbit2 rabbit3", get)
    name, response = site.ask(15672, get)
    cookie = re.search("set-cookie: (NODE=r[123]);", response, re.I).group(1).encode()
    assert {site.ask(15672, get, cookie)[0] for _ in range(TRIES)} == {name}


def test_farm(site):
    nodes = [site.node(f"web{i}", 10 + i, p8000=web) for i in (1, 2, 3)]
    site.node("sorry0", 20, p8000=web)
    get = b"GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n"
    site.run("farm.cfg")
    site.goes_to(8080, "web1 web2 web3", get)

    # maintenance: new clients go elsewhere, the others stay
    nodes[0].status["/health"] = 404
    site.goes_to(8080, "web2 web3", get)
    assert {site.ask(8080, get, b"SERVER=w1")[0] for _ in range(TRIES)} == {"web1"}
    # down: they move, and get a new cookie
    nodes[0].status["/health"] = 503
    assert wait_for(lambda: site.ask(8080, get, b"SERVER=w1")[0] in ("web2", "web3"))
    assert re.search("set-cookie: SERVER=w[23];", site.ask(8080, get, b"SERVER=w1")[1], re.I)
    nodes[0].status["/health"] = 200
    site.goes_to(8080, "web1 web2 web3", get)
    assert site.ask(8080, get, b"SERVER=w1")[0] == "web1"

    # all are down
    alive = b"GET /alive HTTP/1.0\r\n\r\n"
    assert site.ask(8080, alive)[1].startswith("HTTP/1.1 200 ")
    for node in nodes:
        node.status["/health"] = 500
    site.goes_to(8080, "sorry0", get)
    assert site.ask(8080, alive)[1].startswith("HTTP/1.1 503 ")
    nodes[2].status["/health"] = 200
    site.goes_to(8080, "web3", get)
