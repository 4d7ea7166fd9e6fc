"""Lines that HAProxy accepts although their writer meant something else: accepted here with a warning that says what is
done."""

import re
import subprocess

import oracle
import pytest
from conftest import TACIT, WAIT, connect, free_port, recv_all

DEFAULTS = "defaults d\n mode http\n timeout client 1s\n timeout connect 1s\n timeout server 1s\n"
LISTEN = DEFAULTS + "listen l\n bind 127.0.0.1:80\n server s 127.0.0.1:81\n"

# The configuration, and what the warning says; None: there is nothing to warn of.
LINES = (
    (LISTEN + " stats enable\n stats realm Our Statistics\n stats auth a:b\n", "only 'Our' is shown"),
    ("global\n node a_b-1.c\n" + LISTEN, None),
    (LISTEN + " http-request add-header Host x\n", "a request has one Host: it is replaced"),
    (DEFAULTS + "listen l\n bind 127.0.0.1:80\n server s 127.0.0.1:81 init-addr\n", "'init-addr' names no method"),
    (DEFAULTS + 'listen l\n bind 127.0.0.1:80\n server s 127.0.0.1:81 init-addr ""\n', "'init-addr' names no method"),
    ("defaults x mode http\n" + LISTEN, "words behind the name are ignored"),
    (DEFAULTS + "defaults x from d mode http\nlisten l from d\n bind 127.0.0.1:80\n server s 127.0.0.1:81\n",
     "words behind the name are ignored"),
    (LISTEN + " http-check expect status 200\n http-check send meth GET\n", "the rules are ignored"),
    (LISTEN + " http-check connect\n http-check expect status 200\n tcp-check connect\n", "the rules are ignored"),
    (LISTEN + " http-request set-header X-Foo: bar\n", "'http-request set-header' : the name of a header ends before the colon"
     ": this is 'X-Foo'."),
    (LISTEN + " http-response del-header X-Foo:\n", "this is 'X-Foo'."),
    (LISTEN + " http-request return status 200 hdr X-Foo: y\n", "this is 'X-Foo'."),
    (DEFAULTS + "listen l\n bind 127.0.0.1:80\n server s 127.0.0.1:81 check inter 1s[\n", "'1s[' is taken for '1s'"),
    (DEFAULTS + "listen l\n bind 127.0.0.1:80\n default-server\n server s 127.0.0.1:81\n", "has no option and no effect"),
    (DEFAULTS + "listen l\n bind 127.0.0.1:80\n mode tcp\n balance uri\n server s 127.0.0.1:81\n",
     "Falling back to round robin"),
    (LISTEN + " timeout client 5sec\n", "'5sec' is taken for '5s'"),
    (LISTEN + " timeout tunnel 10min\n", "'10min' is taken for '10m'"),
    (LISTEN + " timeout tunnel 3ms,\n", "'3ms,' is taken for '3ms'"),
)
# Lines that would mean something else stay errors, also where HAProxy only warns.
ERRORS = (
    (LISTEN + " timeout client 1m30s\n", "'1m30s' is not a time"),
    (LISTEN + " timeout client 5x\n", "'5x' is not a time"),
    (LISTEN + " timeout client s\n", "'s' is not a time"),
    (DEFAULTS + "listen l\n bind 127.0.0.1:80\n server s 127.0.0.1:81 init-addr check\n", "unknown init-addr method 'check'"),
    (LISTEN + " option httpchk\n http-check expect status 200\n http-check send meth GET\n", "step 2 (missing connect rule)"),
    (LISTEN + " option tcp-check\n tcp-check send x\n tcp-check connect\n", "the first step must also be a 'connect'"),
    (LISTEN + " http-check send meth GET\n http-check connect\n", "the first step must also be a 'connect'"),
    (LISTEN + " http-request set-header X:Foo bar\n", "'X:Foo' cannot be the name of a header"),
    (LISTEN + " http-request set-header Content-Length: 5\n", "frames the message"),
    ("global\n node a/b\n" + LISTEN, "character '/' is not permitted"),
    ("global x\n" + LISTEN, "'global' cannot handle unexpected argument 'x'"),
)


def check(program, path):
    done = subprocess.run([program, "-c", "-f", path], capture_output=True, text=True, timeout=WAIT, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("text,warning", LINES)
def test_accepted(text, warning, tmp_path):
    cfg = tmp_path / "a.cfg"
    cfg.write_text(text)
    code, printed = check(TACIT, cfg)
    assert code == 0, printed
    assert warning in printed and "[WARNING]" in printed if warning else not printed
    assert oracle.same(lambda program: check(program, cfg)[0], script=text) == 0


@pytest.mark.parametrize("text,warning", ERRORS)
def test_refused(text, warning, tmp_path):
    cfg = tmp_path / "a.cfg"
    cfg.write_text(text)
    code, printed = check(TACIT, cfg)
    assert code == 1 and warning in printed, printed


def ask(port, head):
    with connect(port) as s:
        s.sendall(head)
        return recv_all(s).decode()


def test_what_is_done(daemon):
    """Fields get the names that were meant, and there is one Host."""
    port, back = free_port(), free_port()
    daemon(f"""frontend f
 mode http
 bind 127.0.0.1:{port}
 http-request add-header Host x.example
 http-request set-header X-Foo: bar
 http-request del-header X-Bar:
 default_backend b
frontend shown
 mode http
 bind 127.0.0.1:{back}
 http-request return status 200 content-type text/plain \
lf-string %[req.hdr_cnt(host)],%[req.hdr(host)],%[req.hdr(x-foo)],%[req.hdr_cnt(x-foo)],%[req.hdr_cnt(x-bar)]
backend b
 mode http
 option httpclose
 server s 127.0.0.1:{back}
""")
    printed = ask(port, b"GET / HTTP/1.1\r\nHost: a\r\nX-Foo: spoilt\r\nX-Bar: 1\r\nConnection: close\r\n\r\n")
    assert printed.startswith("HTTP/1.1 200 ") and printed.endswith("\r\n\r\n1,x.example,bar,1,0"), printed


def test_realm(daemon):
    port = free_port()
    daemon(f"frontend f\n mode http\n bind 127.0.0.1:{port}\n stats enable\n stats realm Our Statistics\n stats auth a:b\n")
    printed = ask(port, b"GET /haproxy?stats HTTP/1.0\r\n\r\n")
    assert re.search(r'^www-authenticate: Basic realm="Our"\r$', printed, re.I | re.M), printed
