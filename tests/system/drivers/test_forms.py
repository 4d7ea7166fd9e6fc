"""Programs that do not run here: the configurations that they write and the commands that they send, after their documentation
(forms/NAME.cfg and NAME.commands). Only a global maxconn is lowered: a test has few descriptors.

In a list of commands "> x" sends x to the socket, "get PORT HOST [PATH]" asks a port, "gets" over TLS, and "until x" waits for x with the
command `wait`; the rows below are about its answer: "~ x" matches one of its lines, "! x" matches none, "= x" is all of it. A command without
rows answers with nothing; "\\n" in it is a line break, before a payload."""

import http.client
import re
import shlex
import ssl
import threading

import pytest
from programs import HERE
from certs import Authority
from conftest import WAIT, dumpable, free_ports
from facts import gone, only_child
from subject import only_tacit

pytestmark = only_tacit
FORMS = sorted(path.stem for path in (HERE / "forms").glob("*.cfg"))
MAPS = {"redirect.map": "", "passthrough.map": "", "tcp.map": "", "http.map": "", "host.map": "", "path.map": "", "state": "",
        "503.http": "HTTP/1.0 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"}


def answer(conn):
    if conn.recv(65536):
        conn.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\none")


def apiserver(pem):
    """An API of Kubernetes: the same over TLS; any of its paths is answered with 200, as /healthz and /readyz of one that serves."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pem)

    def serve(conn):
        with tls.wrap_socket(conn, server_side=True) as inside:
            answer(inside)

    return serve


def get(port, host, path="/"):
    return ask(http.client.HTTPConnection("127.0.0.1", int(port), timeout=WAIT), host, path)


def gets(port, host, path="/"):
    """The same over TLS, with a certificate of any name."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    return ask(http.client.HTTPSConnection("127.0.0.1", int(port), timeout=WAIT, context=tls), host, path)


def ask(c, host, path):
    c.request("GET", path, headers={"Host": host})
    response = c.getresponse()
    text = f"{response.status} {response.read().decode()}"
    c.close()
    return text


def check(command, rows, text):
    lines = text.strip("\n").split("\n")
    if not rows:
        assert text.strip() == "", f"{command}: {text}"
    for kind, wanted in rows:
        found = [line for line in lines if re.search(wanted, line)] if kind != "=" else text.strip() == wanted
        assert bool(found) == (kind != "!"), f"{command}: {kind} {wanted}\n{text}"


def result(d, command):
    """The answer to a command; nothing when what it waits for is there."""
    word, rest = command.split(" ", 1)
    if word == ">":
        return d.admin(rest.replace("\\n", "\n"))
    if word == "until":
        return d.until(rest) or ""
    return {"get": get, "gets": gets}[word](*rest.split())


def fill(line, words):
    """The line with the values of the words in braces that it has; a pattern has other braces."""
    return re.sub(r"\{(\w+)\}", lambda found: str(words[found[1]]), line)


@pytest.fixture
def words(origins, tmp_path):
    """Values of the braces in the files."""
    ca = Authority(tmp_path / "ca")
    pem = ca.make("one.pem", "www.example.org")
    for name, text in MAPS.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "list").write_text(f"{pem}\n")
    (tmp_path / "ca.pem").write_text(ca.pem.read_text())
    ports = free_ports(4)
    return {"dir": tmp_path, "sock": tmp_path / "d0" / "stats.sock", "pem": pem, "ca": ca.pem, "origin": origins(answer).port,
            "api": origins(apiserver(pem)).port,
            **{f"port{n + 1}": port for n, port in enumerate(ports)}}


@pytest.mark.parametrize("form", FORMS)
def test_form(form, daemon, words):
    text = (HERE / "forms" / f"{form}.cfg").read_text()
    args = re.findall(r"\bargs: (.*)", text.split("\nglobal\n")[0])
    # A check of _dynamic-pod-1 that begins between "state ready" and "state maint" has a descriptor until it ends.
    checked = form != "openshift-router"
    d = daemon(dumpable(text.format(**words)), *shlex.split(args[0] if args else ""), raw=True, checked=checked)
    assert "ALERT" not in d.stderr
    command, rows = None, []
    for line in [*(HERE / "forms" / f"{form}.commands").read_text().splitlines(), "> show version"]:
        if line[0] in "~!=":
            rows.append((line[0], fill(line[2:], words)))
            continue
        if command:
            check(command, rows, result(d, command))
        command, rows = fill(line, words), []


def test_a_line_of_many_commands(daemon, words):
    """The Data Plane API joins the commands of a backend's servers into lines of at most 16 kB."""
    d = daemon(dumpable((HERE / "forms" / "data-plane-api.cfg").read_text().format(**words)), raw=True)
    commands = [f"set server app/slot_{1 + n % 2} addr 127.0.0.1 port {1000 + n}" for n in range(340)]
    line = ";".join(commands)
    assert 15000 < len(line) < 16384
    assert d.admin(line).count("port changed from") == len(commands)
    assert {row.split()[18] for row in d.admin("show servers state app").split("\n") if "slot_" in row} == {"1338", "1339"}


def test_openshift_replaces_the_balancer_of_the_api(daemon, words, tmp_path):
    """Starts another master with -x, and -sf with all processes that run: three times, under load."""
    text = dumpable((HERE / "forms" / "openshift-api.cfg").read_text().format(**{**words, "sock": tmp_path / "h.sock"}))
    args = ("-p", tmp_path / "pid", "-W", "-db")
    seen, ends = [], threading.Event()

    def load():
        while not ends.is_set() and len(seen) < 100_000:
            try:
                seen.append(gets(words["port1"], "any"))
            except (OSError, http.client.HTTPException) as e:
                seen.append(repr(e))

    running = [daemon(text, *args, raw=True, checked=False, mode=())]
    old = [running[0].pid, only_child(running[0].pid)]
    client = threading.Thread(target=load)
    client.start()
    for _ in range(3):
        running.append(daemon(text, *args, "-x", tmp_path / "h.sock", "-sf", *old, raw=True, checked=False, mode=()))
        old += [running[-1].pid, only_child(running[-1].pid)]
    gone(*old[:-2])
    ends.set()
    client.join()
    assert set(seen) == {"200 one"} and all(d.wait() in (0, 143, -15) for d in running[:-1])
    assert running[-1].stop() in (0, 143, -15)
