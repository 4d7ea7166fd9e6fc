"""Health checks through a SOCKS4 proxy: what HAProxy and tacit send to it and to the server behind it, and what they say
of the server. Sessions are compared by tests/vtc/socks4.vtc."""

import concurrent.futures
import re
import socket
import struct
import threading

import facts
import oracle
from conftest import WAIT
from oracle import Subject

YES, NO = b"\0\x5a\0\0\0\0\0\0", b"\0\x5b\0\0\0\0\0\0"
HTTP = " option httpchk\n"
# Actions of the proxy after the request, options of the server, lines of its backend
CHECKS = (
    ([YES], "check-via-socks4", ""),
    ([NO], "check-via-socks4", ""),
    ([b"\4\x5a\1\2\3\4\5\6"], "check-via-socks4", ""),
    ([b"\0\x5c\0\0\0\0\0\0"], "check-via-socks4", HTTP),
    ([b"\0", b"\x5a\0\0", b"\0\0\0\0"], "check-via-socks4", ""),
    (["close"], "check-via-socks4", ""),
    (["reset"], "check-via-socks4", ""),
    (["wait"], "check-via-socks4", ""),
    (["wait"], "check-via-socks4", HTTP),
    ([b"\0", "wait"], "check-via-socks4", " option tcp-check\n tcp-check connect default\n"),
    ([NO], "check-via-socks4", " option tcp-check\n tcp-check connect default port 99 comment abc\n"),
    ([YES, "http"], "check-via-socks4", HTTP),
    ([YES, "http"], "check-via-socks4 send-proxy", HTTP),
    ([YES, "http"], "check-via-socks4 port 99", HTTP),
    ([YES, "http"], "", HTTP + " http-check connect via-socks4\n http-check send meth GET uri /x\n"),
    ([YES, "http"], "", HTTP + " http-check connect via-socks4 addr 9.8.7.6 port 99\n"),
    ([YES + b"ready\r\n"], "check-via-socks4", " option tcp-check\n tcp-check expect string ready\n"),
    ([YES, "http"], "check-via-socks4 check-send-proxy addr 9.8.7.6", HTTP),
)


class Proxy:
    """A proxy that keeps the bytes of its first connection that has ended, then all that followed its reply."""

    def __init__(self, script):
        self.sock = socket.create_server(("127.0.0.1", 0), backlog=50)
        self.port = self.sock.getsockname()[1]
        self.script = script
        self.heard = facts.Seen()
        self.subject = concurrent.futures.Future()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                s, peer = self.sock.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(s, peer), daemon=True).start()

    def serve(self, s, peer):
        # Longer than any check.
        s.settimeout(6 * WAIT)
        got = b""
        try:
            while len(got) < 16:
                part = s.recv(16 - len(got))
                if not part:
                    break
                got += part
            for i, step in enumerate(self.script):
                if step == "reset":
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                elif step == "wait":
                    s.recv(1)
                elif step == "http":
                    while b"\r\n\r\n" not in got:
                        got += s.recv(4096) or b"\r\n\r\n"
                    s.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
                elif step != "close":
                    s.sendall(step)
                    # A piece is read before the next one comes.
                    if i + 1 < len(self.script):
                        facts.delivered(s)
                        self.subject.result(WAIT).settle()
        except OSError:
            pass
        self.heard.append(got.replace(b" %d " % peer[1], b" PORT "))
        s.close()


def play(program, directory):
    """(columns of each server after its first check, what its proxy has heard, the answer to a command)"""
    proxies = [Proxy(script) for script, _, _ in CHECKS]
    # A check has at most its interval to connect. What a proxy does not answer lasts as long.
    cfg = (" max-spread-checks 500ms\ndefaults\n mode tcp\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
           " timeout check 1m\n")
    for i, (_, options, lines) in enumerate(CHECKS):
        cfg += (f"backend b{i}\n{lines} server s 1.2.3.4:8765 check inter 1m rise 1 fall 1 socks4 127.0.0.1:{proxies[i].port}"
                f" {options}\n")
    directory.mkdir()
    subject = Subject(program, directory, cfg)
    for p in proxies:
        p.subject.set_result(subject)

    try:
        reported = {backend: tuple(row[c] for c in ("status", "check_status", "check_code", "last_chk", "check_desc"))
                    for (backend, _), row in subject.checked().items()}
        added = subject.admin("add server b0/new 5.6.7.8:1 socks4 127.0.0.1:1 check check-via-socks4")
    finally:
        subject.stop()
        for p in proxies:
            p.sock.close()
    if program == oracle.HAPROXY:
        # HAProxy names the error of some other call here, or none.
        for backend, row in reported.items():
            row = [re.sub(r"(deny the request|read error during handshake) \([A-Z][a-z ]+\)", r"\1", c) for c in row]
            reported[backend] = tuple(re.sub(r"aborted by server( \([A-Z][a-z ]+\))?$", "aborted by server (Connection reset by peer)", c)
                                  for c in row)
    return [reported[f"b{i}"] for i in range(len(CHECKS))], [p.heard.wait()[0] for p in proxies], added


def test_checks(tmp_path):
    theirs, ours = oracle.both(lambda program: play(program, oracle.at(tmp_path, program)))
    for i, check in enumerate(CHECKS):
        assert (ours[0][i], ours[1][i]) == (theirs[0][i], theirs[1][i]), check
    assert [r[1] for r in theirs[0]][:3] == ["L4OK", "SOCKERR", "L4OK"]
    # HAProxy 2.6 has no socks4 for servers that are added at run time
    assert ours[2] == "New server registered.\n\n"
