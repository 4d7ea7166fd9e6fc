"""Debian's haproxy as the oracle: both programs accept or reject the same lines (only what both support)."""

import subprocess

import oracle
import pytest

from conftest import TACIT, WAIT

DEFAULTS = "defaults\n timeout client 1s\n timeout connect 1s\n timeout server 1s\n"

BIND = """:80|*:80|127.0.0.1:80|::1:80|:::80|[::1]:80|[::1]|::1|:0|:65536|:80-90|:90-80|:80-|:-80|:+80|:http|/tmp/x
unix@x|abns@foo|fd@|fd@-1|ipv4@:80|ipv6@:80|ipv6@*:80|ipv4@::1:80|ip@:80|tcp@:80|tcp4@:80|tcp6@:80
stream+ipv4@:80|stream+unix@/x|udp@:80|1.2.3.4|localhost:80|[127.0.0.1]:80|:80,:81|:80,|127.0.0.1:80,81|:080|:80-80
:80:|[::1]80|[::1:80|:|::"""

BIND_OPTIONS = """backlog 0|backlog 10|backlog -1|backlog 2147483648|maxconn 0|maxconn 5|maxconn -1|mss 0|mss 1460
mss 70000|tcp-ut 0|tcp-ut 10s|tcp-ut -1|tcp-ut 1e99|mode 660|mode 8|mode 99999|mode x|uid 0|user root|group root
user no-such-user|level admin|level foo|interface lo|interface|v4v6|v6only|tfo|transparent|defer-accept
proto none|proto h1|proto foo|proto|severity-output string|severity-output x|expose-fd listeners|name|name x name y|id 1|id 0|id -1|bogus
thread 1|thread 64|thread 65|thread 0|thread 1/1|thread 2/1|thread 0/1|thread 1/all|thread all|thread odd|thread 1-64
thread 1/1 thread 2|thread 1 thread 1/1|thread 1/1 thread 1/2|thread 1 thread 64|thread 1-|thread 3-1|thread -1|thread x
thread 1x|thread 1,2|thread 1/|thread /1|thread|thread ""|thread 1/1/1|thread x/1|thread 1-2/1|thread all/1|thread 1/65
thread 64-|thread 63 thread 64|shards 1|shards 2|shards 0|shards -1|shards by-thread|shards x|shards|shards ""
shards 2 shards 3|shards +2"""

SERVER_OPTIONS = """weight 0|weight 256|weight 257|weight -1|maxconn 0|maxconn 9|maxqueue 0|maxqueue 9|disabled|enabled
backup|no-backup|proto none|proto h1|proto foo|proto|ws auto|ws h1|ws foo|ws|tfo|no-tfo|tcp-ut 5|tcp-ut -1|inter 2s|rise 2|fall 3|port 80|no-check|slowstart 5s|minconn 5|no-ssl
no-send-proxy|source 1.2.3.4|source 1.2.3.4:10-20|source 1.2.3.4 interface lo|source 1.2.3.4:+1|source|bogus
weight 5 weight 6"""

SERVERS = """127.0.0.1|127.0.0.1:80|127.0.0.1:+80|127.0.0.1:-80|127.0.0.1:0|127.0.0.1:80-90|127.0.0.1:65536|127.0.0.1:|*
*:80|:80|::1|[::1]|[::1]:80|::1:80|/tmp/x|abns@x|fd@3|localhost|localhost:80|::|:::80|ipv4@127.0.0.1"""

LISTEN = """balance|balance roundrobin|balance static-rr|balance leastconn|balance source|balance first|balance random
balance foo|balance random(3)|balance random(0)|balance random()|balance random(-1)|balance random(x)|maxconn 0|maxconn 5
maxconn|maxconn 10 20|backlog 0|backlog 5|fullconn 5|retries 0|retries 5|retries|option redispatch|option redispatch 0
option redispatch -1|option redispatch 3|no option redispatch|option tcpka|option clitcpka|option clitcpka x
clitcpka-cnt|clitcpka-cnt 0|clitcpka-cnt 3|clitcpka-cnt 3s|clitcpka-idle|clitcpka-idle 0|clitcpka-idle 3|clitcpka-idle 3m
clitcpka-idle 3x|clitcpka-intvl 1500ms|clitcpka-intvl -1|no clitcpka-intvl|srvtcpka-cnt 3|srvtcpka-idle 3|srvtcpka-intvl 3
option srvtcpka|option nolinger|no option nolinger|no retries|option bogus|option|option allbackups
option tcp-smart-accept|option tcp-smart-connect|option logasap|option dontlognull|option tcplog|option contstats
option socket-stats|option splice-auto|option persist|id 5|id 0|id -1|id x|description|description a b c|disabled x|enabled
source|source 1.2.3.4|source 1.2.3.4:5|source 1.2.3.4:5-6|source 1.2.3.4:+1|source 1.2.3.4 interface lo|source ::1
source 1.2.3.4 interface|source 1.2.3.4 foo|mode|mode tcp|mode health|mode foo|mode tcp x|clitimeout 5|contimeout 5
srvtimeout 5|timeout|timeout client|timeout client x|timeout client -1|timeout client 0|timeout client 2147483647
timeout client 2147483648|timeout client 25d|timeout client 24d|timeout client 1e99|timeout client 10x
timeout client 10 20|timeout foo 5|timeout check 5|timeout http-request 5|timeout client-fin 1|timeout server-fin 1
timeout queue 1|timeout client 1us|default_backend|use_backend|use_backend l|default_backend l|default_backend x
use_backend x|default_backend other|use_backend other|server s 127.0.0.1:81|server t! 127.0.0.1:81|server|server t|grace 5
bind :80|bind|bogus 5|log global|log|log 127.0.0.1 local0|log-tag x|monitor-net 1.1.1.1|usesrc 1.2.3.4"""

GLOBAL = """cpu-map 1/all 0-3|cpu-map 1/1- 0-|cpu-map auto:1/1-4 0-3|cpu-map auto:1/1-4 0-1 2-3
cpu-map auto:1/1-4 3 2 1 0|cpu-map auto:1/all 0-63|cpu-map auto:1/even 0-31|cpu-map auto:1/odd 32-63
cpu-map auto:1/1 0-3|cpu-map 1 0|cpu-map 2 0|cpu-map 2/1 0|cpu-map 0 0|cpu-map all 0|cpu-map odd 0|cpu-map even 0
cpu-map 1-2 0|cpu-map 1-2/1 0|cpu-map 1-2/1-2 0|cpu-map auto:1-2/1-2 0-3|cpu-map auto:1-2/1 0-3|cpu-map auto:1-2/1 0-1
cpu-map all/all 0|cpu-map 64 0|cpu-map 65 0|cpu-map 65/1 0|cpu-map 1/0 0|cpu-map 1/64 0|cpu-map 1/65 0
cpu-map 1/1-65 0|cpu-map 1/3-1 0|cpu-map 1/-3 0|cpu-map 1/ 0|cpu-map /1 0|cpu-map 1/1|cpu-map|cpu-map 1/x 0
cpu-map 1/1x 0|cpu-map 1/1-x 0|cpu-map 1/1-2-3 0|cpu-map 1/1,2 0|cpu-map 1/1 all|cpu-map 1/1 odd|cpu-map 1/1 -1
cpu-map 1/1 3-1|cpu-map 1/1 63|cpu-map 1/1 64|cpu-map 1/1 1023|cpu-map 1/1 1024|cpu-map 1/1 5-|cpu-map 1/1 x
cpu-map 1/1 0 x|cpu-map auto:1/1-4 0-1 1-2|cpu-map auto:1/1-4 0 0 1 1|cpu-map auto:1/1-4 0-1 1-3|cpu-map 1/1/1 0
cpu-map auto: 0|cpu-map AUTO:1 0|cpu-map auto:1/1- 0-|cpu-map auto:1/all 0-|cpu-map 1/ALL 0|cpu-map 1/1 ""
cpu-map 1/1 ,0|cpu-map 1/+1 0|cpu-map 1/1 +1|cpu-map 1/01 01|no cpu-map 1/1 0|cpu-map all/1-2 0-1
cpu-map auto:1-4 0-3|cpu-map auto:1-4 0-2|cpu-map auto:all 0-63|cpu-map auto:all/1 0-63|cpu-map auto:2/1-2 0-1|cpu-map auto:2/1-2 0-3|cpu-map 1/1-4 0 1 2 3 4 5|cpu-map 1- 0
cpu-map 1/60- 0|cpu-map 1/64- 0|cpu-map 1/65- 0|cpu-map 1/1 1023-|cpu-map 1/1 1024-|cpu-map 1/1 0-5000|cpu-map auto:1/2 5
nbthread 0|nbthread 1|nbthread 65|nbthread x|nbthread 1x|nbthread|nbthread -1|nbthread 1 2|nbthread ""|thread-groups 1
thread-groups 0|thread-groups 2|numa-cpu-mapping|no numa-cpu-mapping|stats socket /tmp/x thread 1
stats socket /tmp/x thread 64|stats socket /tmp/x thread 2/1|stats socket /tmp/x shards 2|tune.listener.multi-queue on
tune.listener.multi-queue off|tune.listener.multi-queue|tune.listener.multi-queue x|no tune.listener.multi-queue"""

# A keyword for the other side is ignored with a warning, or rejected, even if it is not supported here.
IN_FRONTEND = """option http-pretend-keepalive|stick on src|stick match src|option httpchk|http-check send meth GET
tcp-check connect|balance roundrobin|cookie x insert|force-persist if TRUE|ignore-persist if TRUE|use-server s if TRUE
srvtcpka-cnt 3|default-server weight 5|server-template s 3 127.0.0.1:1|server s 127.0.0.1:1|retries 3|option redispatch
option transparent|tcp-response content accept|tcp-response inspect-delay 5s|timeout server 5s|http-reuse safe
dispatch 127.0.0.1:1|fullconn 5|load-server-state-from-file none"""
IN_BACKEND = """monitor fail if FALSE|monitor-uri /x|rate-limit sessions 5|option contstats|option socket-stats
declare capture request len 4|capture request header x len 5|tcp-request connection accept|tcp-request session accept
maxconn 5|backlog 5|bind 127.0.0.1:99|option disable-h2-upgrade|option idle-close-on-response|option clitcpka
option tcp-smart-accept|clitcpka-cnt 3|timeout client 5s"""
VERSIONS = """3.0-3.1|3.1-3.3|3.0-|3.0:3.1|3-3.2|3:3.2|3.1|gt 3.1|3.0-3.1:3.2|3.3-3.1|3.3:3.1|-- -3.1|-|3.0-3.x|3.1.1
3.70000"""

WHOLE = {
    "proto of mode http": "listen f\n mode http\n bind :1 proto h1\n server s :1 proto h1\n",
    "proto none in mode http": "listen f\n mode http\n bind :1 proto none\n",
    "server's proto none in mode http": "backend b\n mode http\n server s :1 proto none\n",
    "server's proto h1 in mode tcp": "backend b\n server s :1 proto h1\n",
    "proto set before the mode": "listen f\n bind :1 proto h1\n mode http\n",
    "no bind": "frontend f\n",
    "listen without bind": "listen f\n",
    "backend only": "backend f\n",
    "same frontends": "frontend f\n bind :1\nfrontend f\n bind :2\n",
    "same backends": "backend f\nbackend f\n",
    "frontend and backend": "frontend f\n bind :1\nbackend f\n",
    "listen and backend": "listen f\n bind :1\nbackend f\n",
    "two listens": "listen f\n bind :1\nlisten f\n bind :2\n",
    "same off": "frontend f\n disabled\nfrontend f\n bind :2\n",
    "off, no such backend": "frontend f\n bind :1\n disabled\n default_backend x\n",
    "same ids": "backend b\n id 5\nbackend c\n id 5\n",
    "same server ids": "backend b\n server s :1 id 5\n server t :1 id 5\n",
    "same bind ids": "frontend f\n bind :1 id 3\n bind :2 id 3\n",
    "id of a range": "frontend f\n bind :1-2 id 3\n",
    "server in frontend": "frontend f\n bind :1\n server s :1\n",
    "bind in backend": "backend b\n bind :1\nfrontend f\n bind :2\n",
    "balance in frontend": "frontend f\n bind :1\n balance roundrobin\n",
    "maxconn in backend": "backend b\n maxconn 10\n",
    "timeout server in frontend": "frontend f\n bind :1\n timeout server 3\n",
    "server in defaults": "defaults\n server s :1\n",
    "bind in defaults": "defaults\n bind :1\n",
    "two names": "frontend f g\n bind :1\n",
    "no name": "frontend\n bind :1\n",
    "bad name": "frontend f!\n bind :1\n",
    "from": "defaults x\n timeout client 1s\nfrontend f from x\n bind :1\n",
    "from nothing": "frontend f from x\n bind :1\n",
    "loop": "listen f\n bind :1\n default_backend f\n",
    "unknown section": "frontends f\n bind :1\n",
}


def words(text):
    return [w for line in text.split("\n") for w in line.split("|")]


def cases():
    for a in words(BIND):
        yield f"bind {a}", f"frontend f\n bind {a}\n"
    for o in words(BIND_OPTIONS):
        yield f"bind :80 {o}", f"frontend f\n bind :80 {o}\n"
    for o in words(SERVER_OPTIONS):
        yield f"server s 127.0.0.1:80 {o}", f"listen l\n bind :80\n server s 127.0.0.1:80 {o}\n"
        yield f"default-server {o}", f"listen l\n bind :80\n default-server {o}\n server s 127.0.0.1:80\n"
    for a in words(SERVERS):
        yield f"server s {a}", f"listen l\n bind :80\n server s {a}\n"
    for k in words(LISTEN):
        yield k, f"listen l\n bind :80\n server s 127.0.0.1:80\n {k}\nbackend other\n"
    for k in words(GLOBAL):
        yield k, f"global\n {k}\nlisten l\n bind :80\n server s 127.0.0.1:80\n"
    for v in words(VERSIONS):
        yield f"req.ssl_ver {v}", ("frontend f\n mode tcp\n bind :1\n"
                                   f" tcp-request content accept if {{ req.ssl_ver {v} }}\n")
    yield from WHOLE.items()


def verdict(program, path):
    """(the exit code, what is said) of a check of this file."""
    oracle.given(path.read_text())
    done = subprocess.run([program, "-c", "-f", str(path)], capture_output=True, text=True, timeout=WAIT, check=False)
    return done.returncode, done.stdout + done.stderr


def must_agree(path):
    """Both accept the file, or neither."""
    theirs, ours = oracle.both(lambda program: verdict(program, path)[0])
    assert ours == theirs, f"{path.read_text()}\n{verdict(TACIT, path)[1]}"


CASES = list(cases())


@pytest.mark.parametrize("name,text", CASES, ids=[n for n, _ in CASES])
def test_same_verdict(name, text, tmp_path):
    path = tmp_path / "t.cfg"
    path.write_text(DEFAULTS + text)
    must_agree(path)


def sides():
    for line in words(IN_FRONTEND):
        yield line, f"frontend f\n mode http\n bind :1\n {line}\n"
    for line in words(IN_BACKEND):
        yield line, f"backend b\n mode http\n {line}\nfrontend f\n mode http\n bind :1\n default_backend b\n"


@pytest.mark.parametrize("line,text", list(sides()), ids=[n for n, _ in sides()])
def test_same_severity(line, text, tmp_path):
    path = tmp_path / "t.cfg"
    path.write_text(DEFAULTS + text)

    def severity(program):
        code, printed = verdict(program, path)
        return "error" if code else "warning" if "[WARNING]" in printed else "accepted"

    theirs, ours = oracle.both(severity)
    assert ours == theirs, verdict(TACIT, path)[1]


# Variables in addresses, outside of quotes. ZERO is a port that bind refuses: that the value counts. NOT is not set.
ADDRESSES = """bind 127.0.0.1:$PORT|bind :${PORT}|bind $HOST:$PORT|bind ${HOST}:$PORT|bind ':$PORT'|bind :$ZERO|bind :8$ZERO
bind :$NOT|bind $NOT:80|bind :$NOT$PORT|bind 127.0.0.1:80,$HOST:$PORT|bind unix@/tmp/$HOST|bind abns@$HOST
server t $HOST:$PORT|server t ${HOST}|server t $HOST:$NOT|server t $NOT:80|server t $PORT:80
server t $HOST source $HOST|server t $HOST source $PORT|server t $HOST check addr $HOST|server t $HOST check addr $PORT
server t $HOST socks4 $HOST:$PORT|server t $HOST socks4 $HOST:$ZERO|source $HOST|source $PORT|dispatch $HOST:$PORT
dispatch $HOST:$ZERO|log $HOST local0|log $HOST:$PORT local0|log $PORT$HOST local0
tcp-check connect addr $HOST|tcp-check connect addr $PORT"""


@pytest.mark.parametrize("line", words(ADDRESSES))
def test_variables_in_addresses(line, tmp_path, monkeypatch):
    monkeypatch.setenv("PORT", "8080")
    monkeypatch.setenv("ZERO", "0")
    monkeypatch.setenv("HOST", "127.0.0.1")
    monkeypatch.delenv("NOT", raising=False)
    path = tmp_path / "t.cfg"
    path.write_text(DEFAULTS + f"listen l\n bind :79\n balance roundrobin\n option tcp-check\n {line}\n")
    must_agree(path)


# HAProxy accepts these with another meaning than what is written; here they are errors.
STRICTER = [
    "maxconn 10x", "maxconn -1", "maxconn 4294967296", "retries x", "retries -1", "fullconn 1x", "backlog x",
    "option redispatch x", "balance random(99999999999)", "balance leastconn x", "bind :81 mss -5",
    "bind :81 shards 1x", "bind :81 shards 4294967297",
]

# The same for global: also lines that its manual excludes, and HAProxy accepts.
STRICTER_GLOBAL = [
    "cpu-map 1/1 1x", "cpu-map 1/1 0,1", "cpu-map 1/1 5-6-7", "cpu-map 1/1 4294967296", "cpu-map 1/4294967297 0",
    "cpu-map auto:1/1-4 0", "cpu-map auto:1 0", "cpu-map auto:1-2/1-2 0-1",
]


@pytest.mark.parametrize("line", STRICTER)
def test_stricter(line, tmp_path):
    path = tmp_path / "t.cfg"
    path.write_text(DEFAULTS + f"listen l\n bind :80\n server s 127.0.0.1:80\n {line}\n")
    assert oracle.both(lambda program: verdict(program, path)[0]) == (0, 1)
    printed = verdict(TACIT, path)[1]
    assert f"{path}:8:" in printed and "^" in printed


@pytest.mark.parametrize("line", STRICTER_GLOBAL)
def test_stricter_global(line, tmp_path):
    path = tmp_path / "t.cfg"
    path.write_text(f"global\n {line}\n{DEFAULTS}listen l\n bind :80\n server s 127.0.0.1:80\n")
    assert oracle.both(lambda program: verdict(program, path)[0]) == (0, 1)
    printed = verdict(TACIT, path)[1]
    assert f"{path}:2:" in printed and "^" in printed


def test_stock_configuration(tmp_path):
    """Debian's own file, in mode tcp, without the lines for HTTP and TLS."""
    path = tmp_path / "haproxy.cfg"
    path.write_text("""\
global
	log /dev/log	local0
	log /dev/log	local1 notice
	chroot /var/lib
	stats socket /run/admin.sock mode 660 level admin expose-fd listeners
	stats timeout 30s
	user nobody
	group nogroup
	daemon

defaults
	log	global
	mode	tcp
	option	dontlognull
        timeout connect 5000
        timeout client  50000
        timeout server  50000

listen l
	bind 127.0.0.1:8080
	server s 127.0.0.1:80
""")
    ours, printed = verdict(TACIT, path)
    assert ours == 0, printed
    assert "ALERT" not in printed and "WARNING" not in printed
