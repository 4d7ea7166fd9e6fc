"""`observe`: what sessions find out about a server, in the words of HAProxy, for one server each of HAProxy and tacit."""

import contextlib
import socket
import struct
import threading

import oracle
import pytest
from conftest import WAIT, free_ports
from oracle import Subject
from subject import LogServer
from test_oracle_checks import words


# The server's answer to a request, by its path. None: it stays silent; a reset follows "reset".
MOODS = {
    **{str(n): b"HTTP/1.1 %d X\r\nContent-Length: 2\r\n\r\nok" % n for n in (200, 302, 404, 499, 500, 501, 502, 505, 600)},
    "garbage": b"SSH-2.0-x\r\n\r\n",
    "half": b"HTTP/1.1 200 OK\r\nContent-Le",
    "large": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 20000 + b"\r\n\r\n",
    "close": b"",
    "reset": b"",
    "silence": None,
}


class Server:
    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                connection = self.socket.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            request = connection.recv(4096)
            if request:
                self.answer(connection, request.split(b" ")[1].decode().strip("/"))

    def answer(self, connection, mood):
        if MOODS[mood] is None:
            with contextlib.suppress(OSError):
                connection.recv(1)  # until the session gives up
        elif mood == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            connection.sendall(MOODS[mood])


def ask(port, mood):
    with socket.create_connection(("127.0.0.1", port), WAIT) as c:
        c.sendall(f"GET /{mood} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        while c.recv(65536):
            pass


def played(program, directory, layer, on_error, limit):
    directory.mkdir()
    server, log = Server(), LogServer()
    front, deaf_front, deaf, check = free_ports(4)
    checked = socket.create_server(("127.0.0.1", check))
    options = f"check port {check} inter 1h fall 40 observe {layer} error-limit {limit} on-error {on_error}"
    cfg = (f" log 127.0.0.1:{log.port} local0\ndefaults\n log global\n mode http\n retries 0\n option log-health-checks\n"
           f" timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
           f"backend b\n http-request set-timeout server 500ms if {{ path /silence }}\n server s 127.0.0.1:{server.port} {options}\n"
           f"backend deaf\n server s 127.0.0.1:{deaf} {options}\n"
           f"frontend f\n bind 127.0.0.1:{front}\n default_backend b\n"
           f"frontend g\n bind 127.0.0.1:{deaf_front}\n default_backend deaf\n")
    try:
        subject = Subject(program, directory, cfg)
        try:
            # Only now is the health full, and failures count one by one. The other server is checked for the first time half an
            # hour later.
            subject.checked(lambda row: row["check_status"] == ("L4OK" if row["pxname"] == "b" else "INI"))
            for mood in MOODS:
                for _ in range(limit):
                    ask(front, mood)
            for _ in range(limit):
                ask(deaf_front, "200")
            rows = subject.stat()[1]
        finally:
            subject.stop()
        lines = [words(line) for line in log.drain() if "Health analyze" in line]
        return [line for line in lines if " b/s" in line], [line for line in lines if " deaf/s" in line], \
            [{c: rows[b, "s"][c] for c in ("status", "hanafail", "chkfail", "chkdown", "check_status", "last_chk")}
             for b in ("b", "deaf")]
    finally:
        checked.close()
        server.socket.close()
        log.close()


@pytest.mark.parametrize("layer,on_error,limit", [
    ("layer7", "fail-check", 1), ("layer7", "fail-check", 3), ("layer7", "fastinter", 1), ("layer7", "mark-down", 2),
    ("layer7", "sudden-death", 2), ("layer4", "fail-check", 2), ("layer4", "mark-down", 1)])
def test_findings(tmp_path, layer, on_error, limit):
    theirs, ours = oracle.both(lambda program: played(program, oracle.at(tmp_path, program), layer, on_error, limit))
    assert ours == theirs
    assert on_error == "fastinter" or any(theirs[:2]), theirs
