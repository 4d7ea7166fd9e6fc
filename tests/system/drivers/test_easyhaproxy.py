"""easyhaproxy with its static list of hosts: it writes the configuration, has it checked, starts the program with a master,
and at each change starts another one with -x MASTER'S-SOCKET -sf and ends the previous one."""

import http.client
import subprocess
import sys
import threading

import pytest
from programs import ALONE, answers, environment, named_haproxy, pypi
from conftest import WAIT, Origin
from facts import contains, only_child
from namespaces import Namespaces
from subject import only_root, only_tacit

pytestmark = [only_tacit, only_root]
FIRST = """\
containers:
  "one.test:8000":
    ip: ["127.0.0.1:9001"]
"""
SECOND = FIRST + """\
  "two.test:8000":
    ip: ["127.0.0.2:9001"]
    balance: leastconn
  "old.test:8000":
    redirect: "http://one.test:8000"
  "raw.test:8001":
    mode: tcp
    ip: ["127.0.0.1:9001"]
"""


def answer(conn):
    """Says which address it has, and which headers it got."""
    while True:
        request = b""
        while not request.endswith(b"\r\n\r\n"):
            got = conn.recv(4096)
            if not got:
                return
            request += got
        body = conn.getsockname()[0].encode() + b"\n" + request
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


class Easy:
    """easyhaproxy in namespaces of its own, which a request enters."""

    def __init__(self, directory):
        self.base = directory / "base"
        for name in ("static", "haproxy/conf.d", "www", "certs"):
            (self.base / name).mkdir(parents=True)
        (self.base / "www" / "dashboard.html").write_text("the dashboard")
        self.config = self.base / "static" / "config.yml"
        self.config.write_text(FIRST)
        path = named_haproxy(directory / "bin")
        env = environment("easyhaproxy", PATH=f"{path}:{environment()['PATH']}", HAPROXY_CUSTOMERRORS="false",
                          EASYHAPROXY_BASE_PATH=str(self.base))
        self.log = directory / "log"
        with open(self.log, "wb") as out:
            self.proc = subprocess.Popen([*ALONE, sys.executable, pypi("easyhaproxy", "bin/easy-haproxy"), "--discover", "static",
                                          "--refresh-conf", "1", "--haproxy-password", "secret"],
                                         env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.pid = only_child(self.proc.pid)
        contains(self.log, "Release: ")
        self.origins = [Namespaces().at(self.pid, lambda host=host: Origin(answer, (host, 9001))) for host in ("127.0.0.1", "127.0.0.2")]

    def get(self, host, port=8000, path="/", headers=()):
        """The status and the body of an answer, or what went wrong."""
        def ask():
            c = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
            try:
                c.request("GET", path, headers={"Host": host, **dict(headers)})
                response = c.getresponse()
                return response.status, response.getheader("Location") or response.read().decode()
            except (OSError, http.client.HTTPException) as e:
                return type(e).__name__, ""
            finally:
                c.close()

        return Namespaces().at(self.pid, ask)

    def close(self):
        for origin in self.origins:
            origin.close()
        self.proc.kill()
        self.proc.wait(WAIT)


@pytest.fixture
def easy(tmp_path):
    pypi("easyhaproxy", "bin/easy-haproxy")
    e = Easy(tmp_path)
    yield e
    e.close()


def test_hosts_come_and_a_wrong_file_changes_nothing(easy):
    one = answers(lambda: easy.get("one.test"), lambda seen: seen[0] == 200)[1]
    assert one.startswith("127.0.0.1\n") and "x-forwarded-port: 8000" in one.lower() and "x-edge-request-id: " in one.lower()
    assert easy.get("two.test")[0] == 404
    seen, ends = [], threading.Event()

    def load():
        while not ends.is_set() and len(seen) < 100_000:
            seen.append(easy.get("one.test")[0])

    client = threading.Thread(target=load)
    client.start()
    easy.config.write_text(SECOND)
    two = answers(lambda: easy.get("two.test"), lambda seen: seen[0] == 200)[1]
    assert two.startswith("127.0.0.2\n")
    easy.config.write_text(FIRST)
    answers(lambda: easy.get("two.test")[0], 404)
    easy.config.write_text(SECOND)
    answers(lambda: easy.get("two.test")[0], 200)
    ends.set()
    client.join()
    # A few are refused: it sends SIGTERM to the previous process before the new one serves.
    assert set(seen) <= {200, "ConnectionRefusedError", "ConnectionResetError", "RemoteDisconnected"} and seen.count(200) > 0
    assert easy.get("old.test", path="/x") == (301, "http://one.test:8000/x")
    assert easy.get("raw.test", port=8001)[1].startswith("127.0.0.1\n")
    assert easy.get("any", port=1936)[0] == 401
    row = "\nhttp_in_8000,FRONTEND,"
    assert row in easy.get("any", port=1936, path="/;csv", headers={"Authorization": "Basic YWRtaW46c2VjcmV0"})[1]
    assert easy.get("any", port=11936) == (200, "the dashboard")
    # A file that is not valid is not used.
    wrong = easy.base / "haproxy" / "conf.d" / "wrong.cfg"
    wrong.write_text("frontend wrong\n    no such keyword\n")
    contains(easy.log, "rejects the new configuration")
    assert easy.get("two.test")[0] == 200
