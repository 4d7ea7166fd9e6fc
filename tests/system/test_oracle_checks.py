"""HAProxy and tacit check servers that follow the same random schedules: what each logs and shows is compared.

A server knows which check of a program it is being asked for by counting them, and its schedule says what it
answers to that one, and which admin commands are given before the answer. So the lines of a server come in an order
that does not depend on time. Each backend has one server, so that no line depends on another schedule.
"""

import asyncio
import random
import re
import socket
import threading

import oracle
from conftest import WAIT, admin, free_port, wait_for
from oracle import Subject
from subject import LogServer

SCHEDULES = 30
CHECKS = 24          # of each server
# Every answer is in time: checks that time out are in scenarios of the fake kernel (tests/sim/process). A check has at most its
# interval to connect: the servers have unix sockets, where that takes no time.
INTER_MS = 100
CHECK_MS = 60000
COLUMNS = ("status", "weight", "act", "bck", "chkfail", "chkdown", "check_status", "check_code", "check_desc",
           "last_chk", "check_rise", "check_fall", "check_health", "tracked")

# A server's answer to a check, by the method of its backend.
HTTP = {
    "ok": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "moved": b"HTTP/1.0 301 Over there\r\n\r\n",
    "gone": b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    "sick": b"HTTP/1.1 503 Out of order\r\nContent-Length: 4\r\n\r\nsick",
    "garbage": b"SSH-2.0-x\r\n",
    "nothing": b"",
    "half": b"HTTP/1.1 200 OK\r\nContent-Le",
}
TCP = {
    "ok": b"+PONG\r\nrole:master\r\n",
    "sick": b"-ERR loading\r\n",
    "nothing": b"",
    "half": b"+PO",
}
COMMANDS = ("state drain", "state ready", "health up", "health down", "health stopping", "weight 7", "weight 0")

METHODS = (
    ("option httpchk", HTTP),
    ("option httpchk GET /status\n http-check disable-on-404", HTTP),
    ("option httpchk\n http-check expect status 200", HTTP),
    ("option httpchk\n http-check expect ! rstatus ^5", HTTP),
    ("option httpchk\n http-check expect string hello", HTTP),
    ("option httpchk\n http-check expect ! string sick", HTTP),
    ("option httpchk\n http-check expect comment word rstring h[ea]l", HTTP),
    ("option tcp-check\n tcp-check send PING\\r\\n\n tcp-check expect string +PONG\n tcp-check expect string role:master", TCP),
    ("option tcp-check\n tcp-check send PING\\r\\n\n tcp-check expect comment pong rstring ^.P", TCP),
    ("option tcp-check\n tcp-check send-binary 50494e470d0a\n tcp-check expect binary 2b504F4e47", TCP),
)


class Schedule:
    def __init__(self, seed):
        dice = random.Random(seed)
        self.seed = seed
        self.method, self.answers = dice.choice(METHODS)
        self.rise, self.fall = dice.randint(1, 4), dice.randint(1, 4)
        self.logs = dice.random() < 0.5
        self.steps = []
        mood = "ok"
        for _ in range(CHECKS):
            if dice.random() < 0.45:
                mood = dice.choice([*self.answers, "ok", "ok"])
            self.steps.append((dice.choice(COMMANDS) if dice.random() < 0.12 else None, mood))
        # At the end nothing changes any more.
        self.steps.append((None, "ok"))

    def config(self, name, path):
        log = " option log-health-checks\n" if self.logs else ""
        return (f"backend {name}\n mode http\n timeout check {CHECK_MS}ms\n {self.method}\n{log}"
                f" server s unix@{path} check inter {INTER_MS} rise {self.rise} fall {self.fall}\n")

    def __str__(self):
        return f"schedule {self.seed}: {self.method!r} rise {self.rise} fall {self.fall}: {self.steps}"


class Servers:
    """The servers of all schedules for one program, in a thread of their own."""

    def __init__(self, schedules, paths, order):
        self.schedules, self.paths = schedules, paths
        self.asked = [0] * len(schedules)
        self.order = order  # gives a command to the program
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.listening = [asyncio.run_coroutine_threadsafe(self.listen(i), self.loop).result(WAIT)
                          for i in range(len(schedules))]

    async def listen(self, i):
        return await asyncio.start_unix_server(lambda r, w: self.serve(i, r, w), self.paths[i], backlog=64)

    async def serve(self, i, reader, writer):
        n, self.asked[i] = self.asked[i], self.asked[i] + 1
        schedule = self.schedules[i]
        command, mood = schedule.steps[min(n, len(schedule.steps) - 1)]
        try:
            await reader.read(4096)
            if command and n < len(schedule.steps):
                await self.loop.run_in_executor(None, self.order, f"set server b{i}/s {command}")
            writer.write(schedule.answers[mood])
            await writer.drain()
            writer.close()
        except (OSError, asyncio.CancelledError):
            pass

    def are_done(self):
        """True when each server has its full health again: the check before the one that it is asked for has ended."""
        return all(n > len(s.steps) + s.rise + s.fall for n, s in zip(self.asked, self.schedules))

    def stop(self):
        async def close():
            for server in self.listening:
                server.close()
            for task in asyncio.all_tasks():
                if task is not asyncio.current_task():
                    task.cancel()
        asyncio.run_coroutine_threadsafe(close(), self.loop).result(WAIT)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(WAIT)


def words(line):
    """A log line without what is each program's own: date, name, and how long the check took."""
    line = re.sub(r"^<(\d+)>.*?\]: ", r"<\1>", line)
    return re.sub(r"check duration: \d+ms", "check duration: Nms", line)


def played(program, directory, schedules):
    """{name of the backend: (its lines, its row of show stat)}"""
    directory.mkdir()
    paths = [str(directory / f"{i}.sock") for i in range(len(schedules))]
    servers, log = Servers(schedules, paths, lambda command: admin(directory / "s.sock", command)), LogServer()
    oracle.given("\n".join(map(str, schedules)))
    try:
        cfg = f" log 127.0.0.1:{log.port} local0\ndefaults\n log global\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
        cfg += "".join(s.config(f"b{i}", path) for i, (s, path) in enumerate(zip(schedules, paths)))
        cfg += f"frontend f\n bind 127.0.0.1:{free_port()}\n mode http\n"
        subject = Subject(program, directory, cfg)
        try:
            assert wait_for(servers.are_done, 12 * WAIT), servers.asked
            rows = subject.checked()
        finally:
            subject.stop()
        lines = [words(line) for line in log.drain() if " stopped (cumulated conns: " not in line]
        return {f"b{i}": ([line for line in lines if f" b{i}/s" in line or f" b{i} " in line],
                          {c: rows[f"b{i}", "s"][c] for c in COLUMNS}) for i in range(len(schedules))}
    finally:
        servers.stop()
        log.close()


def test_random_schedules(tmp_path):
    schedules = [Schedule(seed) for seed in range(SCHEDULES)]
    theirs, ours = oracle.both(lambda program: played(program, oracle.at(tmp_path, program), schedules))
    for schedule, name in zip(schedules, theirs):
        assert ours[name] == theirs[name], schedule


def of_a_full_backlog(program, directory):
    """The line about a server that accepts no connection, without the words of the reason."""
    directory.mkdir()
    path = str(directory / "full.sock")
    log = LogServer()
    try:
        with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as waiting:
            listener.bind(path)
            listener.listen(0)
            waiting.connect(path)
            subject = Subject(program, directory, f" log 127.0.0.1:{log.port} local0\nbackend b\n log global\n"
                                                  f" server s unix@{path} check inter {INTER_MS} fall 1\n")
            try:
                log.lines.until(lambda lines: any("b/s is DOWN" in line for line in lines), "the server is down")
            finally:
                subject.stop()
        return [re.sub(r'info: "[^"]*"', "info", words(line)) for line in log.lines if "b/s is DOWN" in line]
    finally:
        log.close()


def test_a_full_backlog_is_no_failure_of_layer_4(tmp_path):
    line, = oracle.same(lambda program: of_a_full_backlog(program, oracle.at(tmp_path, program)))
    assert "reason: Socket error, " in line


# --- samples ---

# The answer to http-check, and the beginning of a server of tcp-check; rules of backends that show what their checks can see.
RESPONSE = b"HTTP/1.1 200 OK\r\nX-Token: s3cret\r\nContent-Length: 5\r\n\r\nhello"
GREETING = b"220 abcd ready\r\n"
HTTPCHK = "option httpchk\n http-check "
LOGIN = HTTPCHK + "connect\n http-check send meth POST uri /login\n http-check expect status 200\n http-check "
TCPCHK = "option tcp-check\n tcp-check "
NAMES = "%[srv_name],%[srv_id],%[be_name],%[be_id],%[be_server_timeout],%[be_tunnel_timeout],%b/%s,%[wait_end]"
LOAD = ("%[avg_queue(b0)],%[be_conn(b0)],%[be_conn_free(b0)],%[be_sess_rate(b0)],%[connslots(b0)],%[nbsrv(b0)],%[queue(b0)],"
        "%[str(b0),nbsrv],%[stopping]")
FRONTEND_LOAD = "%[fe_conn(f0)],%[fe_req_rate(f0)],%[fe_sess_rate(f0)],%[table_cnt(f0)],%[table_avl(f0)],%[table_avl(b0)]"
SERVER_LOAD = ("%[srv_conn(b0/s)],%[srv_conn_free(b0/s)],%[srv_is_up(b0/s)],%[srv_is_up(b0/d)],%[srv_iweight(b0/s)],%[srv_queue(b0/s)],"
               "%[srv_sess_rate(b0/s)],%[srv_uweight(b0/s)],%[srv_weight(b0/s)],%[str(b0/s),srv_queue]")
OWN_LOAD = ("%[avg_queue],%[be_conn],%[be_conn_free],%[be_sess_rate],%[connslots],%[nbsrv],%[queue],%[srv_is_up(node1)],"
            "%[srv_weight(node1)],%[str(node1),srv_queue]")
SAMPLES = {
    "names of send": HTTPCHK + f'send uri-lf "/{NAMES}" hdr Host "%[srv_name].example" hdr X-B "{NAMES}"',
    "names of body-lf": HTTPCHK + f'send meth POST body-lf "{NAMES}"',
    "names of send-lf": TCPCHK + f'send-lf "{NAMES}"\n tcp-check expect string 220 on-success "{NAMES}"',
    "names of set-var": HTTPCHK + "set-var(check.a) srv_name\n http-check set-var-fmt(check.b) %[be_name]/%[srv_id]\n"
                        " http-check send hdr V %[var(check.a)]/%[var(check.b)]",
    "names of on-success": HTTPCHK + f'expect status 200 on-success "{NAMES}"',
    "names of on-error": HTTPCHK + f'expect status 201 on-error "{NAMES}"',
    "the response in formats": HTTPCHK + 'expect status 200 on-success "%[hdr(x-token)] %[res.hdr(x-token)] %[status]"',
    "bytes in formats": TCPCHK + 'expect string 220 on-success "%[payload(0,3)] %[res.payload(4,4)] %[res.len]"',
    "the response in set-var": LOGIN + "set-var(check.tok) res.hdr(X-Token)\n http-check connect\n"
                               " http-check send uri /data hdr Token %[var(check.tok)] hdr Late %[status]\n http-check expect status 200",
    "the response in set-var-fmt": LOGIN + 'set-var-fmt(check.tok) "%[res.hdr(X-Token)] %[hdr(x-token)] %[status] %[res.ver] %[res.body]'
                                   ' %[res.body_len] <%[res.payload(0,4)]>"\n http-check connect\n'
                                   ' http-check send uri /data hdr Token "%[var(check.tok)]"\n http-check expect status 200',
    "the response behind a variable": LOGIN + "set-var(check.s) status\n http-check expect string-lf %[var(check.s)]",
    "an answer to HEAD in set-var": LOGIN.replace("POST", "HEAD") + "set-var-fmt(check.tok) <%[res.body]>%[status]\n http-check connect\n"
                                    " http-check send uri /data hdr Token %[var(check.tok)]",
    "variables of sess": HTTPCHK + "set-var(sess.q) str(w)\n http-check set-var(check.q) str(c)\n http-check connect\n"
                         " http-check send uri /a hdr V %[var(sess.q)]%[var(check.q)]\n http-check expect status 200\n"
                         " http-check connect\n http-check send uri /b hdr V %[var(sess.q)]\n http-check unset-var(sess.q)\n"
                         ' http-check expect status 200 on-success "[%[var(sess.q)]%[var(check.q)]]"',
    "variables of sess in tcp-check": TCPCHK + 'set-var(sess.q) str(w)\n tcp-check send-lf "%[var(sess.q)]"\n tcp-check expect string 220',
    "load": HTTPCHK + f'send uri /a hdr A "{LOAD}" hdr B "{FRONTEND_LOAD}" hdr C "{SERVER_LOAD}" hdr D "{OWN_LOAD}"',
    "load in set-var": HTTPCHK + "set-var(check.a) nbsrv(b0),add(1)\n http-check set-var(check.b) srv_weight(b0/s)\n"
                       " http-check set-var(check.c) table_avl(f0)\n http-check send uri /a hdr V %[var(check.a)],%[var(check.b)],%[var(check.c)]",
    "load in on-success": HTTPCHK + f'expect status 200 on-success "{LOAD}"',
    "load in tcp-check": TCPCHK + f'send-lf "{LOAD} {SERVER_LOAD}"\n tcp-check expect string 220 status-code table_avl(f0)',
    "a variable at the end": HTTPCHK + "expect status 200 on-success ok\n http-check set-var(check.q) status\n http-check unset-var(check.q)",
    "a variable behind a connect": TCPCHK + "connect\n tcp-check set-var(check.q) str(c)",
    "a variable behind bytes": TCPCHK + "expect string 220 on-success ok\n tcp-check set-var(check.q) str(c)",
    "bytes in set-var": TCPCHK + "connect\n tcp-check expect rstring ready\n tcp-check set-var(check.tok) res.payload(4,4)\n"
                        ' tcp-check set-var-fmt(check.len) "%[res.len] %[payload(0,3)]"\n'
                        ' tcp-check send-lf "%[var(check.tok)] %[var(check.len)] <%[res.payload(0,3)]>"',
}
# Sections that they name.
OTHERS = """backend b0
 stick-table type string size 10 store conn_cnt
 server s 127.0.0.1:9 weight 9 maxconn 5 maxqueue 3
 server d 127.0.0.1:9 weight 9 maxconn 5 disabled
frontend f0
 bind unix@{}
 stick-table type ip size 100
"""


class Asked(threading.Thread):
    """A server of checks, which keeps what it is sent on each connection."""

    def __init__(self, path, greets):
        super().__init__(daemon=True)
        self.greets = greets
        self.heard = []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen(64)
        self.start()

    def run(self):
        while True:
            try:
                conn = self.socket.accept()[0]
            except OSError:
                return
            with conn:
                try:
                    if self.greets:
                        conn.sendall(GREETING)
                    asked = conn.recv(4096)
                    if asked:
                        self.heard.append(asked)
                    if not self.greets:
                        conn.sendall(RESPONSE)
                        conn.recv(4096)
                except OSError:
                    pass

    def stop(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.join(WAIT)


def first_checks(program, directory):
    """{name of the sample: (what the first check has sent, by connection; the line about it)}"""
    directory.mkdir()
    log = LogServer()
    cfg = (f" log 127.0.0.1:{log.port} local0\ndefaults\n mode http\n log global\n timeout connect 1m\n timeout client 1m\n"
           f" timeout server 1m\n timeout tunnel 2m\n timeout check {CHECK_MS}ms\n option log-health-checks\n")
    cfg += OTHERS.format(directory / "f0.sock")
    servers = []
    try:
        for i, lines in enumerate(SAMPLES.values()):
            path = str(directory / f"{i}.sock")
            servers.append(Asked(path, "tcp-check" in lines))
            cfg += f"backend s{i}\n {lines}\n server node1 unix@{path} check inter {INTER_MS} rise 1 fall 1\n"
        subject = Subject(program, directory, cfg)
        try:
            log.lines.until(lambda all_of: len({line.split("/node1 ")[0] for line in all_of if "Health check for" in line})
                            == len(SAMPLES), "each server has been checked")
        finally:
            subject.stop()
        found = {}
        for i, (name, server) in enumerate(zip(SAMPLES, servers)):
            about = [words(line) for line in log.lines if f" s{i}/node1 " in line and "Health check for" in line]
            found[name] = (server.heard[:max(1, SAMPLES[name].count("check connect"))], about[0])
        return found
    finally:
        for server in servers:
            server.stop()
        log.close()


def test_samples_of_checks(tmp_path):
    oracle.same(lambda program: first_checks(program, oracle.at(tmp_path, program)))
