"""Schedules of traffic for stick tables, from a seed: tables of all types and data, rules that track, count, tag, stick and refuse,
and what clients, servers and the stats socket do. Whoever plays one to two programs can compare their tables."""

import random

# Data that a table may store. HAProxy excludes an array and the counters whose place it takes.
COUNTS = ["gpt0", "gpc0", "gpc1", "conn_cnt", "conn_cur", "sess_cnt", "http_req_cnt", "http_err_cnt", "http_fail_cnt", "bytes_in_cnt",
          "bytes_out_cnt"]
RATES = ["gpc0_rate", "gpc1_rate", "conn_rate", "sess_rate", "http_req_rate", "http_err_rate", "http_fail_rate", "bytes_in_rate",
         "bytes_out_rate"]
EXCLUDED = {"gpt": ["gpt0"], "gpc": ["gpc0", "gpc1"], "gpc_rate": ["gpc0_rate", "gpc1_rate"]}
# No schedule takes that long: what a rate shows does not depend on when its events came.
PERIODS = ["1h", "30m", "7200s", "3600000"]
ELEMENTS = 3
TYPES = ["ip", "ip", "ipv6", "integer", "string", "string len 6", "binary", "binary len 4"]

# Keys by what is there to take them from. Not all can be cast to each type; what cannot is another schedule's.
ANYWHERE = {
    "ip": ["src", "src", "src,ipmask(24)", "dst", "int(77)"],
    "ipv6": ["src", "src", "dst"],
    "integer": ["int(7)", "src", "dst_port,div(65536)", "int(-1)"],
    "string": ["src", "str(abc)", "int(12)", "src,ipmask(24)", "str(a.b)"],
    "binary": ["str(abcdefgh)", "bin(00ff10)", "src", "int(65)"],
}
REQUEST = {
    "ip": ["req.hdr_ip(x-ip)", "src", "url_param(ip)"],
    "ipv6": ["req.hdr_ip(x-ip)", "src"],
    "integer": ["req.hdr(x-k)", "path,length", "req.hdr_val(x-k)", "req.hdr_cnt(x-k)"],
    "string": ["path", "req.hdr(x-k)", "method", "base,field(2,/)", "req.hdr(x-k),lower", "path,length", "hdr(host)"],
    "binary": ["path", "base32", "req.hdr(x-k)", "path,sha1"],
}
RESPONSE = {
    "ip": ["src", "var(txn.ip)"],
    "ipv6": ["src", "var(txn.ip)"],
    "integer": ["status", "int(3)", "var(txn.k)"],
    "string": ["status", "var(txn.k)", "res.hdr(x-s)"],
    "binary": ["var(txn.k)", "res.hdr(x-s)"],
}
PAYLOAD = {
    "ip": ["src"], "ipv6": ["src"], "integer": ["req.payload(0,1),length"],
    "string": ["req.payload(0,2)", "src"], "binary": ["req.payload(0,3)", "req.payload(1,2)"],
}
MOODS = ["200", "200", "200", "200", "302", "404", "404", "500", "501", "502", "505"]
# Faults of a server. A connection's first request only is answered then: HAProxy closes after others, so that clients try again.
FAULTS = ["silence", "close", "garbage", "reset", "half", "large"]
# All that a client sends of a request. The time for a head is short only in schedules with it.
PART, HEAD_TIME = b"GET /200 HTTP/1.1\r\nHost", " timeout http-request "
PATHS = ["deny", "tarpit", "auth", "move", "own", "reject", "deny500"]


class Table:
    def __init__(self, rnd, name, is_full):
        self.name = name
        self.type = rnd.choice(TYPES)
        self.size = rnd.choice(["100", "1k", "3"]) if not is_full else "100"
        self.data = {}
        names = [n for n in COUNTS + RATES if is_full or rnd.random() < 0.5]
        arrays = [n for n in EXCLUDED if not is_full and rnd.random() < 0.3]
        for n in names:
            if not any(n in EXCLUDED[a] for a in arrays):
                self.data[n] = 1
        self.data.update({a: rnd.randint(1, ELEMENTS) for a in arrays})
        words = []
        for n, count in self.data.items():
            args = [str(count)] if n in EXCLUDED else []
            args += [rnd.choice(PERIODS)] if n.endswith("_rate") else []
            words.append(n + (f"({','.join(args)})" if args else ""))
        rnd.shuffle(words)
        store = f" store {','.join(words)}" if words else ""
        # Two schedules of three expire: exp=0 is another form.
        self.line = f" stick-table type {self.type} size {self.size}{rnd.choice([' expire 1h', ' expire 2d', ''])}{store}\n"
        if self.size == "3":
            # A full table may replace another entry than HAProxy does.
            self.line = self.line.replace("size 3", "size 3 nopurge")

    @property
    def kind(self):
        return self.type.split()[0]

    def key(self, rnd):
        """A key for the stats socket."""
        return {"ip": f"127.0.0.{rnd.randint(1, 4)}", "ipv6": f"::ffff:127.0.0.{rnd.randint(1, 4)}", "integer": str(rnd.randint(1, 8)),
                "string": rnd.choice(["/200", "/404", "k1", "127.0.0.2", "abc"]), "binary": "k1"}[self.kind]

    def datum(self, rnd):
        """A word after `data.`, or None."""
        words = [n for n in self.data if n not in EXCLUDED]
        words += [n for n in EXCLUDED if n in self.data]
        return rnd.choice(words) if words else None


class Schedule:
    """cfg: with {p0}, {a} and {b} for ports of the frontend and two servers; steps: what is done, one after the other."""

    is_h2 = False

    def __init__(self, seed):
        self.rnd = random.Random(seed)
        rnd = self.rnd
        self.is_http = rnd.random() < 0.75 or self.is_h2
        self.tables = [Table(rnd, name, rnd.random() < 0.3) for name in ("f", "b", "t1", "t2")[:rnd.randint(2, 4)]]
        self.is_tracked = []
        self.cfg = self._config()
        self.steps = [self._step() for _ in range(rnd.randint(3, 9))]
        if any(step[0] == "client" and PART in step[-1] for step in self.steps):
            self.cfg = self.cfg.replace(f"{HEAD_TIME}1m", f"{HEAD_TIME}500ms")

    # --- rules ---

    def _table(self):
        return self.rnd.choice(self.tables)

    def _if(self, *more):
        """A condition, or none."""
        rnd, words = self.rnd, list(more)
        slot, t = rnd.randint(0, 2), self._table().name
        words += [f"sc{slot}_tracked", f"sc_conn_cnt({slot}) gt {rnd.randint(0, 3)}", f"sc{slot}_http_req_cnt gt {rnd.randint(0, 4)}",
                  f"src_conn_cnt({t}) gt 1", f"src_get_gpc0({t}) gt 0", f"src,in_table({t})", f"src,table_http_err_cnt({t}) gt 0",
                  f"sc_get_gpc0({slot}) gt 1", f"sc_conn_rate({slot}) gt 1", f"sc_http_err_rate({slot}) gt 0", f"table_cnt({t}) gt 1",
                  f"sc_conn_cur({slot}) gt 0", f"sc{slot}_sess_cnt gt 1", f"sc_http_fail_cnt({slot}) gt 0",
                  f"sc_trackers({slot}) gt 0", f"sc{slot}_inc_gpc0 gt 2", f"sc_inc_gpc1({slot}) gt 1", f"sc_clr_gpc0({slot}) gt 0",
                  f"sc_inc_gpc(0,{slot}) gt 1", f"sc_inc_gpc(1,{slot}) gt 0", f"sc_clr_gpc(1,{slot}) ge 0", f"src,table_gpt0({t}) gt 0", f"src,table_conn_cur({t}) gt 0"]
        if rnd.random() < 0.6:
            return ""
        return f" {rnd.choice(['if', 'if', 'unless'])} {{ {rnd.choice(words)} }}"

    def _track(self, where, keys, own, *conditions):
        rnd = self.rnd
        t = self._table()
        own = t.name == own and rnd.random() < 0.7
        key = rnd.choice(keys[t.kind])
        return f" {where} track-sc{rnd.randint(0, 2)} {key}{'' if own else f' table {t.name}'}{self._if(*conditions)}\n"

    def _count(self, where, *conditions):
        rnd = self.rnd
        slot = rnd.randint(0, 2)
        what = rnd.choice([f"sc-inc-gpc0({slot})", f"sc-inc-gpc1({slot})", f"sc-inc-gpc({rnd.randint(0, ELEMENTS - 1)},{slot})",
                           f"sc-set-gpt0({slot}) {rnd.randint(0, 9)}", f"sc-set-gpt({rnd.randint(0, ELEMENTS - 1)},{slot}) 5",
                           f"sc-set-gpt0({slot}) int(3),add(4)"][:5 if where.endswith("connection") else 6])
        return f" {where} {what}{self._if(*conditions)}\n"

    def _some(self, most, make, *args):
        return "".join(make(*args) for _ in range(self.rnd.randint(0, most)))

    def _connection_rules(self):
        rnd, out = self.rnd, ""
        for layer in ("connection", "session"):
            where = f"tcp-request {layer}"
            out += self._some(2, self._track, where, ANYWHERE, "f") if rnd.random() < 0.6 else ""
            out += self._some(2, self._count, where)
            if rnd.random() < 0.2:
                out += f" {where} reject if {{ sc{rnd.randint(0, 2)}_conn_cnt gt {rnd.randint(1, 3)} }}\n"
        return out

    def _http_rules(self, own):
        rnd = self.rnd
        path = "path " + rnd.choice(["/200", "/404", "/500", "-m beg /d"])
        lines = [self._some(2, self._track, "http-request", {k: REQUEST[k] + ANYWHERE[k] for k in REQUEST}, own, path),
                 self._some(1, self._track, "tcp-request content", {k: REQUEST[k] + ANYWHERE[k] for k in REQUEST}, own, path),
                 self._some(2, self._count, "http-request", path), self._some(1, self._count, "tcp-request content", path),
                 self._some(1, self._track, "http-response", RESPONSE, own, "status 404"),
                 self._some(2, self._count, "http-response", "status 404"),
                 " http-request deny if { path /deny }\n http-request tarpit if { path /tarpit }\n http-request auth if { path /auth }\n",
                 " http-request redirect location / if { path /move }\n http-request return status 404 if { path /own }\n"
                 " http-request reject if { path /reject }\n http-request deny deny_status 500 if { path /deny500 }\n",
                 " http-response deny if { status 302 }\n" if rnd.random() < 0.5 else "",
                 f" http-request deny deny_status 429 if {{ sc_http_req_cnt({rnd.randint(0, 2)}) gt {rnd.randint(2, 5)} }}\n"
                 if rnd.random() < 0.3 else "",
                 " http-request set-var(txn.ip) src\n http-request set-var(txn.k) req.hdr(x-k)\n"]
        rnd.shuffle(lines)
        return "".join(lines)

    def _tcp_rules(self, own):
        rnd = self.rnd
        lines = [self._some(2, self._track, "tcp-request content", {k: PAYLOAD[k] + ANYWHERE[k] for k in PAYLOAD}, own),
                 self._some(2, self._count, "tcp-request content"), self._some(2, self._count, "tcp-response content") if own == "b" else "",
                 f" tcp-request content reject if {{ sc{rnd.randint(0, 2)}_conn_cnt gt {rnd.randint(1, 3)} }}\n" if rnd.random() < 0.2 else ""]
        rnd.shuffle(lines)
        return " tcp-request inspect-delay 5s\n" + "".join(lines)

    def _stick_rules(self):
        rnd, out = self.rnd, ""
        keys = {k: REQUEST[k] + ANYWHERE[k] for k in REQUEST} if self.is_http else ANYWHERE
        # A key is stored in a full table by tacit if it is there already, and not by HAProxy.
        tables = [t for t in self.tables if t.size != "3"]
        for _ in range(rnd.randint(0, 2) if tables else 0):
            t = rnd.choice(tables)
            word = rnd.choice(["on", "on", "match", "store-request", "store-response"])
            source = ANYWHERE if word == "store-response" else keys
            out += f" stick {word} {rnd.choice(source[t.kind])}{'' if t.name == 'b' else f' table {t.name}'}\n"
        return out

    def _values(self):
        """Fields that show what the rules see."""
        rnd = self.rnd
        words = [f"sc_{n}({rnd.randint(0, 2)})" for n in ("http_req_cnt", "conn_cnt", "get_gpc0", "http_err_cnt", "conn_cur", "sess_cnt",
                                                         "gpc0_rate", "http_req_rate", "get_gpt0", "tracked", "trackers", "http_fail_cnt")]
        words += [f"src_{n}({self._table().name})" for n in ("conn_cnt", "get_gpc0", "http_req_cnt")]
        return f' http-after-response set-header x-v "{";".join(f"%[{w}]" for w in rnd.sample(words, 6))}"\n'

    def _config(self):
        rnd = self.rnd
        rules = self._http_rules if self.is_http else self._tcp_rules
        names = [t.name for t in self.tables]
        lines = {t.name: t.line for t in self.tables}
        cfg = f"defaults\n mode {'http' if self.is_http else 'tcp'}\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n" \
              f"{HEAD_TIME}1m\n timeout http-keep-alive 1m\n timeout tarpit 10ms\n"
        # A rule may refuse a connection before its first bytes are there, and then they do not count: they come with it.
        cfg += f"frontend f\n bind 127.0.0.1:{{p0}} defer-accept\n default_backend b\n{lines.get('f', '')}" + self._braced(self._connection_rules() + rules("f"))
        cfg += self._braced(self._values()) if self.is_http else ""
        cfg += "backend b\n balance roundrobin\n" + lines.get("b", "") + self._braced(self._stick_rules())
        cfg += self._braced(rules("b")) if rnd.random() < 0.5 else ""
        cfg += self._braced(" http-request set-timeout server 100ms if { path /silence }\n") if self.is_http else ""
        cfg += (" option " + rnd.choice(["httpclose", "http-server-close"]) + "\n") if self.is_http and rnd.random() < 0.3 else ""
        cfg += " server a 127.0.0.1:{a}\n server b 127.0.0.1:{b}" + rnd.choice(["", " backup", " non-stick"]) + "\n"
        return cfg + "".join(f"backend {n}\n{lines[n]}" for n in names if n not in "fb")

    @staticmethod
    def _braced(text):
        return text.replace("{", "{{").replace("}", "}}")

    # --- traffic and commands ---

    def _invalid(self):
        return self.rnd.choice([b"GARBAGE\r\n\r\n", PART, b"X\r\n\r\n", b"GET /2 00 HTTP/1.1\r\n\r\n"])

    def _request(self, paths, is_last):
        """A request; one with a body only if it is the last: HAProxy closes where it has answered one itself."""
        rnd = self.rnd
        path = rnd.choice(paths) + rnd.choice(["", "", "?ip=10.1.1.1"])
        fields = rnd.choice(["", "", "X-K: k1\r\n", "X-K: 2\r\n", "X-K: K1\r\nX-K: 3\r\n", "X-IP: 10.0.0.9\r\n", "X-IP: 2001:db8::1\r\n"])
        if is_last and rnd.random() < 0.2:
            n = rnd.choice([1, 100, 5000])
            return f"POST /{path} HTTP/1.1\r\nHost: h\r\n{fields}Content-Length: {n}\r\n\r\n".encode() + b"x" * n
        close = "Connection: close\r\n" if is_last and rnd.random() < 0.3 else ""
        return f"GET /{path} HTTP/1.{rnd.choice('110') if is_last else 1}\r\nHost: h\r\n{fields}{close}\r\n".encode()

    def _requests(self):
        """The requests of one connection."""
        rnd = self.rnd
        if rnd.random() < 0.15:
            return [self._request(FAULTS[1:] if rnd.random() < 0.9 else FAULTS[:1], True)]
        n = rnd.choice([0, 1, 1, 2, 3, 5])
        sends = [self._request(MOODS + PATHS, i == n - 1) for i in range(n)]
        return sends[:-1] + [self._invalid()] if sends and rnd.random() < 0.12 else sends

    def _command(self):
        rnd, t = self.rnd, self._table()
        data = t.datum(rnd)
        n = rnd.randint(0, 5)
        commands = [f"set table {t.name} key {t.key(rnd)}" + (f" data.{data} {n}" if data and data not in EXCLUDED else ""),
                    f"clear table {t.name} key {t.key(rnd)}", f"show table {t.name} key {t.key(rnd)}", "show table", "clear table nope"]
        if data:
            op = rnd.choice(["eq", "ne", "le", "ge", "lt", "gt"])
            commands += [f"show table {t.name} data.{data} {op} {n}", f"clear table {t.name} data.{data} {op} {n}"] * 2
        return rnd.choice(commands)

    def _step(self):
        """("admin", command), or ("client", the last byte of its address, what it sends)."""
        rnd = self.rnd
        if rnd.random() < 0.25:
            return ("admin", self._command())
        if self.is_http:
            sends = self._requests()
        else:
            sends = [rnd.choice([b"hello", b"x", b"q", b"r", b"abc" * 1000]) for _ in range(rnd.choice([1, 1, 2, 3]))]
        return ("client", rnd.randint(1, 4), sends)


class Streams(Schedule):
    """The same over HTTP/2: a step ("streams", the last byte of an address, actions on one connection). An action is ("get", path,
    fields), which is over before the next one, ("hold", fields) with an answer that ends when all have begun, ("cancel", fields) of
    such a one, or ("invalid",)."""

    is_h2 = True

    def _config(self):
        return super()._config().replace("bind 127.0.0.1:{p0}", "bind 127.0.0.1:{p0} proto h2")

    def _fields(self):
        return self.rnd.choice([(), (), (("x-k", "k1"),), (("x-k", "2"),), (("x-ip", "10.0.0.9"),), (("x-ip", "2001:db8::1"),)])

    def _action(self):
        word = self.rnd.choice(["get"] * 5 + ["hold"] * 3 + ["cancel", "invalid"])
        if word == "get":
            return (word, "/" + self.rnd.choice(MOODS + PATHS), self._fields())
        return (word,) if word == "invalid" else (word, self._fields())

    def _step(self):
        rnd = self.rnd
        if rnd.random() < 0.15:
            return ("admin", self._command())
        return ("streams", rnd.randint(1, 4), [self._action() for _ in range(rnd.randint(1, 6))])
