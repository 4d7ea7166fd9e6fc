"""tacit(8) says of each command of both sockets what it answers: each is given, and its answer has the form of its entry."""

import base64
import re
import signal
import subprocess
from types import SimpleNamespace

import pytest
from certs import Authority
from conftest import admin, connect, free_ports, recv_all
from subject import TACIT, only_tacit

pytestmark = only_tacit

CONFIG = """\
cache c1
    total-max-size 4
    max-age 60
ring r1
    size 32768
resolvers dns
    nameserver n 127.0.0.1:{silent}
peers cluster
    bind 127.0.0.1:{peer}
    server here
    server there 127.0.0.1:4
    table t type ip size 100 store gpc0
frontend f
    mode http
    bind 127.0.0.1:{web}
    bind 127.0.0.1:{tls} ssl crt-list {dir}/list ca-file {dir}/ca.pem crl-file {dir}/crl.pem verify optional tls-ticket-keys {dir}/keys
    stick-table type ip size 1k expire 1h store http_req_rate(10s)
    acl ours src -f {dir}/acl
    http-request track-sc0 src if ours
    http-request set-header X %[src,map({dir}/map)]
    http-request use-service prometheus-exporter if {{ path /metrics }}
    http-request cache-use c1
    http-response cache-store c1
    default_backend b
backend b
    mode http
    cookie S insert dynamic
    dynamic-cookie-key k
    server s1 127.0.0.1:1
    server s2 127.0.0.1:2
"""

# Each command of the admin socket. A second element is the payload.
ASKED = [
    "add acl {dir}/acl 192.0.2.1", "get acl {dir}/acl 192.0.2.1", "get acl {dir}/acl 192.0.2.2", "show acl", "show acl {dir}/acl",
    "prepare acl {dir}/acl", "commit acl @1 {dir}/acl", "del acl {dir}/acl 127.0.0.1", "clear acl {dir}/acl",
    "add map {dir}/map 192.0.2.1 x", "get map {dir}/map 192.0.2.1", "get map {dir}/map 192.0.2.2", "show map", "show map {dir}/map",
    "set map {dir}/map 192.0.2.1 y", "prepare map {dir}/map", "commit map @1 {dir}/map", "del map {dir}/map 192.0.2.9",
    "clear map {dir}/map",
    "add server b/s3 127.0.0.1:9", "del server b/s3", "disable server b/s1", "enable server b/s1",
    "disable agent b/s1", "enable agent b/s4", "disable health b/s1", "enable health b/s4",
    "disable dynamic-cookie backend b", "enable dynamic-cookie backend b", "set dynamic-cookie-key backend b x",
    "unpublish backend b", "publish backend b", "disable frontend f", "enable frontend f", "set maxconn frontend f 100",
    "set maxconn global 90", "set maxconn server b/s1 3",
    "get weight b/s1", "set weight b/s1 50%", "set server b/s1 state drain", "set server b/s1 addr 127.0.0.2",
    "set rate-limit connections global 9", "set timeout cli 10s", "set severity-output none", "set profiling tasks on",
    "experimental-mode", "experimental-mode on", "expert-mode", "expert-mode on", "experimental-mode on; set var proc.x int(3)",
    "get var proc.x", "get var proc.y", "echo a b", "operator", "user", "prompt", "quit", "help", "wait 1ms",
    "wait 1s server b/s1 cur eq 0", "wait 1ms server b/s1 cur eq 5", "trace error", "clear counters", "clear counters all",
    "clear syscalls", "clear cache c1", "set table f key 192.0.2.1 data.http_req_rate 3", "show table", "show table f",
    "clear table f", "expert-mode on; debug dev delay 1", "expert-mode on; debug dev loop 1", "expert-mode on; debug dev log x",
    "show activity", "show backend", "show cache", "show cli level", "show cli sockets", "show env", "show errors", "show events",
    "show events r1", "show fd", "show health", "show info", "show info typed", "show latency", "show libs", "show peers",
    "show pools", "show profiling", "show resolvers", "show schema json", "show servers conn", "show servers state", "show sess",
    "show startup-logs", "show stat", "show stats", "show syscalls", "show tasks", "show threads", "show trace", "show version",
    "show ssl ca-file", "show ssl cert", "show ssl cert {dir}/site.pem", "show ssl crl-file", "show ssl crt-list",
    "show ssl crt-list -n {dir}/list", "show ssl ocsp-response", "show ssl ocsp-updates", "show ssl providers", "show tls-keys",
    "show tls-keys *", "set ssl tls-key #0 {key}", "set ssl ocsp-response {ocsp}", "update ssl ocsp-response {dir}/site.pem",
    ("set ssl cert {dir}/site.pem", "site.pem"), "abort ssl cert {dir}/site.pem", "abort ssl cert {dir}/site.pem",
    ("set ssl cert {dir}/site.pem", "site.pem"), "commit ssl cert {dir}/site.pem",
    "new ssl cert n", ("set ssl cert n", "site.pem"), "commit ssl cert n", "add ssl crt-list {dir}/list n",
    "del ssl crt-list {dir}/list n", "del ssl cert n",
    "new ssl ca-file n", ("set ssl ca-file n", "ca.pem"), "abort ssl ca-file n", ("set ssl ca-file n", "ca.pem"),
    ("add ssl ca-file n", "ca.pem"), "commit ssl ca-file n", "del ssl ca-file n",
    "new ssl crl-file n", ("set ssl crl-file n", "crl.pem"), "abort ssl crl-file n", ("set ssl crl-file n", "crl.pem"),
    "commit ssl crl-file n", "del ssl crl-file n",
    "shutdown session 0x1", "shutdown sessions server b/s1", "shutdown frontend f",
]
# Other tests do these: they pass descriptors, or end the process.
NOT_ASKED = {"_getsocks", "debug dev exit", "debug dev panic"}

# Each command of the master's socket.
ASKED_OF_MASTER = [
    "@master show version", "@1 show version", "@!{worker} show version", "echo a b", "expert-mode on", "experimental-mode on",
    "operator", "set severity-output none", "show cli level", "show cli sockets", "show env", "show proc", "show startup-logs",
    "show version", "user", "help", "prompt", "quit", "reload", "hard-reload",
]


@pytest.fixture(scope="module")
def entries():
    """Heading -> name of the command -> what tacit(8) says of its answer."""
    text = subprocess.run([TACIT, "-dK", "man8"], capture_output=True, text=True, timeout=60, check=True).stdout
    found = {}
    for section in re.split(r"(?m)^\.SH ", text)[1:]:
        title = section.split("\n", 1)[0].strip('"')
        for part in section.split("\n.TP\n")[1:]:
            name = re.match(r"\\fB(.*?)\\fR", part)[1].replace("\\-", "-")
            answer = re.search(r"(?m)^Answer: (.*)", part)
            found.setdefault(title, {})[name] = answer[1].replace("\\-", "-").replace("\\&", "") if answer else ""
    return found


def commands_of(text):
    """The words of each command in an answer to `help`."""
    lines = re.findall(r"(?m)^  (\S.*?) *: ", text)
    return {re.split(r" @?[\[<{]", line)[0] for line in lines}


def phrases(answer):
    """Patterns of what an entry quotes of an answer: <x> is any text, [...] may be missing."""
    for quoted in re.findall(r'"(.*?)"(?=[\s,.;:)]|$)', answer):
        pattern = re.sub(r"<[^<>]*>", "\0", quoted)
        pattern = re.sub(r"\\\[.*?\\\]", "\1", re.escape(pattern).replace("\\\0", "\0"))
        yield re.compile(pattern.replace("\0", ".+?").replace("\1", "(.*)"))


def is_as_said(answer, said):
    """True if an answer without its last empty line is one that the entry describes."""
    if not answer.strip():
        return bool(re.search(r"^None|[Aa]n empty line", said))
    # without a quotation only that there is something to be read
    quoted = list(phrases(said))
    return any(p.search(answer) for p in quoted) or not quoted and not said.startswith(("None", "An empty line"))


def judge(asked, entry_of, ask, said):
    """The commands whose answer is another one than their entries say; the entries that were asked for."""
    wrong, seen = [], set()
    for command in asked:
        name = entry_of(command)
        seen.add(name)
        answer = ask(command)
        if not is_as_said(answer, said[name]):
            wrong.append(f"{command!r} -> {answer[:300]!r}; {name}: {said[name]}")
    return wrong, seen


@pytest.fixture
def site(tmp_path, daemon):
    ca = Authority(tmp_path)
    ca.make("site.pem", "site.example", ["site.example"], responder="http://127.0.0.1:1/")
    (tmp_path / "crl.pem").write_bytes(ca.crl().read_bytes())
    (tmp_path / "site.pem.issuer").write_bytes(ca.pem.read_bytes())
    (tmp_path / "site.pem.ocsp").write_bytes(ca.ocsp(tmp_path / "site.pem"))
    keys = [base64.b64encode(bytes([i]) * 48).decode() for i in range(3)]
    for name, text in {"list": f"{tmp_path}/site.pem [ocsp-update on] site.example\n", "keys": "\n".join(keys) + "\n",
                       "acl": "127.0.0.1\n", "map": "127.0.0.1 x\n"}.items():
        (tmp_path / name).write_text(text)
    web, tls, silent, peer = free_ports(4)
    cfg = CONFIG.format(web=web, tls=tls, silent=silent, peer=peer, dir=tmp_path)
    cfg += f"    server s4 127.0.0.1:3 check agent-check agent-port {silent}\n"
    return SimpleNamespace(cfg=cfg, web=web, dir=tmp_path, key=keys[0],
                           ocsp=base64.b64encode((tmp_path / "site.pem.ocsp").read_bytes()).decode())


def test_each_command_answers_as_its_entry_says(site, daemon, entries):
    d = daemon(site.cfg, "-L", "here", extra="nbthread 1")
    with connect(site.web) as bad:
        bad.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nb\x01d\r\n\r\n")
        recv_all(bad)
    said = entries["COMMANDS"]
    idle = connect(site.web)
    idle.sendall(b"GET / HT")
    d.until("sessions state/READ ge 1")

    def words(command):
        return command if isinstance(command, str) else command[0]

    def entry_of(command):
        command = words(command).split("; ")[-1]
        return max((n for n in said if (command + " ").startswith(n + " ")), key=len)

    def ask(command):
        line = words(command).format(dir=site.dir, key=site.key, ocsp=site.ocsp)
        if not isinstance(command, str):
            line += f" <<\n{(site.dir / command[1]).read_text()}\n"
        return d.admin(line)

    wrong, seen = judge(ASKED, entry_of, ask, said)
    idle.close()
    assert not wrong, "\n".join(wrong)
    listed = commands_of(d.admin("expert-mode on; experimental-mode on; help"))
    assert listed - set(said) == set()
    assert set(said) - seen == NOT_ASKED


def test_each_command_of_the_master_answers_as_its_entry_says(site, daemon, entries):
    path = site.dir / "master.sock"
    d = daemon(site.cfg, "-L", "here", "-S", path, mode=("-W", "-db"))
    said = entries.get("COMMANDS OF THE MASTER", {})
    worker = re.search(r"(?m)^(\d+) +worker ", admin(path, "show proc"))[1]

    def entry_of(command):
        if command.startswith("@"):
            return {"@m": "@master", "@!": "@!<pid>", "@1": "@<relative pid>"}[command[:2]]
        return max((n for n in said if (command + " ").startswith(n + " ")), key=len)

    listed = commands_of(admin(path, "help"))
    listed = {re.sub(r" \[.*| <.*", "", n) if not n.startswith("@") else n for n in listed} | {"@!<pid>", "@<relative pid>"}
    assert listed - {"@!<pid", "@<relative"} - set(said) == set()
    wrong, seen = judge(ASKED_OF_MASTER, entry_of, lambda c: admin(path, c.format(worker=worker)), said)
    assert not wrong, "\n".join(wrong)
    assert set(said) == seen
    assert d.stop(signal.SIGTERM) == 0
