"""Metrics for Prometheus: the exposition format 0.0.4 by the letter, the numbers of `show stat`, and filters."""

import contextlib
import csv
import io
import json
import math
import re
import shutil
import socket
import subprocess
import threading
import time

import pytest
from certs import Authority
from conftest import ROOT, connect, free_port, recv_all, rss_kib, run
from subject import not_sanitized, only_tacit
from test_stats import get

pytestmark = only_tacit
SERVERS = 4000
METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)")


def labels_of(text):
    """{name: value} of what is between the braces; each is there once."""
    out, at = {}, 0
    while at < len(text):
        m = LABEL.match(text, at)
        assert m and m[1] not in out, text
        out[m[1]] = m[2]
        at = m.end()
        assert at == len(text) or (text[at] == "," and at + 1 < len(text)), text
        at += 1
    return out


def parse(text):
    """{metric: (type, {labels as sorted pairs: value})}; an error in the format fails. The samples of a metric follow
    its HELP and TYPE, in this order, and none stands elsewhere. A histogram is there with each of its three names."""
    assert not text or text.endswith("\n")
    out, name, has_type = {}, None, False
    for line in text.split("\n")[:-1]:
        if line.startswith("#"):
            _, word, at, rest = line.split(" ", 3)
            if word == "HELP":
                assert METRIC.fullmatch(at) and at not in out and rest, line
                assert name is None or out[name][1] or out[name + "_count"][1], f"{name} has no sample"
                name, has_type = at, False
                out[name] = (None, {})
            else:
                assert word == "TYPE" and at == name and not has_type and rest in ("counter", "gauge", "histogram"), line
                has_type = True
                out[name] = (rest, {})
                out |= {name + s: (rest, {}) for s in ("_bucket", "_sum", "_count") if rest == "histogram"}
            continue
        m = SAMPLE.fullmatch(line)
        assert m and has_type and m[1] in out and (m[1] == name) != (out[name][0] == "histogram"), line
        assert m[1].startswith(name) and out[m[1]][0] == out[name][0], line
        key = tuple(sorted(labels_of(m[2]).items())) if m[2] is not None else ()
        assert key not in out[m[1]][1], f"twice: {line}"
        value = float(m[3])
        assert math.isfinite(value), line
        out[m[1]][1][key] = value
    return out


def metrics(port, query=""):
    status, headers, text = get(port, "/metrics" + query)
    assert (status, headers["Content-Type"]) == (200, "text/plain; version=0.0.4")
    return parse(text)


def value(found, name, **labels):
    return found[name][1][tuple(sorted(labels.items()))]


def exporter(port, lines=""):
    return (f"frontend exporter\n    mode http\n    bind 127.0.0.1:{port}\n"
            "    http-request use-service prometheus-exporter if { path /metrics }\n"
            "    http-request return status 404\n" + lines)


def show_stat(d):
    text = d.admin("show stat").removeprefix("# ").strip()
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def site(daemon, origins):
    """An HTTP site with traffic behind it, and its exporter."""
    port, front = free_port(), free_port()
    o = origins()
    d = daemon(exporter(port, f"""\
frontend site:a.b-c_d
    mode http
    bind 127.0.0.1:{front}
    http-request deny if {{ path /denied }}
    http-request return status 204 if {{ path /none }}
    default_backend app
backend app
    mode http
    server good 127.0.0.1:{o.port} check inter 1s
    server down 127.0.0.1:1 check inter 50ms
    server off 127.0.0.1:2 disabled
    server unchecked 127.0.0.1:3 weight 0
backend empty
    mode http
"""))
    d.metrics_port, d.front = port, front
    d.until("server app/down state eq DOWN", "counter app/good/check_status eq L4OK")
    for path in ("/", "/none", "/denied", "/", "/"):
        get(front, path)
    return d


def test_the_format(site):
    found = metrics(site.metrics_port)
    assert len(found) > 150
    for name, (kind, _) in found.items():
        if name != "haproxy_process_failed_resolutions":
            assert (kind == "counter") == name.endswith("_total"), name
    scopes = {"_".join(name.split("_")[:2]) for name in found}
    assert scopes == {"haproxy_process", "haproxy_frontend", "haproxy_backend", "haproxy_server", "tacit_syscalls"}


def test_the_manual_has_each_metric(site):
    page = run("-dK", "man8").stdout
    listed = {}
    for name, place in re.findall(r"(?s)\\fB((?:haproxy|tacit)_[^\n]*)\\fR\n.*?\n\.br\n(.*?)\.\n", page):
        kind, _, scopes = place.partition(", for each ")
        for scope in scopes.split(", "):
            listed[name.replace("<scope>", scope)] = kind.split()[1]
    for name, (kind, _) in metrics(site.metrics_port).items():
        whole = re.sub("_(bucket|sum|count)$", "", name) if kind == "histogram" else name
        assert listed.get(whole) == kind, name


def test_states(site):
    found = metrics(site.metrics_port)
    states = {server: state for (key, n) in found["haproxy_server_status"][1].items() if n
              for server, state in [(dict(key)["server"], dict(key)["state"])]}
    assert states == {"good": "UP", "down": "DOWN", "off": "MAINT", "unchecked": "UP"}
    assert len(found["haproxy_server_status"][1]) == 4 * 5
    checks = {dict(key)["server"]: dict(key)["state"] for key, n in found["haproxy_server_check_status"][1].items() if n}
    assert checks == {"good": "L4OK", "down": "L4CON"}
    assert value(found, "haproxy_frontend_status", proxy="site:a.b-c_d", state="UP") == 1
    assert value(found, "haproxy_backend_status", proxy="app", state="UP") == 1
    assert value(found, "haproxy_backend_agg_server_status", proxy="app", state="UP") == 2
    assert value(found, "haproxy_backend_agg_server_status", proxy="app", state="MAINT") == 1
    assert value(found, "haproxy_backend_agg_check_status", proxy="app", state="L4CON") == 1
    assert value(found, "haproxy_backend_agg_server_status", proxy="empty", state="UP") == 0


def test_numbers_are_those_of_show_stat(site):
    """Compares the sections that the scrape itself does not use."""
    columns = {"sessions_total": "stot", "bytes_in_total": "bin", "bytes_out_total": "bout", "weight": "weight",
               "requests_denied_total": "dreq", "http_requests_total": "req_tot", "connection_errors_total": "econ",
               "intercepted_requests_total": "intercepted", "connection_attempts_total": "connect",
               "check_up_down_total": "chkdown", "active": "act", "active_servers": "act", "uweight": "uweight"}
    site.until("sessions eq 0")
    found = metrics(site.metrics_port)
    rows = [r for r in show_stat(site) if r["pxname"] != "exporter"]
    compared = total = 0
    for r in rows:
        scope = {"0": "frontend", "1": "backend", "2": "server"}[r["type"]]
        labels = {"proxy": r["pxname"]} | ({"server": r["svname"]} if scope == "server" else {})
        for name, column in columns.items():
            metric = found.get(f"haproxy_{scope}_{name}")
            if metric and r[column]:
                assert value(found, f"haproxy_{scope}_{name}", **labels) == int(r[column]), (labels, name)
                compared += 1
                total += int(r[column])
        for code in ("1xx", "2xx", "3xx", "4xx", "5xx", "other"):
            assert value(found, f"haproxy_{scope}_http_responses_total", code=code, **labels) == int(r[f"hrsp_{code}"])
    assert compared > 50 and total > 100
    assert value(found, "haproxy_frontend_http_responses_total", proxy="site:a.b-c_d", code="4xx") == 1
    assert value(found, "haproxy_frontend_intercepted_requests_total", proxy="site:a.b-c_d") == 1
    assert value(found, "haproxy_frontend_requests_denied_total", proxy="site:a.b-c_d") == 1


def test_limits_of_idle_connections_rates_and_the_node(daemon):
    port = free_port()
    d = daemon(exporter(port, "backend b\n    server a 127.0.0.1:1 pool-max-conn 4\n    server b 127.0.0.1:1 pool-max-conn 0\n"
                        "    server c 127.0.0.1:1\n"), extra="node here")
    found = metrics(port)
    limits = {dict(key)["server"]: n for key, n in found["haproxy_server_idle_connections_limit"][1].items()}
    assert limits == {"a": 4, "b": 0}
    assert [r["src_ilim"] for r in show_stat(d) if r["pxname"] == "b" and r["type"] == "2"] == ["4", "0", ""]
    for scope in ("frontend", "backend", "server"):
        assert found[f"haproxy_{scope}_current_session_rate"][0] == "gauge"
    assert value(found, "haproxy_server_current_session_rate", proxy="b", server="a") == 0
    assert value(found, "haproxy_process_node", node="here") == 1


def test_numbers_are_those_of_show_info(site):
    found, info = metrics(site.metrics_port), site.info()
    for name, field in (("nbthread", "Nbthread"), ("max_connections", "Maxconn"), ("listeners", "Listeners"),
                        ("max_fds", "Ulimit-n"), ("stopping", "Stopping")):
        assert value(found, f"haproxy_process_{name}") == int(info[field])
    assert value(found, "haproxy_process_build_info", version=info["Version"]) == 1
    start, uptime = (value(found, f"haproxy_process_{name}_seconds") for name in ("start_time", "uptime"))
    # After its configuration was written, and before now.
    assert site.cfg.stat().st_mtime - 1 < start and 0 <= uptime and start + uptime < time.time() + 1


def histogram(found, name, **labels):
    """(bounds with cumulative counts, sum, count), after a look at the rules of the format."""
    buckets = [(float(dict(key)["le"]), n) for key, n in found[name + "_bucket"][1].items()
               if labels.items() <= dict(key).items()]
    total, count = value(found, name + "_sum", **labels), value(found, name + "_count", **labels)
    assert [le for le, _ in buckets] == sorted({le for le, _ in buckets}) and buckets[-1] == (math.inf, count)
    assert [n for _, n in buckets] == sorted(n for _, n in buckets)
    assert not count or sum(n > 0 for _, n in buckets) > 0
    return buckets, total, count


@pytest.fixture
def slow_site(daemon):
    """A server that answers after 0.3 s, for one request by connection, and one that is never used."""
    port, front = free_port(), free_port()
    with socket.create_server(("127.0.0.1", 0)) as slow:
        def serve():
            with contextlib.suppress(OSError):
                while True:
                    with slow.accept()[0] as c:
                        c.recv(4096)
                        d.advance(0.3)
                        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

        served = threading.Thread(target=serve, daemon=True)
        served.start()
        d = daemon(exporter(port, f"""\
frontend f
    mode http
    bind 127.0.0.1:{front}
    http-request deny if {{ path /denied }}
    default_backend b
backend b
    mode http
    server slow 127.0.0.1:{slow.getsockname()[1]}
    server off 127.0.0.1:1 disabled
"""), extra="nbthread 1", clock="stands")
        d.metrics_port = port
        for path in ("/", "/denied", "/", "/"):
            get(front, path)
        d.settle()
        assert histogram(metrics(port), "haproxy_backend_total_time_seconds", proxy="b")[2] == 3
        yield d
        slow.shutdown(socket.SHUT_RDWR)
        served.join()


def test_histograms(slow_site):
    found = metrics(slow_site.metrics_port, "?server-histograms")
    for name in ("queue", "connect", "response", "total"):
        of_backend = histogram(found, f"haproxy_backend_{name}_time_seconds", proxy="b")
        assert of_backend == histogram(found, f"haproxy_server_{name}_time_seconds", proxy="b", server="slow")
        buckets, total, count = of_backend
        assert count == 3
        if name in ("response", "total"):
            assert dict(buckets)[0.25] == 0 and dict(buckets)[0.5] == 3 and total == 0.9
        else:
            assert buckets[0][1] == 3 and total == 0
    assert histogram(found, "haproxy_frontend_total_time_seconds", proxy="f") == \
        histogram(found, "haproxy_backend_total_time_seconds", proxy="b")
    assert histogram(found, "haproxy_server_total_time_seconds", proxy="b", server="off")[2] == 0
    assert not any("_server_" in n and n.endswith("_bucket") for n in metrics(slow_site.metrics_port))


def test_histograms_are_cleared(slow_site):
    query = "?metrics=haproxy_server_total_time_seconds"
    for command, left in (("clear counters", 3), ("clear counters all", 0)):
        slow_site.admin(command)
        found = metrics(slow_site.metrics_port, query)
        assert len(found) == 4
        assert histogram(found, "haproxy_server_total_time_seconds", proxy="b", server="slow")[2] == left


def test_the_end_of_the_first_certificate(daemon, tmp_path):
    """Only certificates that a line names count; without one there is no sample."""
    authority, port = Authority(tmp_path / "ca"), free_port()
    late, soon, unused = (authority.make(f"{name}.pem", name, [name], days=days) for name, days in (("late", 90), ("soon", 10), ("unused", 5)))
    d = daemon(exporter(port) + f"frontend tls\n    mode http\n    bind 127.0.0.1:{free_port()} ssl crt {late} crt {soon}\n")
    assert unused.exists()
    shown = d.admin(f"show ssl cert {soon}")
    ends = int(subprocess.run(["date", "-u", "+%s", "-d", re.search(r"notAfter: (.*)", shown)[1]], capture_output=True, text=True,
                              timeout=60, check=True).stdout)
    assert value(metrics(port), "haproxy_process_first_certificate_end_seconds") == ends
    assert f"First_certificate_end_sec: {ends}" in d.admin("show info")
    plain = free_port()
    daemon(exporter(plain))
    assert "haproxy_process_first_certificate_end_seconds" not in metrics(plain)


def test_filters(site):
    port = site.metrics_port
    assert set(metrics(port, "?scope=server&metrics=haproxy_server_weight,haproxy_server_status")) == \
        {"haproxy_server_weight", "haproxy_server_status"}
    assert "haproxy_server_status" not in metrics(port, "?metrics=-haproxy_server_status")
    assert {n.split("_")[1] for n in metrics(port, "?scope=global&scope=backend")} == {"process", "backend", "syscalls"}
    assert metrics(port, "?scope=") == {}
    weights = metrics(port, "?no-maint&extra-counters")["haproxy_server_weight"][1]
    assert {dict(k)["server"] for k in weights} == {"good", "down", "unchecked"}
    status, _, text = get(port, "/metrics?scope=servers")
    assert status == 400 and "haproxy_" not in text


def test_methods_and_versions(site):
    """Kept and closed connections; what a HEAD says is not followed by a body."""
    port = site.metrics_port
    with connect(port) as s:
        s.sendall(b"HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
                  b"POST /metrics?scope=global HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
                  b"GET /metrics?scope= HTTP/1.1\r\nHost: x\r\n\r\n"
                  b"GET /other HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        got = recv_all(s).decode()
    assert re.findall(r"HTTP/1\.1 (\d+) ", got) == ["200", "200", "200", "404"]
    head, _, rest = got.partition("\r\n\r\n")
    assert rest.startswith("HTTP/1.1 200 ") and "text/plain; version=0.0.4" in head
    assert got.count("# TYPE haproxy_process_nbthread ") == 1
    with connect(port) as s:
        s.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        head, body = recv_all(s).decode().split("\r\n\r\n", 1)
    assert "ransfer-" not in head and len(parse(body)) > 150


def test_the_dashboard_shows_metrics_that_are_there(site):
    """Their labels, too: what a query selects or groups by."""
    found = metrics(site.metrics_port)
    panels = json.loads((ROOT / "conf" / "grafana.json").read_text())["panels"]
    queries = [t["expr"] for p in panels for t in p.get("targets", [])]
    assert len(queries) > 20
    for query in queries:
        used = re.findall(r"((?:haproxy|tacit)_\w+)\{([^}]*)\}", query)
        assert used, query
        groups = {name for inside in re.findall(r"\bby \(([^)]*)\)", query) for name in re.split(r",\s*", inside)}
        for name, selectors in used:
            labels = {k for key in found[name][1] for k, _ in key} | {"instance"}
            assert groups | set(re.findall(r"(\w+)!?=", selectors)) <= labels, query


def test_the_alerts_ask_for_metrics_that_are_there(site):
    """Metrics that only a master has are in the manual."""
    found, page = metrics(site.metrics_port), run("-dK", "man8").stdout
    text = (ROOT / "conf/alerts.yml").read_text()
    assert len(re.findall(r"- alert: ", text)) >= 10
    for name, selectors in re.findall(r"\b(haproxy_\w+)(\{[^}]*\})?", text):
        if name not in found:
            assert name.startswith("haproxy_process_") and f"\\fB{name}\\fR" in page, name
            continue
        labels = {k for key in found[name][1] for k, _ in key}
        assert set(re.findall(r"(\w+)=", selectors)) <= labels, name


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool of the package prometheus")
@pytest.mark.parametrize(("what", "file"), [("check", "conf/alerts.yml"), ("test", "tests/system/alerts_test.yml")])
def test_promtool_reads_the_alerts_and_they_fire(what, file):
    done = subprocess.run(["promtool", what, "rules", ROOT / file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool of the package prometheus")
def test_promtool_reads_it(site):
    text = get(site.metrics_port, "/metrics")[2]
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    wrong = [line for line in (done.stdout + done.stderr).splitlines()
             if "failed_resolutions" not in line and line.strip()]
    assert done.returncode in (0, 3) and not wrong


@pytest.fixture
def many(daemon):
    """Four workers, one address that all accept on, and 4,000 servers."""
    port = free_port()
    servers = "".join(f"    server s{i} 127.0.0.1:{1 + i % 60000}\n" for i in range(SERVERS))
    d = daemon(exporter(port, f"backend big\n{servers}"), extra="nbthread 4\n    tune.listener.multi-queue fair")
    d.port = port
    return d


def servers_in(found, name):
    return [dict(k)["server"] for k in found[name][1] if dict(k).get("state", "UP") == "UP"]


def test_all_servers_are_there_once(many):
    for _ in range(4):
        found = metrics(many.port, "?metrics=haproxy_server_status,haproxy_server_weight,haproxy_server_bytes_in_total")
        assert len(found) == 3
        for name in found:
            assert servers_in(found, name) == [f"s{i}" for i in range(SERVERS)]


def test_servers_come_and_go_while_they_are_listed(many):
    stop = threading.Event()

    def change():
        i = 0
        while not stop.is_set():
            many.admin(f"add server big/new{i} 127.0.0.1:1; enable server big/new{i}")
            many.admin(f"disable server big/new{i}; del server big/new{i}; set server big/s{i % 9} state drain")
            i += 1

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for _ in range(4):
            found = metrics(many.port, "?scope=server&scope=backend&metrics=haproxy_server_weight,"
                            "haproxy_server_status,haproxy_backend_agg_server_status")
            stay = [s for s in servers_in(found, "haproxy_server_weight") if s[0] == "s"]
            assert stay == [f"s{i}" for i in range(SERVERS)]
    finally:
        stop.set()
        changer.join()


@not_sanitized
def test_slow_clients_cost_a_slice_each(many):
    """Clients that read nothing, of 13 MB each; others are served meanwhile."""
    before = rss_kib(many.pid)
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.connect(("127.0.0.1", many.port))
            stack.enter_context(s)
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        many.until("idle")
        assert rss_kib(many.pid) - before < 8 << 10
        assert len(metrics(many.port, "?metrics=haproxy_server_weight")["haproxy_server_weight"][1]) == SERVERS
    many.until("sessions eq 0")


def test_a_scrape_holds_no_worker(many):
    """No turn generates more than one of 12 MB of metrics: between them others have their turns."""
    before = int(many.info()["Loop_turns"])
    status, _, body = get(many.port, "/metrics?scope=server")
    turns = int(many.info()["Loop_turns"]) - before
    assert status == 200 and len(body) > 10 << 20 and turns > len(body) >> 20, (len(body), turns)


def test_clients_that_leave_in_the_middle(many):
    for i in range(60):
        with connect(many.port) as s:
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            if i % 3:
                s.recv(100 * i)
    many.until("sessions eq 0")
    assert many.info()["Fsm_bugs"] == "0"
