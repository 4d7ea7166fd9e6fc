"""Messages of -c about a haproxy.cfg: each cause once, with all its lines, and no consequential errors."""

import glob
import json
import os
import re
import subprocess

import pytest
from certs import Authority
from conftest import TACIT, WAIT

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = sorted(glob.glob(os.path.join(HERE, "configs", "*.cfg")))
ENTRY = re.compile(r"\[(ALERT|WARNING|NOTICE)\] +\(\d+\) : config : (?:parsing \[([^:\]]+):(\d+)(?::\d+)?\] : )?(.*)")
MORE = re.compile(r"   \| and (\d+) more lines?: (.*)")


def check(path):
    done = subprocess.run([TACIT, "-c", "-f", os.path.basename(path)], cwd=os.path.dirname(path), capture_output=True,
                          text=True, timeout=WAIT, check=False)
    entries = []
    for line in done.stderr.splitlines():
        found = ENTRY.fullmatch(line)
        more = MORE.fullmatch(line)
        if found:
            entries.append([found.group(1), found.group(4), [int(found.group(3))] if found.group(3) else []])
        elif more:
            entries[-1][2] += [int(n) for n in more.group(2).split(", ") if n != "..."]
    return done.returncode, entries


@pytest.mark.parametrize("path", FILES, ids=os.path.basename)
def test_each_cause_is_one_entry(path):
    code, entries = check(path)
    assert code == 1
    last = entries.pop()
    entries = [e for e in entries if not e[1].startswith("not supported here: ")]
    listed = [(e[0], e[1]) for e in entries]
    assert len(set(listed)) == len(listed)
    wrong = {n for e in entries if e[0] == "ALERT" for n in e[2]}
    noted = {n for e in entries if e[0] == "NOTICE" for n in e[2]}
    assert wrong and not wrong & noted
    errors, warnings = (sum(e[0] == kind for e in entries) for kind in ("ALERT", "WARNING"))
    assert last[1] == (f"Fatal errors found in configuration: {os.path.basename(path)}: "
                       f"{errors} error{'s' * (errors != 1)} ({len(wrong)} line{'s' * (len(wrong) != 1)}), "
                       f"{warnings} warning{'s' * (warnings != 1)}.")


def test_mistakes():
    _, entries = check(os.path.join(HERE, "configs", "mistakes.cfg"))
    assert {line for e in entries if e[0] == "ALERT" for line in e[2]} == \
        {3, 4, 10, 14, 19, 23, 24, 30, 31, 32, 33, 34, 38}
    assert not [e for e in entries if e[0] != "ALERT"]
    by_line = {}
    for _, text, lines in entries:
        for line in lines:
            by_line.setdefault(line, []).append(text)
    assert len(by_line[31]) == 5
    assert by_line[31][:2] == by_line[32] == by_line[33]


@pytest.mark.parametrize("path", FILES, ids=os.path.basename)
def test_json_has_the_same_messages(path):
    code, entries = check(path)
    done = subprocess.run([TACIT, "-cj", "-f", os.path.basename(path)], cwd=os.path.dirname(path), capture_output=True,
                          text=True, timeout=WAIT, check=False)
    found = json.loads(done.stdout)
    assert (done.returncode, done.stdout.count("\n"), found["valid"]) == (code, 1, False)
    severity = {"error": "ALERT", "warning": "WARNING", "notice": "NOTICE"}
    texts = [(severity[m["severity"]], m["text"].split("\n")[0]) for m in found["messages"]]
    entries = [e for e in entries if not e[1].startswith("not supported here: ")]
    assert texts == [(e[0], e[1]) for e in entries[:-1]]
    for m, e in zip(found["messages"], entries):
        lines = [p["line"] for p in m["places"]]
        assert lines[:len(e[2])] == e[2] or sorted(set(lines))[:len(e[2])] == sorted(set(e[2]))
        assert {p["file"] for p in m["places"]} <= {os.path.basename(path)}
    assert done.stderr == ""


def test_json_of_a_right_configuration(tmp_path):
    cfg = tmp_path / "a.cfg"
    cfg.write_text("listen l\n bind 127.0.0.1:80\n mode tcp\n timeout client 1s\n timeout connect 1s\n timeout server 1s\n"
                   " server s 127.0.0.1:81\n")
    done = subprocess.run([TACIT, "-cj", "-f", cfg], capture_output=True, text=True, timeout=WAIT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, '{"valid":true,"messages":[],"not_shown":0}\n', "")


def check_text(tmp_path, text, *options):
    cfg = tmp_path / "a.cfg"
    cfg.write_text(text)
    done = subprocess.run([TACIT, *options, "-c", "-f", "a.cfg"], cwd=tmp_path, capture_output=True, text=True, timeout=WAIT,
                          check=False)
    return done.returncode, done.stderr


TIMEOUTS = "defaults\n timeout client 1s\n timeout connect 1s\n timeout server 1s\n mode http\n"
MIGRATION = TIMEOUTS + """frontend f
 bind 127.0.0.1:80
 http-request deny if { path /x }
 filter opentracing id a config b
 filter opentracing id c config d
 http-request use-service lua.hello
 http-request lua.auth
 http-request set-header x %[lua.foo] if { src,lua.bar -m found }
 filter fcgi-app x
 filter otel id e config f
"""


def test_missing_features_are_summed_up_at_the_end(tmp_path):
    code, printed = check_text(tmp_path, MIGRATION)
    assert code == 1
    sums = [line for line in printed.splitlines() if "not supported here" in line]
    assert len(sums) == 1
    assert sums[0].endswith(": config : not supported here: Lua (3 lines: 11, 12, 13), FastCGI (14), "
                            "OpenTracing and OpenTelemetry (3 lines: 9, 10, 15)")
    tail = printed[printed.index("not supported here"):].splitlines()
    assert [line.split(":")[0] for line in tail[1:4]] == [f"   | instead of {f}" for f in
                                                          ("Lua", "FastCGI", "OpenTracing and OpenTelemetry")]
    assert tail[4].startswith("[ALERT]") and "Fatal errors found" in tail[4]
    assert "prometheus" not in printed and "unknown" not in printed


def test_json_has_the_missing_features(tmp_path):
    (tmp_path / "a.cfg").write_text(MIGRATION)
    done = subprocess.run([TACIT, "-cj", "-f", "a.cfg"], cwd=tmp_path, capture_output=True, text=True, timeout=WAIT,
                          check=False)
    missing = json.loads(done.stdout)["not_supported"]
    assert [m["feature"] for m in missing] == ["Lua", "FastCGI", "OpenTracing and OpenTelemetry"]
    assert [p["line"] for p in missing[0]["places"]] == [11, 12, 13]
    assert missing[0]["places"][0] == {"file": "a.cfg", "line": 11, "column": 27}
    assert all(m["instead"] for m in missing)


REMOVED = (("reqadd X-A:\\ b", "2.1: use 'http-request add-header'."), ("rspidel ^Server", "use 'http-response del-header'."),
           ("block if TRUE", "2.1: use 'http-request deny'."), ("appsession x len 3 timeout 3h", "1.6: use 'cookie'."),
           ("option forceclose", "2.0: remove it, or use 'option httpclose'."), ("option http-use-htx", "2.1: remove it."),
           ("redispatch", "use 'option redispatch'."), ("reqisetbe x y", "use 'use_backend'."))


@pytest.mark.parametrize("line,what", REMOVED)
def test_words_removed_long_ago(line, what, tmp_path):
    code, printed = check_text(tmp_path, TIMEOUTS + f"listen l\n bind 127.0.0.1:80\n {line}\n")
    assert code == 1
    assert " was removed in HAProxy " in printed and what in printed
    assert "not supported" not in printed


def test_backends_that_are_nearly_there(tmp_path):
    code, printed = check_text(tmp_path, TIMEOUTS + "frontend f\n bind 127.0.0.1:80\n use_backend apps if TRUE\n"
                     " default_backend zzzzz\nbackend app\n")
    assert code == 1
    assert "unable to find required use_backend: 'apps'; did you mean 'app'?\n" in printed
    assert "unable to find required default_backend: 'zzzzz'.\n" in printed


def test_many_proxies_have_one_warning(tmp_path):
    code, printed = check_text(tmp_path, "".join(f"listen l{i}\n bind 127.0.0.1:{8000 + i}\n mode tcp\n" for i in range(21)))
    assert code == 0
    assert printed.count("missing timeouts") == 1
    assert "   | and 20 more lines: 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34, 37, ...\n" in printed


# The column of the caret.
CARETS = (("frontend f\n bind 127.0.0.1:80\n mode tcp\n http-request deny\n", "9:15", "'http-request' rules ignored"),
          ("frontend f\n bind 127.0.0.1:80\n mode tcp\n option httplog\n", "9:2", "'option httplog' not usable"),
          ("frontend f\n bind 127.0.0.1:80\n mode tcp\n option tcplog\n", "9:2", "log format ignored"),
          ("frontend f\n bind 127.0.0.1:80\n capture cookie a len 200\n", "8:23", "truncating capture length"),
          ("backend b\n server s 127.0.0.1:80 ssl verify none proto fcgi ca-file @system-ca\n", "7:46", "'fcgi'"))


@pytest.mark.parametrize("text,place,what", CARETS)
def test_the_caret_is_under_what_is_wrong(text, place, what, tmp_path):
    _, printed = check_text(tmp_path, TIMEOUTS + text)
    assert re.search(rf"parsing \[a\.cfg:{place}\] : .*{what}", printed), printed


def test_tables_have_names_in_profiles(tmp_path):
    """Frontends share a profile: it means the table of none of them."""
    code, printed = check_text(tmp_path, "log-profile p\n on close format %[src_conn_cnt]\n" + TIMEOUTS +
                               "frontend f\n bind 127.0.0.1:80\n stick-table type ip size 10 store conn_cnt\n log stdout profile p user\n")
    assert code == 1
    assert "'on close format' does not fit frontend 'f' : 'src_conn_cnt': this section has no stick-table: name one" in printed


def test_diagnostics_name_proxies_without_servers(tmp_path):
    text = TIMEOUTS + "frontend f\n bind 127.0.0.1:80\nbackend b\nbackend full\n server s 127.0.0.1:80\n"
    assert "DIAG" not in check_text(tmp_path, text)[1]
    code, printed = check_text(tmp_path, text, "-dD")
    assert code == 0
    assert re.search(r"\[DIAG\].*a\.cfg:6:\d+\] : frontend 'f' has no backend", printed)
    assert re.search(r"\[DIAG\].*a\.cfg:8:\d+\] : backend 'b' has no server", printed)
    assert "'full'" not in printed


def test_the_option_c_takes_files(tmp_path):
    (tmp_path / "a.cfg").write_text(TIMEOUTS + "listen l\n bind 127.0.0.1:80\n server s 127.0.0.1:81\n")
    done = subprocess.run([TACIT, "-c", "a.cfg"], cwd=tmp_path, capture_output=True, text=True, timeout=WAIT, check=False)
    assert (done.returncode, done.stdout) == (0, "Configuration file is valid\n")
    done = subprocess.run([TACIT, "a.cfg"], cwd=tmp_path, capture_output=True, text=True, timeout=WAIT, check=False)
    assert done.returncode == 1 and "unexpected argument 'a.cfg'" in done.stderr


def test_lines_of_a_crt_list(tmp_path):
    """Their own column, and the list is no configuration file."""
    Authority(tmp_path / "ca").make("a.pem", "a", ["a"]).rename(tmp_path / "a.pem")
    (tmp_path / "list").write_text("# names\na.pem [allow-0rtt] a\n")
    text = TIMEOUTS + "frontend f\n bind 127.0.0.1:80 ssl crt-list list\n"
    code, printed = check_text(tmp_path, text)
    assert code == 0
    assert re.search(r"parsing \[list:2:\d+\] : 'allow-0rtt' has no effect", printed), printed
    code, printed = check_text(tmp_path, text + " bogus\n")
    assert code == 1
    assert "configuration: a.cfg: 1 error (1 line)" in printed


# Tunables of HAProxy 3 that files of its generators have: OPNsense, the Kubernetes controller of haproxytech, Ray.
NEWER = ("limited-quic", "no-quic", "noktls", "lua-prepend-path /usr/share/?.lua", "httpclient.resolvers.prefer ipv4",
         "tune.lua.bool-sample-conversion normal", "tune.h2.max-frame-size 16384", "tune.h2.zero-copy-fwd-send off",
         "tune.quic.frontend.max-idle-timeout 30s", "tune.disable-zero-copy-forwarding",
         "tune.idletimer 8", "tune.vars.txn-max-size 1024", "tune.ring.queues 3", "tune.glitches.kill.cpu-usage 50",
         "cpu-policy performance", "cpu-set drop-cpu 3", "warn-blocked-traffic-after 50ms", "stats-file /tmp/x",
         "tune.max-checks-per-thread 3", "tune.lua.openlibs none", "tune.lua.log.stderr auto", "thread-group 1 1-4")


@pytest.mark.parametrize("line", NEWER)
def test_what_tunes_nothing_here_is_a_notice(line, tmp_path):
    code, printed = check_text(tmp_path, f"global\n {line}\n" + TIMEOUTS + "listen l\n bind 127.0.0.1:80\n server s 127.0.0.1:81\n")
    assert code == 0
    assert re.search(rf"^\[NOTICE\] .*a\.cfg:2:2\] : '{line.split()[0]}' is accepted and has no effect: \w", printed, re.M), printed
    assert "WARNING" not in printed and "ALERT" not in printed


# A line that changes the meaning of traffic is no hint.
@pytest.mark.parametrize("line", ("lua-load /x.lua", "lua-load-per-thread /x.lua", "ssl-engine rdrand"))
def test_what_changes_traffic_is_an_error(line, tmp_path):
    code, printed = check_text(tmp_path, f"global\n {line}\n" + TIMEOUTS)
    assert code == 1
    assert f"keyword '{line.split()[0]}' is known but not supported" in printed
    assert ("Lua (2)" in printed) == line.startswith("lua")


# Words of HAProxy 3 that are not supported, each at its place: the message, or the list behind all messages, says what to
# use instead.
ABSENT = {"global": ("h1-do-not-close-on-insecure-transfer-encoding", "ssl-engine x", "wurfl-data-file x", "lua-load x"),
          "section": ("namespace_list", "log-forward x", "traces", "healthcheck x", "acme x", "fcgi-app x", "program x"),
          "line": ("timeout server-hs 5s", "mode log", "mode health", "hash-type consistent wt6", "option sql-check",
                   "http-request normalize-uri path-merge-slashes", "tcp-request content switch-mode http",
                   "http-request set-headers-bin a", "http-request ot-group a", "filter otel config x", "use-fcgi-app x",
                   'log-format "%[cpu_calls]"', 'log-format "%[lat_ns_avg]"', 'log-format "%[distcc_body(a)]"',
                   'log-format "%[51d.all(a)]"', 'log-format "%[str(a),wt6]"'),
          "bind": ("idle-ping 5s", "renegotiate", "ech x", "tcp-ss 5", "nbconn 5"),
          "server": ("log-bufsize 5", "namespace x", "namespace *", "idle-ping 5s", "pool-conn-name x", "check-reuse-pool", "ech x",
                     "renegotiate")}


@pytest.mark.parametrize("place, line", [(place, line) for place, lines in ABSENT.items() for line in lines])
def test_what_is_absent_says_what_to_use_instead(place, line, tmp_path):
    at = {p: f" {line}" if p == place else "" for p in ("bind", "server")}
    text = (f"global\n {line if place == 'global' else 'maxconn 9'}\n" + (f"{line}\n" if place == "section" else "") + TIMEOUTS +
            f"listen l\n bind 127.0.0.1:80{at['bind']}\n" + (f" {line}\n" if place == "line" else "") +
            f" server s 127.0.0.1:81{at['server']}\n")
    code, printed = check_text(tmp_path, text)
    assert code == 1
    message = re.search(r"not supported(.*)", printed)
    assert message and "unknown" not in printed, printed
    assert re.search(r"[(:;] ?['\w]", message[1]) or "instead of" in printed, printed


# Keywords of HAProxy 3.3 for connections of QUIC, and for CPUs.
@pytest.mark.parametrize("line", ("tune.quic.be.cc.max-win-size 480k", "tune.quic.fe.stream.max-total 5", "tune.quic.fe.tx.pacing on",
                                  "tune.quic.fe.sock-per-conn default-on", "tune.quic.frontend.max-tx-mem 1m",
                                  "cpu-affinity per-group loose", "tune.cli.max-payload-size 5"))
def test_what_is_newer_is_a_notice_too(line, tmp_path):
    test_what_tunes_nothing_here_is_a_notice(line, tmp_path)


def test_quic_addresses_name_what_to_do(tmp_path):
    code, printed = check_text(tmp_path, TIMEOUTS + "frontend f\n bind 127.0.0.1:80\n bind quic4@127.0.0.1:80 ssl crt x alpn h3\n")
    assert code == 1
    assert "a.cfg:8:7] : 'bind' : 'quic4@127.0.0.1:80' : 'quic' is not supported: remove this line" in printed
    assert "not supported here: QUIC and HTTP/3 (8)" in printed
