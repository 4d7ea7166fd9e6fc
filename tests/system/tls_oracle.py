"""HAProxy and tacit with the same configuration about TLS, and clients that see what both do."""

import contextlib
import hashlib
import re
import socket
import ssl
import subprocess

import oracle
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from conftest import WAIT, admin, answers, free_ports, wait_for

DEFAULTS = """defaults
 mode http
 timeout client 1m
 timeout connect 1m
 timeout server 1m
"""


class Ports(list):
    """The ports of one running program, and its stats socket."""

    sock = None

    def barrier(self):
        """Returns when the program, which has one thread, has dealt with all that clients have done so far: what it logs of
        that was sent. The second answer takes a turn of its loop that began after the first one."""
        for _ in range(2):
            admin(self.sock, "show version")


# Exit codes after SIGTERM.
ENDED = (0, -15, 143)


@contextlib.contextmanager
def started(program, tmp_path, text, ports=1, extra=""):
    """The program with this configuration, in which {p[0]}, {p[1]} ... are ports; they are passed on."""
    oracle.given(text + extra)
    p = Ports(free_ports(ports))
    cfg = tmp_path / f"{program.rsplit('/', 1)[-1]}.cfg"
    sock = p.sock = tmp_path / f"{program.rsplit('/', 1)[-1]}.sock"
    sock.unlink(missing_ok=True)
    cfg.write_text(f"global\n nbthread 1\n stats socket {sock} level admin\n {extra}\n{DEFAULTS}" + text.format(p=p))
    with open(f"{cfg}.err", "w+", encoding="utf-8") as err, subprocess.Popen(
            [program, "-db", "-f", cfg], stdout=subprocess.DEVNULL, stderr=err) as proc:
        try:
            assert wait_for(lambda: answers(sock) or proc.poll() is not None, 3 * WAIT) and proc.poll() is None, \
                (program, open(err.name, encoding="utf-8").read())
            yield p
            assert proc.poll() is None, (program, "has died", open(err.name, encoding="utf-8").read())
        finally:
            proc.terminate()
        assert proc.wait(6 * WAIT) in ENDED, (program, "has not ended well", open(err.name, encoding="utf-8").read())


def in_both(tmp_path, text, probe, ports=1, extra="", name=""):
    """The results of probe(ports) with tacit, and with HAProxy."""
    def play(program):
        with started(program, tmp_path, text, ports, extra) as p:
            return probe(p)

    theirs, ours = oracle.both(play, name=name)
    return ours, theirs


def client(ca=None, crt=None, low=None, high=None, alpn=None, ciphers=None, curve=None):
    """A client's context; without ca it trusts everyone."""
    c = ssl.create_default_context(cafile=str(ca.pem)) if ca else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname = False
    c.verify_mode = ssl.CERT_REQUIRED if ca else ssl.CERT_NONE
    if crt:
        c.load_cert_chain(crt)
    if low:
        c.minimum_version = getattr(ssl.TLSVersion, low)
    if high:
        c.maximum_version = getattr(ssl.TLSVersion, high)
    if alpn:
        c.set_alpn_protocols(alpn)
    if ciphers:
        c.set_ciphers(ciphers)
    if curve:
        c.set_ecdh_curve(curve)
    return c


def reason(e):
    """An error of a connection in one word: a FIN, a RST, or OpenSSL's reason."""
    if isinstance(e, ssl.SSLError) and e.reason:
        return e.reason
    return type(e).__name__


def ask(port, c, name=None, path="/", session=None):
    """A request over TLS: (what was agreed, the response), or (what failed, "")."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as raw, \
                c.wrap_socket(raw, server_hostname=name, session=session) as s:
            met = (s.version(), s.cipher()[0], s.selected_alpn_protocol(), common_name(s))
            s.sendall(f"GET {path} HTTP/1.0\r\nHost: h\r\n\r\n".encode())
            got = b""
            while True:
                part = s.recv(65536)
                if not part:
                    break
                got += part
            ask.session = s.session
            return met, got.decode()
    except OSError as e:
        return reason(e), ""


def common_name(s):
    """CN of the certificate that the server has shown; None: it was not verified."""
    return next((x[0][1] for x in s.getpeercert().get("subject", ()) if x[0][0] == "commonName"), None)


def counters(sock, *columns):
    """The columns of show stat that are not 0, in a line for each row."""
    head, *rows = admin(sock, "show stat").strip().split("\n")
    names = head[2:].split(",")
    return [" ".join([*row.split(",")[:2], *(f"{n}={v}" for n, v in zip(names, row.split(",")) if n in columns and v not in ("", "0"))])
            for row in rows]


def nameless(text, pems):
    """The text of a fetch, with names for what differs in each certificate that is made: of those of the files, and for dates."""
    for pem in pems:
        cert = x509.load_pem_x509_certificate(pem.read_bytes())
        der = cert.public_bytes(Encoding.DER)
        text = text.replace(der.hex().upper(), f"DER of {pem.stem}")
        text = text.replace(hashlib.sha1(der).hexdigest().upper(), f"SHA1 of {pem.stem}")
        text = re.sub(rf"^0?{cert.serial_number:X}$", f"serial of {pem.stem}", text)
    return re.sub(r"^\d{12}Z$", "TIME", text)


def body(text):
    return text.partition("\r\n\r\n")[2]
