"""TLS sessions that clients resume: on all workers, over reloads, with keys of files, and where they must not be."""

import base64
import os
import re
import signal
import socket
import ssl
import subprocess
from pathlib import Path

import pytest

from certs import Authority
from conftest import BUILD, WAIT, free_ports, run
from facts import only_child
from test_master import MASTER, reload, worker_of

CFG = """
defaults
    mode http
    timeout client 1m
    timeout server 1m
    timeout connect 1m
frontend f
    bind 127.0.0.1:{port} ssl crt {pem} {options}
    http-request return status 200 content-type text/plain lf-string "%[ssl_fc_is_resumed] %[ssl_c_used] %[ssl_fc_sni]"
"""
VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
FAIR = "nbthread 4\n    tune.listener.multi-queue fair"


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


@pytest.fixture(scope="module")
def pem(ca):
    return ca.make("a.pem", "a.test", ["a.test"])


class Client:
    """One that keeps its first session and offers it ever after, or each time the session of the connection before."""

    def __init__(self, version, cert=None, latest=False):
        self.latest = latest
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.check_hostname = False
        self.context.verify_mode = ssl.CERT_NONE
        self.context.minimum_version = self.context.maximum_version = VERSIONS[version]
        if cert:
            self.context.load_cert_chain(cert)
        self.session = None

    def ask(self, port, name="a.test"):
        """True if the session was resumed; both sides say the same, and the server knows the name."""
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as raw, \
             self.context.wrap_socket(raw, server_hostname=name, session=self.session) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            got = b"".join(iter(lambda: s.recv(4096), b""))
            assert got.startswith(b"HTTP/1.1 200 "), got
            resumed, _, asked = got.split(b"\r\n\r\n")[1].decode().split(" ")
            assert (resumed, asked) == ("1" if s.session_reused else "0", name or "")
            self.session = s.session if self.latest else self.session or s.session
            return s.session_reused


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("options", ["", "no-tls-tickets"])
def test_all_workers_resume(daemon, pem, version, options):
    """All 40 connections to 4 workers that take them in turn; with ids the table is looked into each time."""
    (port,) = free_ports(1)
    d = daemon(CFG.format(port=port, pem=pem, options=options), extra=FAIR)
    c = Client(version)
    assert [c.ask(port) for _ in range(41)] == [False] + [True] * 40
    assert (d.info()["SslCacheLookups"], d.info()["SslCacheMisses"]) == ("40" if options else "0", "0")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("options", ["", "no-tls-tickets", "tls-ticket-keys"])
def test_tickets_that_are_used_once(daemon, pem, version, options, tmp_path):
    """As browsers do it (RFC 8446, C.4): each connection brings the ticket of the next one."""
    (port,) = free_ports(1)
    if options == "tls-ticket-keys":
        options += f" {write_keys(tmp_path / 'keys', [key() for _ in range(3)])}"
    daemon(CFG.format(port=port, pem=pem, options=options))
    c, ids = Client(version, latest=True), set()
    for resumes in [False] + [True] * 8:
        assert c.ask(port) == resumes
        ids.add(c.session.id)
    # The id of TLS 1.3 is a digest of the ticket. In TLS 1.2 a ticket is used until its key is an old one.
    assert len(ids) == (9 if version == "1.3" else 1)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("options", ["", "no-tls-tickets"])
def test_names_have_sessions_of_their_own(daemon, ca, version, options):
    """A session is resumed for the name that it was made for, or for none (RFC 6066, 3): on all workers, after a reload, though
    all names have one certificate and one line."""
    pem = ca.make("names.pem", "a.test", ["a.test", "b.test", "aa.test"])
    (port,) = free_ports(1)
    d = daemon(CFG.format(port=port, pem=pem, options=options), mode=MASTER, extra=FAIR)
    for name, others in (("a.test", ["b.test", None, "aa.test", "A.test", "a.tes", "unknown.test"]), (None, ["a.test", "unknown.test"]),
                         ("unknown.test", [None, "a.test"])):
        c = Client(version)
        assert not c.ask(port, name)
        for kept in range(2):
            assert [(other, c.ask(port, other)) for other in others * 4] == [(other, False) for other in others * 4]
            if not (kept and options):
                assert [c.ask(port, name) for _ in range(8)] == [True] * 8
            assert kept or reload(d)


@pytest.mark.parametrize("version", VERSIONS)
def test_session_with_another_name_is_replaced(daemon, ca, version):
    """The whole handshake brings a session of the new name."""
    pem = ca.make("two.pem", "a.test", ["a.test", "b.test"])
    (port,) = free_ports(1)
    daemon(CFG.format(port=port, pem=pem, options=""))
    c = Client(version, latest=True)
    assert [c.ask(port, name) for name in ("a.test", "b.test", "b.test", "a.test", "a.test")] == [False, False, True, False, True]


def test_no_session_is_kept(daemon, pem):
    """Without tickets and table."""
    (port,) = free_ports(1)
    daemon(CFG.format(port=port, pem=pem, options="no-tls-tickets"), extra=FAIR + "\n    tune.ssl.cachesize 0")
    c = Client("1.2")
    assert not any(c.ask(port) for _ in range(10))


def test_old_sessions_leave_the_table(daemon, pem):
    """The latest 64 of 200 clients may stay, by parts of one."""
    (port,) = free_ports(1)
    d = daemon(CFG.format(port=port, pem=pem, options="no-tls-tickets"), extra=FAIR + "\n    tune.ssl.cachesize 64")
    clients = [Client("1.2") for _ in range(200)]
    assert not any(c.ask(port) for c in clients)
    resumed = sum(c.ask(port) for c in reversed(clients))
    assert 20 < resumed <= 64
    assert (int(d.info()["SslCacheLookups"]), int(d.info()["SslCacheMisses"])) == (200, 200 - resumed)


@pytest.mark.parametrize("version", VERSIONS)
def test_over_reloads(daemon, pem, version):
    """One session over three reloads, and one that a previous process makes while it drains."""
    (port,) = free_ports(1)
    d = daemon(CFG.format(port=port, pem=pem, options=""), mode=MASTER, extra=FAIR)
    c, late = Client(version), Client(version)
    assert not c.ask(port)
    for _ in range(3):
        assert reload(d)
        assert [c.ask(port) for _ in range(20)] == [True] * 20
    assert not late.ask(port)
    killed = worker_of(d)
    os.kill(killed, signal.SIGKILL)
    only_child(d.pid, besides=[killed])
    assert [late.ask(port) for _ in range(20)] == [True] * 20


def test_openssl_resumes_over_a_reload(daemon, pem, tmp_path):
    """As test_over_reloads, by s_client -sess_out and -sess_in."""
    (port,) = free_ports(1)
    d = daemon(CFG.format(port=port, pem=pem, options=""), mode=MASTER, extra=FAIR)

    def ask(version, *args):
        done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", version, "-ign_eof", *args],
                              input=b"GET / HTTP/1.0\r\n\r\n", capture_output=True, timeout=WAIT, check=False)
        assert b"HTTP/1.1 200" in done.stdout
        return re.search(rb"^(New|Reused), TLS", done.stdout, re.M).group(1)

    for version in ("-tls1_2", "-tls1_3"):
        kept = tmp_path / version
        assert ask(version, "-sess_out", kept) == b"New"
        assert reload(d)
        assert [ask(version, "-sess_in", kept) for _ in range(4)] == [b"Reused"] * 4


def test_not_kept(daemon, pem):
    (port,) = free_ports(1)
    d = daemon(CFG.format(port=port, pem=pem, options=""), mode=MASTER, extra="tune.reload.keep counters maps")
    c = Client("1.3")
    assert [c.ask(port), c.ask(port)] == [False, True]
    assert reload(d)
    assert not c.ask(port)


@pytest.mark.parametrize("version", VERSIONS)
def test_verification_counts(daemon, ca, pem, version, tmp_path):
    """A session ends with a change of what clients are verified with, though the keys of tickets are kept."""
    (port,) = free_ports(1)
    other = Authority(tmp_path / "other", "other CA")
    both = tmp_path / "both.pem"
    both.write_text(ca.pem.read_text() + other.pem.read_text())
    d = daemon(CFG.format(port=port, pem=pem, options=f"verify optional ca-file {both}"), mode=MASTER)
    c = Client(version, other.make("c.pem", "client"))
    assert [c.ask(port), c.ask(port)] == [False, True]
    assert reload(d)
    assert c.ask(port)
    both.write_text(ca.pem.read_text() + ca.pem.read_text())
    assert reload(d)
    c.context.load_cert_chain(ca.make("c.pem", "client"))
    assert not c.ask(port)


# --- tls-ticket-keys ---

def key(n=80):
    return base64.b64encode(os.urandom(n)).decode()


def write_keys(path, keys):
    path.write_text("".join(f"{k}\n" for k in keys))
    return path


@pytest.mark.parametrize("size", [48, 80])
@pytest.mark.parametrize("version", VERSIONS)
def test_keys_of_a_file(daemon, pem, version, size, tmp_path):
    """Two machines share a file. A session lives while its key is one of the last three: the penultimate encrypts."""
    keys = [key(size) for _ in range(3)]
    file = write_keys(tmp_path / "keys", keys)
    p, q = free_ports(2)
    daemon(CFG.format(port=q, pem=pem, options=f"tls-ticket-keys {file}"), extra=FAIR)
    d = daemon(CFG.format(port=p, pem=pem, options=f"tls-ticket-keys {file}"), mode=MASTER, extra=FAIR)
    c = Client(version)
    assert [c.ask(p), c.ask(p), c.ask(q), c.ask(p)] == [False, True, True, True]
    for expected in (True, False):
        keys.append(key(size))
        write_keys(file, keys)
        assert reload(d)
        assert c.ask(p) == expected
    assert c.ask(q)


def resumes(session, port, version):
    """openssl s_client: whether it resumes the session of a file, which then has the one that it got."""
    there = ["-sess_in", session] if session.exists() else []
    done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-sess_out", session, "-ign_eof",
                           f"-tls{version.replace('.', '_')}", *there],
                          input="GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", capture_output=True, text=True,
                          timeout=WAIT, check=False)
    found = re.search(r"^(New|Reused), TLS", done.stdout, re.M)
    assert found and session.exists(), done
    return found.group(1) == "Reused"


@pytest.mark.parametrize("version", VERSIONS)
def test_nodes_rotate_a_shared_file_at_run_time(daemon, pem, version, tmp_path):
    """Two nodes get the same file one after the other, without a reload: sessions go on with either, at each step."""
    keys = [key() for _ in range(3)]
    file = write_keys(tmp_path / "keys", keys)
    ports = free_ports(2)
    nodes = [daemon(CFG.format(port=p, pem=pem, options=f"tls-ticket-keys {file}"), extra=FAIR) for p in ports]
    session = tmp_path / "session"
    for _ in range(4):
        # s_client keeps the ticket of TLS 1.2 that it got first
        session.unlink(missing_ok=True)
        assert not resumes(session, ports[0], version)
        keys = keys[1:] + [key()]
        write_keys(file, keys)
        for node in nodes:
            assert [resumes(session, p, version) for p in (*ports, *ports)] == [True] * 4
            # The same keys a second time change nothing.
            for _ in range(2):
                assert node.admin(f"set ssl tls-key {file} <<\n{file.read_text()}") == "TLS ticket keys updated!\n\n"
    shown = "".join(f"0.{n} {k}\n" for n, k in enumerate(keys))
    assert all(node.admin("show tls-keys #0") == f"# id secret\n# 0 ({file})\n{shown}\n" for node in nodes)
    refused = nodes[0].admin(f"set ssl tls-key #0 <<\n{key()}\n{key()}\n{key(48)}\n")
    assert refused == "'set ssl tls-key' wrong key size on line 3.\n\n"
    assert resumes(session, ports[0], version)
    # a key that is in no file any more
    write_keys(file, [key() for _ in range(3)])
    assert nodes[1].admin(f"set ssl tls-key #0 <<\n{file.read_text()}") == "TLS ticket keys updated!\n\n"
    assert not resumes(session, ports[1], version)


def test_keys_at_run_time(daemon, pem, tmp_path):
    """set ssl tls-key is a rotation, for all workers."""
    keys = [key() for _ in range(4)]
    a, b = write_keys(tmp_path / "a", keys), write_keys(tmp_path / "b", [key(48) for _ in range(3)])
    p, q, r = free_ports(3)
    d = daemon(CFG.format(port=p, pem=pem, options=f"tls-ticket-keys {a}") +
               f"    bind 127.0.0.1:{q} ssl crt {pem} tls-ticket-keys {b}\n"
               f"    bind 127.0.0.1:{r} ssl crt {pem} tls-ticket-keys {a}\n", extra=FAIR)
    listing = f"# id (file)\n0 ({a})\n1 ({b})\n\n"
    assert d.admin("show tls-keys") == listing
    shown = f"# id secret\n# 0 ({a})\n0.0 {keys[1]}\n0.1 {keys[2]}\n0.2 {keys[3]}\n\n"
    assert d.admin("show tls-keys #0") == d.admin(f"show tls-keys {a}") == shown
    assert d.admin("show tls-keys *").count("\n") == 10
    c = Client("1.3")
    assert [c.ask(p), c.ask(p)] == [False, True]
    for expected in (True, False):
        assert d.admin(f"set ssl tls-key #0 {key()}") == "TLS ticket key updated!\n\n"
        assert [c.ask(p) for _ in range(8)] == [expected] * 8
    assert d.admin(f"set ssl tls-key {b} {key(80)}") == "'set ssl tls-key' received a key of wrong size.\n\n"
    assert d.admin("set ssl tls-key #0 abc") == "'set ssl tls-key' received invalid base64 encoded TLS key.\n\n"
    assert d.admin(f"set ssl tls-key #7 {key()}") == "'set ssl tls-key' unable to locate referenced filename\n\n"
    assert d.admin("operator;show tls-keys") == "\n" + listing
    for command in ("show tls-keys *", f"set ssl tls-key #0 {key()}"):
        assert "Permission denied" in d.admin(f"operator;{command}")


def test_errors_of_a_file(pem, tmp_path):
    """A fault is reported with the line of the file and that of the configuration."""
    cases = {"too few": ([key(), key()], "at least 3 keys"), "mixed": ([key(), key(), key(48)], "wrong key size on line 3"),
             "no key": (["x"], "unable to decode base64 key on line 1")}
    for name, (keys, text) in cases.items():
        file = write_keys(tmp_path / name.replace(" ", "_"), keys)
        cfg = tmp_path / "c.cfg"
        cfg.write_text(CFG.format(port=1, pem=pem, options=f"tls-ticket-keys {file}"))
        done = run("-c", "-f", cfg)
        assert done.returncode == 1
        assert text in done.stderr and "c.cfg:8" in done.stderr, done.stderr
        assert keys[0] == "x" or keys[0] not in done.stderr


def places_of(pid, what):
    """Mappings of a process with these bytes: [is it left out of cores]."""
    found, flags = [], {}
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            span = line.split()
        elif line.startswith("VmFlags:"):
            flags[tuple(int(x, 16) for x in span[0].split("-"))] = (span[1], line.split()[1:])
    with Path(f"/proc/{pid}/mem").open("rb", 0) as mem:
        for (start, end), (mode, bits) in flags.items():
            if "r" not in mode:
                continue
            try:
                mem.seek(start)
                data = mem.read(end - start)
            except (OSError, ValueError, OverflowError):
                continue
            found += ["dd" in bits] * data.count(what)
    return found


@pytest.mark.skipif(os.getuid() != 0, reason="needs root")
@pytest.mark.skipif(BUILD.name != "build", reason="sanitizers keep memory that was freed")
def test_keys_are_not_in_cores(daemon, pem, tmp_path):
    """Keys of a file, and those that a previous process has kept, lie only in memory that no core has."""
    keys = [key() for _ in range(3)]
    file = write_keys(tmp_path / "keys", keys)
    p, q = free_ports(2)
    d = daemon(CFG.format(port=p, pem=pem, options=f"tls-ticket-keys {file}") +
               f"    bind 127.0.0.1:{q} ssl crt {pem}\n", mode=MASTER, extra=FAIR)
    for _ in range(2):
        c = Client("1.3")
        assert [c.ask(p), c.ask(p)] == [False, True]
        for k in keys:
            raw = base64.b64decode(k)
            assert places_of(worker_of(d), raw) == [True]
            assert places_of(worker_of(d), raw[16:48]) == [True]
            assert not places_of(worker_of(d), k.encode())
            assert not places_of(d.pid, raw[16:48])
        # The random keys: a ticket begins with the name of its key.
        c = Client("1.2")
        assert [c.ask(q), c.ask(q)] == [False, True]
        name = bytes(c.session.ticket_lifetime_hint and session_ticket(q, tmp_path))[:16]
        places = places_of(worker_of(d), name)
        assert places.count(True) >= 2
        assert reload(d)


def session_ticket(port, tmp_path):
    """The ticket of a new session."""
    kept = tmp_path / "session"
    subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_2", "-sess_out", kept],
                   input=b"", capture_output=True, timeout=WAIT, check=False)
    text = subprocess.run(["openssl", "sess_id", "-in", kept, "-noout", "-text"], capture_output=True, text=True,
                          timeout=WAIT, check=True).stdout
    lines = text.split("TLS session ticket:\n")[1].split("\n\n")[0].splitlines()
    return bytes.fromhex("".join(re.sub(r"^\s*[0-9a-f]{4} - ", "", line)[:48].replace("-", " ") for line in lines))
