"""State that outlives a worker process: counters, over reloads and the death of a worker process."""

import csv
import io
import json
import os
import re
import signal
import threading
import urllib.request

import pytest

from conftest import WAIT, all_fds, connect, free_port, free_ports, info, recv_all
from facts import Seen, becomes, contains, only_child
from nameserver import Nameserver
from subject import loops
from test_master import MASTER, change, get, reload, worker_of

SITE = """\
frontend site
    mode http
    bind 127.0.0.1:{port}
    default_backend app
backend app
    mode http
    server a 127.0.0.1:{server}
    server b 127.0.0.1:{server}
listen plain
    mode tcp
    bind 127.0.0.1:{tcp}
    server s 127.0.0.1:{echo}
listen page
    mode http
    bind 127.0.0.1:{page}
    stats enable
    stats uri /stats
    http-request use-service prometheus-exporter if {{ path /metrics }}
"""
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def serve(c):
    """Answers each request."""
    data = b""
    while more := c.recv(4096):
        data += more
        while b"\r\n\r\n" in data:
            data = data.split(b"\r\n\r\n", 1)[1]
            c.sendall(ANSWER)


@pytest.fixture
def site(daemon, origins, origin):
    def start(extra="", **kw):
        port, tcp, page = free_ports(3)
        text = SITE.format(port=port, server=origins(serve).port, tcp=tcp, echo=origin.port, page=page)
        d = daemon(text, mode=MASTER, extra=extra, **kw)
        d.port, d.tcp, d.page = port, tcp, page
        return d
    return start


def rows(d):
    """{(proxy, server): {column: text}} of show stat."""
    text = d.admin("show stat")
    return {(r["# pxname"], r["svname"]): r for r in csv.DictReader(io.StringIO(text))}


def lasting(d):
    """Columns, fields and metrics that never go back: {(row, name): number}."""
    found = {}
    for item in json.loads(d.admin("show stat json")):
        key, name = None, None
        for f in item:
            if f["tags"]["nature"] in ("Counter", "Max") and f["value"]["type"] in ("u32", "u64") \
                    and not re.search(r"_time_p\d+_us$", f["field"]["name"]):
                key = (f["objType"], f["proxyId"], f["id"])
                found[key, f["field"]["name"]] = f["value"]["value"]
    for line in d.admin("show info typed").splitlines():
        m = re.match(r"\d+\.([^.]+)\.1:M([CM])P:u\d+:(\d+)", line)
        if m and m.group(1) != "MaxSslConns":
            found["info", m.group(1)] = int(m.group(3))
    for name in ("TotalBytesOut", "MaxSessRate"):
        found["info", name] = int(info(d.admin("show info"))[name])
    return found | {("metric", k): v for k, v in metrics(d).items()}


def fetch(d, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{d.page}{path}", timeout=WAIT) as r:
        return r.read().decode()


def metrics(d):
    """{name and labels: number} of those that count, but for the system calls of a process."""
    found = re.findall(r"^(\w+_(?:total|bucket|sum|count)\b\S*) (\S+)$", fetch(d, "/metrics?server-histograms"), re.M)
    return {name: float(value) for name, value in found if "pipes_" not in name and not name.startswith("tacit_syscalls_")}


def gone_back(before, now):
    return {k: (v, now.get(k)) for k, v in before.items() if now.get(k, -1) < v}


def use(d, n=5):
    for _ in range(n):
        assert get(d.port) == "ok"
        with connect(d.tcp) as c:
            c.sendall(b"hello")
            assert c.recv(5) == b"hello"


def test_no_counter_goes_back_over_20_reloads(site):
    """With traffic before, during and after, also of connections that stay in previous worker processes."""
    d = site()
    use(d)
    stop = threading.Event()

    def traffic():
        while not stop.is_set():
            use(d, 1)

    t = threading.Thread(target=traffic)
    t.start()
    kept = [connect(d.tcp)]
    try:
        before = lasting(d)
        assert len(before) > 600
        assert before["metric", 'haproxy_server_total_time_seconds_count{proxy="app",server="a"}'] >= 2
        for i in range(20):
            if i % 4 == 0:
                kept.append(connect(d.tcp))
            for c in kept:
                c.sendall(b"x" * 100)
                assert c.recv(100)
            assert reload(d, settle=False)
            for c in kept:
                c.sendall(b"x" * 100)
                assert c.recv(100)
            now = lasting(d)
            assert not gone_back(before, now)
            before = now
    finally:
        stop.set()
        t.join()
    for c in kept:
        c.close()
    only_child(d.pid)
    assert not gone_back(before, lasting(d))
    d.until("server plain/s cur eq 0")


def count(d):
    r = rows(d)
    return {"site": int(r["site", "FRONTEND"]["req_tot"]), "app": int(r["app", "BACKEND"]["stot"]),
            "a+b": sum(int(r["app", s]["stot"]) for s in "ab"), "tcp": int(r["plain", "FRONTEND"]["stot"]),
            "bytes": int(r["plain", "s"]["bin"]), "reqs": int(info(d.admin("show info"))["CumReq"])}


def test_counters_are_exact(site):
    """Counts of a previous worker process after the reload are there at once, and once."""
    d = site()
    with connect(d.tcp) as c:
        for n in range(1, 6):
            use(d, 2)
            c.sendall(b"x" * 1000)
            assert c.recv(1000, 0x100) == b"x" * 1000
            d.until(f"counter plain/s/bin eq {n * 1010}")
            got = count(d)
            assert (got["site"], got["app"], got["a+b"], got["tcp"]) == (2 * n, 2 * n, 2 * n, 2 * n + 1)
            assert reload(d, settle=False)
            assert count(d) | {"reqs": 0} == got | {"reqs": 0}
    only_child(d.pid)
    assert count(d)["bytes"] == 5 * 1010
    assert reload(d)
    assert count(d)["bytes"] == 5 * 1010
    # The files of those that have ended are closed once their numbers are in a later one.
    becomes(lambda: sum(link.startswith("/memfd:kept") for link in all_fds(d.pid).values()), lambda n: n <= 2, "two files")


def test_a_killed_worker_loses_no_counter(site):
    d = site()
    use(d, 10)
    d.until("sessions eq 0", "idle")
    before, got = lasting(d), count(d)
    for n in range(1, 4):
        first = worker_of(d)
        os.kill(first, signal.SIGKILL)
        only_child(d.pid, besides=[first])
        assert "Uptime" in d.admin("show info")
        assert not gone_back(before, lasting(d))
        assert count(d)["site"] == got["site"] + n - 1
        assert get(d.port) == "ok"


def test_the_page_and_the_metrics_show_them(site):
    d = site()
    use(d, 3)
    assert reload(d)
    assert re.search(r'haproxy_frontend_http_requests_total\{proxy="site"\} 3\n', fetch(d, "/metrics"))
    table = csv.DictReader(io.StringIO(fetch(d, "/stats;csv")))
    assert [r["req_tot"] for r in table if r["# pxname"] == "site"] == ["3"]


def test_other_layouts(site):
    """Servers and sections are found by name; what is new begins at zero."""
    d = site()
    use(d, 4)
    was = rows(d)
    change(d, "    server a", "    server c 127.0.0.1:1\n    server a")
    assert reload(d)
    now = rows(d)
    assert [now["app", s]["stot"] for s in "cab"] == ["0", was["app", "a"]["stot"], was["app", "b"]["stot"]]
    change(d, "    server c 127.0.0.1:1\n", "")
    change(d, "    server b", "    server new")
    d.cfg.write_text(re.sub(r"nbthread \d+\n", "", d.cfg.read_text()).replace("global\n", "global\n    nbthread 3\n", 1))
    assert reload(d)
    now = rows(d)
    assert [now["app", s]["stot"] for s in ("a", "new")] == [was["app", "a"]["stot"], "0"]
    assert now["app", "BACKEND"]["stot"] == "4"
    # A listen section becomes two.
    text = d.cfg.read_text()
    d.cfg.write_text(re.sub(r"listen plain(.*?)    server s", r"frontend plain\1    default_backend plain\n"
                            r"backend plain\n    server s", text, flags=re.S))
    assert reload(d)
    now = rows(d)
    assert [now["plain", s]["stot"] for s in ("FRONTEND", "s", "BACKEND")] == ["4", "4", "4"]
    assert "cannot be used" not in d.stderr
    d.base = d.fds()


def test_guids_find_what_has_another_name(site):
    d = site()
    text = d.cfg.read_text()
    text = re.sub(r"(server a \S+)", r"\1 guid app:a", text).replace("frontend site\n", "frontend site\n    guid site.1\n")
    d.cfg.write_text(text)
    assert reload(d)
    use(d, 4)
    was = rows(d)
    # The name of one is the name of another now.
    text = text.replace("frontend site", "frontend renamed").replace("server a ", "server x ")
    d.cfg.write_text(re.sub(r"server b (\S+)", r"server a \1", text))
    assert reload(d)
    now = rows(d)
    assert now["renamed", "FRONTEND"]["req_tot"] == "4"
    assert now["app", "x"]["stot"] == was["app", "a"]["stot"] == "2"
    assert now["app", "a"]["stot"] == "0"


def test_servers_added_at_run_time_count_too(site):
    d = site()
    port = re.search(r"server a 127.0.0.1:(\d+)", d.cfg.read_text()).group(1)
    assert "registered" in d.admin(f"add server app/x 127.0.0.1:{port}")
    d.admin("enable server app/x")
    use(d, 6)
    total = count(d)["app"]
    change(d, "    server b", f"    server x 127.0.0.1:{port}\n    server b")
    assert reload(d)
    assert rows(d)["app", "x"]["stot"] == "2"
    assert count(d)["app"] == total


def test_servers_can_be_added_after_a_reload(site):
    """When it serves, it has forgotten the names in the files of previous processes."""
    d = site()
    port = re.search(r"server a 127.0.0.1:(\d+)", d.cfg.read_text()).group(1)
    assert reload(d)
    pid = d.info()["Pid"]
    assert "registered" in d.admin(f"add server app/x 127.0.0.1:{port}")
    d.admin("enable server app/x")
    use(d, 6)
    assert rows(d)["app", "x"]["stot"] != "0"
    assert d.info()["Pid"] == pid


def test_cleared_counters_stay_cleared(site):
    d = site()
    with connect(d.tcp) as c:
        use(d, 3)
        assert reload(d, settle=False)
        d.admin("clear counters all")
        assert rows(d)["site", "FRONTEND"]["req_tot"] == "0"
        assert rows(d)["site", "FRONTEND"]["rate_max"] == "0"
        c.sendall(b"x")
        assert c.recv(1) == b"x"
        assert reload(d, settle=False)
        assert rows(d)["site", "FRONTEND"]["req_tot"] == "0"
        assert rows(d)["site", "FRONTEND"]["smax"] == "0"
        use(d, 2)
        # The current value is the maximum after that.
        d.until("sessions frontend/site eq 0")
        d.admin("clear counters")
        assert rows(d)["site", "FRONTEND"]["smax"] == "0"
        assert reload(d, settle=False)
        assert rows(d)["site", "FRONTEND"]["req_tot"] == "2"
        assert rows(d)["site", "FRONTEND"]["smax"] == "0"


def test_cleared_rates_of_the_process_stay_cleared(site):
    """Highest rates of processes that have ended, and of one that still has a client."""
    d = site()
    with connect(d.tcp) as c:
        use(d, 3)
        assert int(d.info()["MaxConnRate"]) >= 3
        total = int(d.info()["CumConns"])
        assert reload(d, settle=False)
        assert int(d.info()["MaxConnRate"]) >= 3
        d.admin("clear counters")
        assert d.info()["MaxConnRate"] == d.info()["MaxSessRate"] == "0"
        assert reload(d, settle=False)
        assert d.info()["MaxConnRate"] == d.info()["MaxSessRate"] == "0"
        assert int(d.info()["CumConns"]) >= total
        c.sendall(b"x")
        assert c.recv(1) == b"x"
    assert reload(d)
    assert d.info()["MaxConnRate"] == "0"


def test_it_can_be_turned_off(site):
    d = site(extra="tune.reload.keep none")
    use(d, 3)
    assert reload(d)
    assert rows(d)["site", "FRONTEND"]["req_tot"] == "0"
    assert not [link for link in all_fds(d.pid).values() if link.startswith("/memfd:kept")]


def test_memory_that_cannot_be_used_is_refused(site):
    """Bytes of another version, and damaged ones: the start goes on, and says so."""
    d = site()
    use(d, 3)
    # The file is sealed: only its own process can write to it.
    (path,) = [f"/proc/{d.pid}/fd/{n}" for n, link in all_fds(d.pid).items() if link.startswith("/memfd:kept")]
    with pytest.raises(OSError):
        with open(path, "r+b") as f:
            f.write(b"x")
    # As its process it can be damaged.
    (line,) = [m for m in open(f"/proc/{worker_of(d)}/maps").read().splitlines() if "/memfd:kept" in m]
    start = int(line.split("-")[0], 16)
    for at, junk in ((8, b"\xff"), (64, b"\xff\xff\xff\x7f"), (72, b"\xff\xff"), (0, b"xxxxxxxx")):
        with open(f"/proc/{worker_of(d)}/maps") as f:
            line = [m for m in f.read().splitlines() if "/memfd:kept" in m and "rw" in m.split()[1]][0]
        start = int(line.split("-")[0], 16)
        with open(f"/proc/{worker_of(d)}/mem", "r+b", buffering=0) as f:
            f.seek(start + at)
            f.write(junk)
        assert reload(d)
        assert "the memory file of a previous worker process cannot be used" in d.stderr
        assert rows(d)["site", "FRONTEND"]["req_tot"] == "0"
        use(d, 3)


# --- states of servers ---

CHECKED = """\
backend b
    mode http
    server up 127.0.0.1:{up} check inter 200ms rise 1 fall 1 weight 10
    server down 127.0.0.1:{down} check inter 200ms rise 1 fall 1 weight 10
    server new 127.0.0.1:{up} check inter 1h init-state fully-down weight 10
    server plain 127.0.0.1:{up} weight 10
    server off 127.0.0.1:{up} weight 10 disabled
listen l
    mode http
    bind 127.0.0.1:{port}
    default_backend b
"""
STATES = ("status", "weight", "chkfail", "chkdown", "check_status", "last_chk", "addr", "check_code")


def states(d, servers=("up", "down", "new", "plain", "off")):
    """The states of one moment. A check that is running is marked."""
    r = rows(d)
    return {s: tuple(r["b", s][c].removeprefix("* ") for c in STATES) for s in servers}


@pytest.fixture
def checked(daemon, origins):
    def start(extra=""):
        port, down = free_ports(2)
        up = origins(serve).port
        text = CHECKED.format(port=port, up=up, down=down)
        d = daemon(text, mode=MASTER, extra=extra)
        d.port, d.up, d.down = port, up, down
        d.until("server b/down state eq DOWN")
        return d
    return start


def test_states_of_servers_outlive_a_reload(checked, tmp_path):
    d = checked()
    d.admin("set server b/plain state drain")
    d.admin("set server b/up weight 3")
    d.admin("enable server b/off")
    d.until("server b/off state ne MAINT")
    d.admin("set server b/new health up")
    assert rows(d)["b", "new"]["status"] == "UP"
    d.admin(f"set server b/plain addr 127.0.0.2 port {d.up}")
    d.until("counter b/down/downtime ge 1")
    before, down = states(d), rows(d)["b", "down"]
    assert before["plain"][0] == "DRAIN" and before["plain"][6] == f"127.0.0.2:{d.up}"
    assert int(down["downtime"]) >= 1
    for _ in range(3):
        assert reload(d)
        assert states(d) == before
        now = rows(d)["b", "down"]
        assert int(now["downtime"]) >= int(down["downtime"]) and int(now["lastchg"]) >= int(down["lastchg"])
        assert rows(d)["b", "BACKEND"]["chkdown"] == "0"
    os.kill(worker_of(d), signal.SIGKILL)
    assert get(d.port) == "ok"
    assert states(d) == before


def test_what_the_configuration_changed_wins(checked):
    d = checked()
    d.admin("set server b/up weight 3")
    d.admin("set server b/plain state maint")
    d.admin("enable server b/off")
    d.admin(f"set server b/plain addr 127.0.0.2 port {d.up}")
    change(d, "rise 1 fall 1 weight 10", "rise 1 fall 1 weight 20")
    change(d, f"server plain 127.0.0.1:{d.up} weight 10", f"server plain 127.0.0.3:{d.up} weight 10")
    change(d, "weight 10 disabled", "weight 10")
    assert reload(d)
    r = rows(d)
    assert r["b", "up"]["weight"] == "20"
    assert r["b", "plain"]["addr"] == f"127.0.0.3:{d.up}"
    assert r["b", "plain"]["status"] == "MAINT"
    assert r["b", "off"]["status"] == "no check"
    change(d, "rise 1 fall 1 weight 20", "rise 1 fall 1 weight 20 disabled")
    assert reload(d)
    assert rows(d)["b", "up"]["status"] == "MAINT"


def test_a_state_file_has_priority(checked, tmp_path):
    file = tmp_path / "states"
    file.write_text("1\n# be_id\n1 b 1 up - 0 0 5 10 70 8 2 0 6 0 0 0 - 0 - 0 0 - - 0\n")
    d = checked(extra=f"server-state-file {file}")
    d.admin("set server b/up weight 3")
    d.admin("set server b/plain weight 4")
    change(d, "backend b", "backend b\n    load-server-state-from-file global")
    assert reload(d)
    assert rows(d)["b", "up"]["weight"] == "5"
    assert rows(d)["b", "plain"]["weight"] == "4"


def test_a_state_that_is_older_than_the_uptime_of_the_machine(daemon, tmp_path):
    file = tmp_path / "states"
    file.write_text("1\n# be_id\n1 b 1 s - 2 0 1 1 2000000000 1 0 0 0 0 0 0 - 0 - 0 0 - - 0\n")
    load = "    load-server-state-from-file global\n"
    d = daemon("backend b\n    server s 127.0.0.1:1\n" + load, mode=MASTER, extra=f"server-state-file {file}")
    assert int(rows(d)["b", "s"]["lastchg"]) >= 2000000000
    change(d, load, "")
    assert reload(d)
    assert int(rows(d)["b", "s"]["lastchg"]) >= 2000000000


def test_servers_added_at_run_time_are_added_again(checked):
    d = checked()
    d.admin(f"add server b/x 127.0.0.1:{d.up} weight 7 check inter 1h")
    d.admin(f"add server b/y 127.0.0.1:{d.up}")
    d.admin("enable server b/x")
    d.admin("enable health b/x")
    d.admin("del server b/y")
    status = rows(d)["b", "x"]["status"]
    assert status.startswith("UP")
    for _ in range(2):
        assert reload(d)
        r = rows(d)
        assert (r["b", "x"]["weight"], r["b", "x"]["addr"]) == ("7", f"127.0.0.1:{d.up}")
        assert r["b", "x"]["status"] == status
        assert ("b", "y") not in r
    assert "cannot be added again" not in d.stderr
    assert "Server deleted" in d.admin("disable server b/x; del server b/x")
    assert reload(d)
    assert ("b", "x") not in rows(d)


SET = """\
resolvers res
    nameserver ns1 127.0.0.1:{ns}
    timeout resolve 100ms
    timeout retry 100ms
frontend fe
    mode http
    bind 127.0.0.1:{port}
    maxconn 100
    default_backend b
backend b
    mode http
    server plain 127.0.0.1:{up} maxconn 10 check inter 100ms port {bad} rise 1 fall 1
    server agent 127.0.0.1:{up} agent-check agent-port {bad} agent-inter 100ms
    server named one.x:{up} resolvers res init-addr none
"""


class Agent:
    """An agent that keeps what is sent to it, and answers."""
    def __init__(self, origins):
        self.sent = Seen()
        self.port = origins(self.serve).port

    def serve(self, c):
        c.sendall(b"up\n")
        self.sent.append(c.recv(100))


def test_what_commands_have_set_outlives_a_reload(daemon, origins):
    """Limits, names, and where checks go; what the configuration has changed counts."""
    ns, agent = Nameserver(), Agent(origins)
    try:
        ns.zone["one.x"], ns.zone["two.x"] = {"a": ["127.0.0.1"]}, {"a": ["127.0.0.2"]}
        port, bad = free_ports(2)
        d = daemon(SET.format(ns=ns.port, port=port, up=origins(serve).port, bad=bad), mode=MASTER,
                   extra="maxconn 200\n    maxsessrate 5000")
        up = re.search(r"server plain \S+:(\d+)", d.cfg.read_text()).group(1)

        def settings():
            r, i = rows(d), info(d.admin("show info"))
            return {"fe": r["fe", "FRONTEND"]["slim"], "plain": r["b", "plain"]["slim"], "addr": r["b", "named"]["addr"],
                    "check": r["b", "plain"]["status"], "maxconn": i["Maxconn"], "sessions": i["SessRateLimit"],
                    "connections": i["ConnRateLimit"], "tls": i["SslRateLimit"]}

        d.until("server b/plain state eq DOWN", "server b/named state ne MAINT")
        assert settings()["addr"].startswith("127.0.0.1:")
        first = settings()
        for command in ("set maxconn server b/plain 7", "set maxconn frontend fe 50", "set maxconn global 150",
                        "set rate-limit sessions global 1000", "set rate-limit connections global 2000",
                        "set rate-limit ssl-sessions global 3000", f"set server b/plain check-port {up}",
                        f"set server b/agent agent-port {agent.port}", "set server b/agent agent-send hello\\n",
                        "set server b/named fqdn two.x"):
            d.admin(command)
        want = {"fe": "50", "plain": "7", "addr": f"127.0.0.2:{up}", "check": "UP", "maxconn": "150", "sessions": "1000",
                "connections": "2000", "tls": "3000"}
        becomes(settings, want)
        for n in range(3):
            if n == 1:
                worker = worker_of(d)
                os.kill(worker, signal.SIGKILL)
                only_child(d.pid, besides=[worker])
            else:
                assert reload(d)
            assert settings() == want
            agent.sent.clear()
            agent.sent.until(lambda sent: any(s.startswith(b"hello") for s in sent), "hello")
        # Changes of the configuration count, and nothing else.
        change(d, "maxconn 100\n", "maxconn 90\n")
        change(d, "maxconn 10 check", "maxconn 11 check")
        change(d, "maxsessrate 5000", "maxsessrate 4000")
        change(d, "one.x", "three.x")
        assert reload(d)
        assert settings() == want | {"fe": "90", "plain": "11", "sessions": "4000", "addr": ""}
        change(d, "global\n", "global\n    tune.reload.keep counters\n")
        assert reload(d)
        assert settings() | {"addr": "", "check": ""} == first | {"fe": "90", "plain": "11", "sessions": "4000",
                                                                  "addr": "", "check": ""}
    finally:
        ns.close()


def test_states_can_be_turned_off(checked):
    d = checked(extra="tune.reload.keep counters")
    d.admin("set server b/plain state maint")
    d.admin("add server b/x 127.0.0.1:1")
    assert reload(d)
    assert rows(d)["b", "plain"]["status"] == "no check"
    assert ("b", "x") not in rows(d)


# --- names ---

NAMED = """\
resolvers res
    nameserver ns1 127.0.0.1:{ns}
    timeout resolve 100ms
    timeout retry 100ms
    hold timeout {hold}
listen l
    mode http
    bind 127.0.0.1:{port}
    server s s1.x:{server} resolvers res resolve-prefer ipv4 {init}
    server t t1.x:{server} resolvers res resolve-prefer ipv4 {init}
"""


@pytest.mark.parametrize("init", ["init-addr last,none", "init-addr none", ""])
def test_names_outlive_their_name_server(daemon, origins, init):
    """A start neither waits for the name server nor loses a server without it."""
    ns = Nameserver()
    port = free_port()
    try:
        ns.zone["s1.x"] = ns.zone["t1.x"] = {"a": ["127.0.0.1"]}
        text = NAMED.format(ns=ns.port, port=port, server=origins(serve).port, init="init-addr last,none", hold="1h")
        d = daemon(text, mode=MASTER)
        d.until("server l/s state ne MAINT", "server l/t state ne MAINT")
        assert get(port) == "ok"
        before = [rows(d)["l", s]["addr"] for s in "st"]
    finally:
        ns.close()
    change(d, "init-addr last,none", init)
    for _ in range(2):
        assert reload(d)
        assert [rows(d)["l", s]["addr"] for s in "st"] == before
        # The name server has been asked in vain.
        becomes(lambda: int(re.search(r"timeout: +(\d+)", d.admin("show resolvers")).group(1)), lambda n: n > 0, "a timeout")
        assert get(port) == "ok"
        assert [rows(d)["l", s]["status"] for s in "st"] == ["no check"] * 2
    change(d, "global\n", "global\n    tune.reload.keep counters\n")
    if init:
        assert reload(d)
        assert rows(d)["l", "s"]["addr"] == ""


@pytest.mark.parametrize("init", ["init-addr last,none", "init-addr none"])
def test_a_name_of_a_command_outlives_its_name_server(daemon, origins, init):
    """The address of a name that `set server ... fqdn` has given is held like that of a name of the configuration."""
    ns = Nameserver()
    port = free_port()
    try:
        ns.zone["s1.x"] = ns.zone["t1.x"] = {"a": ["127.0.0.1"]}
        ns.zone["s2.x"] = {"a": ["127.0.0.2"]}
        d = daemon(NAMED.format(ns=ns.port, port=port, server=origins(serve).port, init=init, hold="1h"), mode=MASTER)
        d.until("server l/s state ne MAINT", "server l/t state ne MAINT")
        d.admin("set server l/s fqdn s2.x")
        contains(d.stderr_path, "changed its IP from 127.0.0.1 to 127.0.0.2")
        ns.silent = True
        for _ in range(2):
            assert reload(d)
            # A lookup has failed when there is the next one: four questions each.
            ns.heard("s2.x", 12, more=True)
            seen = rows(d)["l", "s"]
            assert (seen["addr"].split(":")[0], seen["status"]) == ("127.0.0.2", "no check")
    finally:
        ns.close()


# --- maps ---

MAPPED = """\
listen l
    mode http
    option idle-close-on-response
    bind 127.0.0.1:{port}
    acl known hdr(x) -f {acl}
    http-request set-map({live}) %[hdr(key)] %[hdr(value)] if {{ hdr(key) -m found }}
    http-request return status 200 content-type text/plain string known if known
    http-request return status 200 content-type text/plain lf-string "%[hdr(x),map({map},none)]/%[hdr(x),map({live},none)]"
"""


def ask(port, x, **headers):
    text = "".join(f"{k}: {v}\r\n" for k, v in {"x": x, **headers}.items())
    with connect(port) as c:
        c.sendall(f"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{text}\r\n".encode())
        return recv_all(c).split(b"\r\n\r\n", 1)[1].decode()


@pytest.fixture
def mapped(daemon, tmp_path):
    def start(lines=10, extra=""):
        port = free_port()
        files = {name: tmp_path / name for name in ("map", "live", "acl")}
        files["map"].write_text("".join(f"k{i} v{i}\n" for i in range(lines)))
        files["live"].write_text("k0 live\n")
        files["acl"].write_text("friend\n")
        d = daemon(MAPPED.format(port=port, **files), mode=MASTER, extra=extra)
        d.port, d.files = port, files
        return d
    return start


def entries(d, kind, name):
    return [line.split(" ", 1)[1] for line in d.admin(f"show {kind} {d.files[name]}").strip().split("\n") if line]


def test_maps_changed_at_run_time_outlive_a_worker(mapped):
    d = mapped()
    m = d.files["map"]
    d.admin(f"add map {m} new 1; add map {m} other 2; set map {m} k3 changed; del map {m} k4; set map {m} new 3")
    d.admin(f"del acl {d.files['acl']} friend; add acl {d.files['acl']} guest")
    assert ask(d.port, "k0", key="k0", value="set") == "v0/set"
    assert ask(d.port, "rule", key="rule", value="added") == "none/added"
    before = entries(d, "map", "map"), entries(d, "map", "live"), entries(d, "acl", "acl")
    assert "new 3" in before[0] and "k4 v4" not in before[0]
    for n in range(4):
        if n == 2:
            worker = worker_of(d)
            os.kill(worker, signal.SIGKILL)
            only_child(d.pid, besides=[worker])
            assert ask(d.port, "k3") == "changed/none"
        else:
            assert reload(d)
        assert (entries(d, "map", "map"), entries(d, "map", "live"), entries(d, "acl", "acl")) == before
        assert [ask(d.port, x) for x in ("new", "k3", "k4", "rule", "guest", "friend")] == [
            "3/none", "changed/none", "none/none", "none/added", "known", "none/none"]
    # A whole new version.
    version = d.admin(f"prepare map {m}").split(": ")[1].strip()
    d.admin(f"add map @{version} {m} only this")
    assert reload(d)  # what was not committed is gone
    assert entries(d, "map", "map") == before[0]
    version = d.admin(f"prepare map {m}").split(": ")[1].strip()
    d.admin(f"add map @{version} {m} only this")
    d.admin(f"commit map @{version} {m}")
    assert reload(d)
    assert entries(d, "map", "map") == ["only this"]
    d.admin(f"clear map {m}")
    assert reload(d)
    assert entries(d, "map", "map") == []


def test_a_file_that_has_changed_wins(mapped):
    d = mapped()
    d.admin(f"set map {d.files['map']} k3 changed; set map {d.files['live']} k0 changed")
    d.files["map"].write_text("k3 new\n")
    assert reload(d)
    assert entries(d, "map", "map") == ["k3 new"]
    assert entries(d, "map", "live") == ["k0 changed"]
    assert f"'{d.files['map']}' has changed: its run-time changes are dropped" in d.stderr


def test_maps_can_be_turned_off(mapped):
    d = mapped(extra="tune.reload.keep counters server-states dns")
    d.admin(f"set map {d.files['map']} k3 changed")
    assert reload(d)
    assert "k3 v3" in entries(d, "map", "map")


def fill(d, m, version=""):
    """100,000 entries, of this version if there is one."""
    for first in range(0, 100000, 500):
        lines = "".join(f"n{i} {i}\n" for i in range(first, first + 500))
        assert not d.admin(f"add map {version} {m} <<\n{lines}").strip()


class Requests:
    """On one connection that is kept while it can be; `done` are those that were answered. changes: a rule changes a map with each."""
    def __init__(self, port, changes):
        self.port, self.changes, self.done, self.stop = port, changes, Seen(), threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        c = connect(self.port)
        while not self.stop.is_set():
            answer, n = b"", len(self.done)
            change = f"key: n{n % 2000 + 99000}\r\nvalue: {n}\r\n" if self.changes else ""
            c.sendall(f"GET / HTTP/1.1\r\nHost: a\r\nx: n5\r\n{change}\r\n".encode())
            while not answer.endswith((b"5/none", b"none/5", b"none/none")):
                more = c.recv(4096)
                assert more
                answer += more
            self.done.append(n)
            if b"onnection: close" in answer:
                c.close()
                c = connect(self.port)
        c.close()

    def more(self):
        """Returns when a request was answered that had not begun yet."""
        self.done.wait(len(self.done) + 2)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


@pytest.mark.parametrize("rules", [False, True])
def test_many_entries_stop_no_worker(mapped, rules):
    """Requests go on while 100,000 entries that were changed at run time are read, committed and cleared, also where rules
    change them: the worker frees few of them in a turn of its loop."""
    d = mapped(lines=10, extra="nbthread 1")
    name, answer = ("live", "none/99999") if rules else ("map", "99999/none")
    m = d.files[name]

    def frees_few_in_a_turn(command):
        before = loops(d)
        d.admin(command)
        assert loops(d) - before >= 100000 / 4096

    fill(d, m)
    assert ask(d.port, "n99999") == answer
    with Requests(d.port, rules) as r:
        for _ in range(3):
            assert reload(d)
            r.more()
        for _ in range(2):
            version = d.admin(f"prepare map {m}").split(": ")[1].strip()
            fill(d, m, f"@{version}")
            frees_few_in_a_turn(f"commit map @{version} {m}")
            r.more()
        frees_few_in_a_turn(f"clear map {m}")
        r.more()
    assert not rules or {e.split(" ")[0] for e in entries(d, "map", name)} <= {f"n{n}" for n in range(99000, 101000)}
    d.admin(f"clear map {m}")
    assert entries(d, "map", name) == []
