"""A service of a machine of tests: what an operator does with systemctl, and clients that connect all the time."""
import contextlib
import os
import time
from pathlib import Path

DEB = Path(os.environ["TACIT_BUILD"]) / "deb"

CFG = """\
global
    log /dev/log local0
    stats socket /run/tacit/admin.sock mode 660 level admin
    {extra}
defaults
    mode http
    timeout connect 1m
    timeout client 1m
    timeout server 1m
frontend main
    bind {bind}
    http-request return status 200 content-type text/plain string {word}
"""

# One connection after the other until its input ends, at most as many per second as its argument has, if it has one; then
# how many were answered, how many were refused, how many ended without an answer, and how often refusals began.
LOAD = """\
import socket, sys, threading
end = threading.Event()
good = refused = lost = gaps = since = after = 0
begun = False
serves, between = True, 1 / float(sys.argv[1]) if sys.argv[1:] else 0
threading.Thread(target=lambda: (sys.stdin.read(), end.set()), daemon=True).start()
while True:
    try:
        with socket.create_connection(("127.0.0.1", 80), timeout=60) as s:
            s.sendall(b"GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n")
            got = b""
            while part := s.recv(4096):
                got += part
        if got.startswith(b"HTTP/1.1 200 "):
            good += 1
            serves = True
        else:
            lost += 1
    except ConnectionRefusedError:
        refused += 1
        gaps += serves
        serves = False
    except OSError:
        lost += 1
    since = since + 1 if serves else 0
    if good == 10 and not begun:
        begun = True
        print("begun", flush=True)
    if end.wait(between):
        after += 1
        # A service that stays away is reported as it was: none has been served in the end.
        if since >= 10 or after == 3000:
            break
print(good if serves else 0, refused, lost, gaps)
"""


def package(name):
    return next(DEB.glob(f"{name}_*.deb"))


class Service:
    """A service of a machine, its configuration and its journal."""

    def __init__(self, machine, name="tacit", cfg="/etc/tacit/tacit.cfg"):
        self.m, self.name, self.cfg = machine, name, cfg

    def configure(self, word="one", bind=":80", extra=""):
        self.m.write(self.cfg, CFG.format(word=word, bind=bind, extra=extra))

    def ctl(self, verb, check=True):
        return self.m.run("systemctl", verb, self.name, check=check)

    def show(self, field):
        return self.m.run("systemctl", "show", "--value", "-p", field, self.name).stdout.strip()

    def main_pid(self):
        return int(self.show("MainPID"))

    def workers(self):
        children = self.m.run("cat", f"/proc/{self.main_pid()}/task/{self.main_pid()}/children", check=False).stdout
        return [int(pid) for pid in children.split()]

    def answer(self, url="http://127.0.0.1/"):
        return self.m.run("curl", "-s", "-m", "60", url, check=False).stdout

    def admin(self, command, sock="/run/tacit/admin.sock"):
        script = ("import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n"
                  "s.sendall(sys.argv[2].encode() + b'\\n')\nwhile part := s.recv(65536): print(part.decode(), end='')\n")
        return self.m.run("python3", "-c", script, sock, command).stdout

    def journal(self, *options):
        return self.m.run("journalctl", "-u", self.name, "-o", "cat", "--no-pager", *options).stdout

    def wait_for(self, what, limit=60):
        end = time.monotonic() + limit
        while not what():
            assert time.monotonic() < end, self.m.run("systemctl", "status", "--no-pager", self.name, check=False).stdout \
                + self.journal("-n", "30")
            time.sleep(0.05)

    @contextlib.contextmanager
    def drop_in(self, text):
        path = f"/etc/systemd/system/{self.name}.service.d/test.conf"
        self.m.write(path, text)
        self.m.run("systemctl", "daemon-reload")
        try:
            yield
        finally:
            self.m.run("rm", path)
            self.m.run("systemctl", "daemon-reload")
            self.ctl("reset-failed", check=False)

    @contextlib.contextmanager
    def load(self, may_lose=0, gaps=0, rate=None):
        """Connections all the time, from ten before until ten after. None may be refused but in as many gaps, and not more than
        these may end without an answer."""
        with self.m.start("python3", "-c", LOAD, *([str(rate)] if rate else [])) as client:
            assert client.stdout.readline() == "begun\n"
            try:
                yield
            finally:
                client.stdin.close()
                result = client.stdout.read()
        good, refused, lost, found = map(int, result.split())
        assert found <= gaps and bool(refused) <= gaps and lost <= may_lose and good >= 20, result


def status_of(machine, pid):
    return dict(line.split(":\t", 1) for line in machine.run("cat", f"/proc/{pid}/status").stdout.splitlines())
