"""The subjects of measurements: each row of a table is a Subject, a forwarder with its options."""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass, replace

from .world import START_SECONDS, Failed, free_port, listens, log_of, wait_for

MAXCONN = 9500
SLOW_START_SECONDS = 600
LONG_BYTES = 16 << 20    # a long download
STREAM_MODULE = "/usr/lib/nginx/modules/ngx_stream_module.so"


@dataclass(frozen=True)
class Subject:
    """kind: tacit, bare, haproxy, nginx, hitch, peer. words: the lines or flags that make this row differ.

    options: lines of the proxy. threads: the workers, for kinds that have them. admin: it has an admin socket, at
    .admin. mode: tcp or http. reuse: in mode http connections to the server are kept and shared."""
    name: str
    kind: str
    words: tuple = ()
    tuned: bool = False
    threads: int = 1
    admin: bool = False
    options: tuple = ()
    mode: str = "tcp"
    reuse: bool = False
    master: bool = False     # a master starts the process that forwards
    idle_servers: int = 0    # of a second backend without traffic
    checked_servers: int = 0 # the same, which are checked
    tls: bool = False        # of clients
    resumes: bool = True     # TLS sessions; otherwise each handshake is a full one
    h2: bool = False         # of clients; with TLS by ALPN
    server_h2: bool = False
    deferred: bool = False   # a second port takes only connections that have sent something
    cached: bool = False     # there is a cache PAGES


def tacit(name, *words, tuned=False):
    return Subject("tacit " + name, "tacit", words, tuned)


DEFAULT = tacit("default")
UNMERGED = tacit("unmerged", "tune.epoll.mode unmerged")
MERGED = tacit("merged", "tune.epoll.mode merged")
EDGE = tacit("edge", "tune.epoll.mode edge")
TUNED = tacit("tuned", tuned=True)
EPOLL = tacit("epoll", "use-poller epoll")
EV_EPOLL = tacit("ev:epoll", "use-poller ev:epoll")
EV_POLL = tacit("ev:poll", "use-poller ev:poll")
EV_SELECT = tacit("ev:select", "use-poller ev:select")
EAGER = tacit("not lazy", "tune.lazy-register off")
BARE = Subject("bare", "bare")
BARE_TUNED = Subject("bare tuned", "bare", ("--defer", "--quickack-off"), True)
BARE_PHASES = Subject("bare phases", "bare", ("--phases",))
BARE_TUNED_PHASES = Subject("bare tuned phases", "bare", ("--defer", "--quickack-off", "--phases"), True)
BARE_SPIN = Subject("bare spin", "bare", ("--spin",))
BARE_FAR = Subject("bare far", "bare", ("--far",))
HAPROXY = Subject("haproxy", "haproxy")
HAPROXY_TUNED = Subject("haproxy tuned", "haproxy", (), True)
NGINX = Subject("nginx", "nginx")
PEER = Subject("peer", "peer")
PEER_TUNED = Subject("peer tuned", "peer", (), True)

NEAR = (DEFAULT, UNMERGED, MERGED, EDGE, TUNED, BARE, BARE_TUNED, HAPROXY, HAPROXY_TUNED,
        NGINX, PEER, PEER_TUNED)
COST = NEAR[:5] + (EV_EPOLL, BARE, BARE_PHASES, BARE_SPIN, BARE_TUNED, BARE_TUNED_PHASES) + NEAR[7:]
FAR = (DEFAULT, UNMERGED, MERGED, EDGE, BARE_FAR, HAPROXY, NGINX, PEER)
KEEPALIVE = (DEFAULT, UNMERGED, MERGED, EDGE, EV_EPOLL, BARE, HAPROXY, NGINX, PEER)
PLAIN = (DEFAULT, BARE, HAPROXY, NGINX, PEER)
SPLIT = (replace(DEFAULT, name="tacit 2 workers", threads=2, admin=True),
         replace(tacit("fair", "tune.listener.multi-queue fair"), threads=2, admin=True),
         replace(tacit("not handed over", "tune.listener.multi-queue off"), threads=2, admin=True))
HANDOVER = tuple(replace(tacit("elision " + how, "tune.listener.multi-queue fair", "tune.wake-elision " + how),
                         threads=2, admin=True) for how in ("on", "off"))
POLLERS = (EPOLL, EV_EPOLL, EV_POLL, BARE, HAPROXY, NGINX, PEER)



def http(subjects, reuse=False):
    """The same rows in mode http."""
    return tuple(replace(s, mode="http", reuse=reuse) for s in subjects)


HTTP = http((DEFAULT, UNMERGED, MERGED, EDGE, TUNED, HAPROXY, HAPROXY_TUNED, NGINX, PEER, PEER_TUNED))
HTTP_FAR = http((DEFAULT, UNMERGED, MERGED, EDGE, HAPROXY, NGINX, PEER))
HTTP_KEPT = http((DEFAULT, UNMERGED, MERGED, EDGE, HAPROXY, NGINX, PEER), reuse=True)
HTTP_SLOW = http((replace(DEFAULT, admin=True), HAPROXY, PEER), reuse=True)
STAT_SERVERS = 4000
STAT = http((replace(DEFAULT, admin=True, idle_servers=STAT_SERVERS),
             replace(DEFAULT, name="tacit 2 workers", threads=2, admin=True, idle_servers=STAT_SERVERS),
             replace(HAPROXY, admin=True, idle_servers=STAT_SERVERS)), reuse=True)
# Requests that cost the proxy more than the client and the origin together.
COSTLY = ("http-request set-var(txn.n) url,sha2(512),hex",) * 10
# Each request is counted, under its address or one of 100,000 keys, and a rule asks for the rate.
TRACKED = ("stick-table type ip size 200k expire 1m store http_req_rate(10s)", "http-request track-sc0 %s",
           "http-request deny deny_status 429 if { sc_http_req_rate(0) gt 100000000 }")
TABLES = http(tuple(replace(s, name=s.name + name, options=tuple(line.replace("%s", key) for line in lines))
                    for s in (DEFAULT, HAPROXY)
                    for name, key, lines in (("", "", ()), (" src", "src", TRACKED), (" 100k", "rand(100000)", TRACKED),
                                             (" rand", "", ("http-request deny if { rand(100000) eq 100000 }",)))),
              reuse=True)
CACHED = http(tuple(replace(s, cached=True, options=("http-request cache-use pages", "http-response cache-store pages"))
                    for s in (DEFAULT, HAPROXY)), reuse=True)
CHECKED_SERVERS = 1000
CHECKED_PORT = 7
CHECK_SECONDS = 1
CHECKED = http((replace(DEFAULT, options=COSTLY, checked_servers=CHECKED_SERVERS),), reuse=True)
RELOADED = tuple(replace(s, name=s.name + " master", master=True) for s in (DEFAULT, HAPROXY, NGINX))
RELOADED += tuple(replace(s, name=s.name + " http") for s in http(RELOADED, reuse=True))
RELOADED_MIXED = tuple(replace(s, deferred=True) for s in RELOADED if s.mode == "http")
HTTP_PLAIN = http((DEFAULT, HAPROXY, NGINX, PEER))
# hitch forwards what it decrypts as it is: the row in mode tcp does the same.
TLS = tuple(replace(s, tls=True) for s in HTTP_PLAIN + (replace(DEFAULT, name="tacit tcp"), Subject("hitch", "hitch")))
# hitch cannot be told to give out no tickets.
TLS_FULL = tuple(replace(s, resumes=False) for s in TLS if s.kind != "hitch")
TLS_KEPT = tuple(replace(s, reuse=True) for s in TLS)

# nginx speaks HTTP/1 to servers only.
NGHTTPX = Subject("nghttpx", "nghttpx", mode="http")
H2 = tuple(replace(s, h2=True) for s in http((DEFAULT, HAPROXY, NGINX), reuse=True) + (NGHTTPX,))
H2_TLS = tuple(replace(s, tls=True) for s in H2)
H2_BOTH = tuple(replace(s, server_h2=True) for s in H2 if s.kind != "nginx")
RELOADED_H2 = tuple(replace(s, name=s.name + " master", master=True) for s in H2_BOTH if s.kind != "nghttpx")

TYPES = "text/html application/json"
GZIP_OF_NGINX = ("gzip on; gzip_comp_level 1; gzip_proxied any; gzip_types application/json;",)


def compressing(subject, coding):
    words = GZIP_OF_NGINX if subject.kind == "nginx" else ("compression algo " + coding, "compression type " + TYPES)
    return replace(subject, name="%s %s" % (subject.kind, coding), options=words)


def coding_of(subject):
    """The coding that a subject of these rows is asked for; None: it does not compress."""
    return subject.name.split(" ")[1] if subject.options else None


COMPRESS = tuple(replace(s, reuse=True) for s in (
    *HTTP_PLAIN[:3], *(compressing(s, "gzip") for s in HTTP_PLAIN[:3]), *(compressing(HTTP_PLAIN[0], c) for c in ("br", "zstd"))))
COMPRESS_SLOW = tuple(s for s in COMPRESS if s.kind != "nginx" and s.name not in ("tacit br", "tacit zstd"))
COMPRESS_SLOW += (replace(COMPRESS[0], name="tacit nosplice", words=("nosplice",)),)

# HAProxy's splice-auto hardly ever splices; with the other options it always does.
SPLICE = ("option splice-request", "option splice-response")
PIPES = ("maxpipes 128",)
BULK = (tacit("copy", "nosplice"), replace(tacit("splice", *PIPES), options=("option splice-auto",)),
        replace(HAPROXY, name="haproxy copy"),
        replace(HAPROXY, name="haproxy splice-auto", words=PIPES, options=("option splice-auto",)),
        replace(HAPROXY, name="haproxy splice", words=PIPES, options=SPLICE), NGINX)


def several(threads):
    """The rows with this number of workers, in the default setting."""
    what = "%d worker%s" % (threads, "s" if threads > 1 else "")
    return tuple(replace(s, name="%s %s" % (s.kind, what), threads=threads, admin=s.kind == "tacit")
                 for s in (DEFAULT, HAPROXY, PEER))


def several_tls(threads):
    """The same in mode http for clients with TLS; without a peer that may be as the one installed."""
    return tuple(replace(s, mode="http", tls=True, admin=False) for s in several(threads)[:2])


class Binaries:
    """The program of each kind, and the reason if there is none."""

    def __init__(self, tacit_path, build):
        self.build = build
        self.only = []           # if there are any: texts of which a row's name must contain one
        self.paths = {
            "tacit": tacit_path,
            "bare": os.path.join(build, "bare"),
            "haproxy": shutil.which("haproxy") or "/usr/sbin/haproxy",
            "nginx": shutil.which("nginx") or "/usr/sbin/nginx",
            "hitch": shutil.which("hitch") or "/usr/sbin/hitch",
            "nghttpx": shutil.which("nghttpx") or "/usr/sbin/nghttpx",
            "peer": os.environ.get("TACIT_BENCH_PEER", ""),
        }

    def tool(self, name):
        return os.path.join(self.build, name)

    def missing(self, kind):
        """None if it can be run, otherwise the reason."""
        path = self.paths[kind]
        if kind == "peer" and not path:
            return "TACIT_BENCH_PEER is not set"
        if not os.access(path, os.X_OK):
            return "%s is not there" % path
        if kind == "nginx" and not os.path.exists(STREAM_MODULE):
            return "libnginx-mod-stream is not installed"
        return None

    def present(self, subjects, notes):
        """The subjects that can be run; the reasons of the others go to notes, once."""
        out = []
        for s in subjects:
            if self.only and not any(text in s.name for text in self.only):
                continue
            why = self.missing(s.kind)
            if why is None:
                out.append(s)
            elif s.kind + ": " + why not in notes:
                notes.append(s.kind + ": " + why)
        return out


def certificate(world):
    """A file with a certificate for P-256 and its key."""
    path = world.path("tls.pem")
    if not os.path.exists(path):
        made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                               "-subj", "/CN=localhost", "-days", "2", "-keyout", path, "-out", path + ".crt"],
                              capture_output=True, text=True, check=False)
        if made.returncode:
            raise Failed("openssl: " + made.stderr.strip()[-200:])
        with open(path, "a", encoding="ascii") as whole, open(path + ".crt", encoding="ascii") as crt:
            whole.write(crt.read())
    return path


def http2_words(subject):
    """The words of a bind line whose clients speak HTTP/2."""
    return (" alpn h2" if subject.tls else " proto h2") if subject.h2 else ""


def haproxy_config(subject, port, servers, admin=None, beside=None, pem=None):
    """The configuration of haproxy, of a compatible peer, and of tacit: the same for all of them.

    servers: one address or several with commas between. beside: (port, address) of a second proxy in it.
    """
    lines = ["global", "    maxconn %d" % MAXCONN, "    nbthread %d" % subject.threads]
    lines += ["    stats socket " + admin] if admin else []
    lines += ["    " + w for w in subject.words]
    lines += [] if subject.resumes else ["    tune.ssl.cachesize 0", "    ssl-default-bind-options no-tls-tickets"]
    lines += ["defaults", "    mode " + subject.mode, "    timeout connect 10s", "    timeout client 1h",
              "    timeout server 1h"]
    if subject.reuse:
        lines += ["    http-reuse always"]
    if subject.tuned:
        lines += ["    option tcp-smart-accept", "    option tcp-smart-connect"]
    lines += ["listen bench", "    bind 127.0.0.1:%d%s" % (port, (" defer-accept" if subject.tuned else "") + (" ssl crt " + pem if pem else "") + http2_words(subject))]
    lines += ["    " + o for o in subject.options]
    lines += ["    server origin%d %s%s" % (i, at, " proto h2" if subject.server_h2 else "") for i, at in enumerate(servers.split(","))]
    if beside:
        lines += ["listen beside", "    bind 127.0.0.1:%d%s" % (beside[0], " defer-accept" if subject.deferred else "")] + ["    " + o for o in subject.options]
        lines += ["    server beside " + beside[1]]
    if subject.cached:
        lines += ["cache pages", "    total-max-size 4", "    max-age 3600"]
    if subject.idle_servers:
        lines += ["backend idle"] + ["    server s%d 127.0.0.1:9" % i for i in range(subject.idle_servers)]
    if subject.checked_servers:
        lines += ["backend checked"] + ["    server s%d 127.9.%d.%d:%d check inter %ds" % (
            i, i // 250, i % 250 + 1, CHECKED_PORT, CHECK_SECONDS) for i in range(subject.checked_servers)]
    return "\n".join(lines) + "\n"


def nginx_stream_config(subject, port, server, directory, beside=None):
    more = "server { listen 127.0.0.1:%d backlog=4096; proxy_pass %s; }" % beside if beside else ""
    return """load_module %s;
daemon off; master_process %s; worker_processes 1; pid %s/stream.%d.pid; error_log stderr error;
events { worker_connections 19900; }
stream {
    access_log off; proxy_connect_timeout 10s; proxy_timeout 1h;
    server { listen 127.0.0.1:%d backlog=4096; proxy_pass %s; } %s
}
"""% (STREAM_MODULE, "on" if subject.master else "off", directory, port, port, server, more)


def nginx_http_config(subject, port, server, directory, pem=None, beside=None):
    """beside: (port, address) of a second server; its origin is the same."""
    kept = 'proxy_http_version 1.1; proxy_set_header Connection "";' if subject.reuse else ""
    return """daemon off; master_process %s; worker_processes 1; pid %s/http.%d.pid; error_log stderr error;
events { worker_connections 19900; }
http {
    access_log off; keepalive_requests 1000000000; keepalive_timeout 600s; proxy_max_temp_file_size 0; %s
    client_body_temp_path %s/b; proxy_temp_path %s/p; fastcgi_temp_path %s/f; uwsgi_temp_path %s/u;
    scgi_temp_path %s/s;
    upstream origin { server %s; %s }
    server { listen 127.0.0.1:%d backlog=4096%s; %s location / { proxy_pass http://origin; %s } }
    client_max_body_size 0; proxy_request_buffering off;
}
"""% ("on" if subject.master else "off", directory, port, " ".join(subject.options),
       directory, directory, directory, directory, directory, server,
       "keepalive 128; keepalive_requests 1000000000;" if subject.reuse else "", port,
       (" http2" if subject.h2 else "") + " ssl; ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate %s; ssl_certificate_key %s%s" % (
           pem, pem, "" if subject.resumes else "; ssl_session_cache off; ssl_session_tickets off") if pem else " http2" if subject.h2 else "",
       "listen 127.0.0.1:%d backlog=4096%s;" % (beside[0], " deferred" if subject.deferred else "") if beside else "", kept)


def hitch_config(port, server, pem):
    host, _, at = server.rpartition(":")
    return """frontend = { host = "127.0.0.1" port = "%d" }
backend = "[%s]:%s"
pem-file = "%s"
tls-protos = TLSv1.2 TLSv1.3
workers = 1
daemon = off
user = "%s"
""" % (port, host, at, pem, pwd.getpwuid(os.getuid()).pw_name)


def nghttpx_words(subject, port, server, pem):
    host, _, at = server.rpartition(":")
    key = [pem, pem] if pem else []
    return ["--frontend=127.0.0.1,%d%s" % (port, "" if pem else ";no-tls"), "--workers=1", "--accesslog-file=/dev/null",
            "--backend=%s,%s%s" % (host, at, ";;proto=h2" if subject.server_h2 else ""), "--single-process",
            "--conf=/dev/null", "--errorlog-file=/dev/stderr", *key]


def nginx_origin_config(address, port, directory, closes=False, h2=False, control=""):
    return """daemon off; master_process off; worker_processes 1; pid %s/origin.%d.pid;
error_log stderr error;
events { worker_connections 9900; }
http {
    access_log off; keepalive_requests 1000000000; keepalive_timeout %s;
    client_body_temp_path %s/b; proxy_temp_path %s/p; fastcgi_temp_path %s/f; uwsgi_temp_path %s/u;
    scgi_temp_path %s/s;
    server {
        listen %s:%d backlog=4096%s; location / { default_type text/plain; %sreturn 200 "ok\\n"; }
        location = /long { alias %s/long; }
        location /text/ { types { text/html html; application/json json; } alias %s/; }
        location /up/ { dav_methods PUT; client_max_body_size 0; root %s; }
    }
}
"""% (directory, port, "0" if closes else "600s", directory, directory, directory, directory, directory, address, port,
       " http2" if h2 else "", "add_header Cache-Control %s; " % control if control else "", directory, directory, directory)


def start(world, binaries, subject, server, beside=None, under=()):
    """Starts a subject in front of server; returns its process, with .port, .subject and .admin.

    beside: the address behind a second port, .beside (not for kind bare). under: the words of a program that runs it.
    Failed when it does not listen."""
    port = free_port()
    admin = world.path("admin.%d" % port) if subject.admin else None
    second = (free_port(), beside) if beside else None
    path = binaries.paths[subject.kind]
    pem = certificate(world) if subject.tls else None
    name = "%s.%d.cfg" % (subject.kind, port)
    if subject.kind == "bare":
        argv = [path, *subject.words, "127.0.0.1:%d" % port, server]
    elif subject.kind == "nginx" and subject.mode == "http":
        argv = [path, "-c", world.write(name, nginx_http_config(subject, port, server, world.dir, pem, second))]
    elif subject.kind == "hitch":
        argv = [path, "--config=" + world.write(name, hitch_config(port, server, pem))]
    elif subject.kind == "nghttpx":
        argv = [path, *nghttpx_words(subject, port, server, pem)]
    elif subject.kind == "nginx":
        argv = [path, "-c", world.write(name, nginx_stream_config(subject, port, server, world.dir, second))]
    else:
        argv = [path, *(["-W"] if subject.master else []), "-db", "-f", world.write(name, haproxy_config(subject, port, server, admin, second, pem))]
    # Under another program it is not timed, and starts slowly.
    cpu, seconds = (None, SLOW_START_SECONDS) if under else (world.cpus_of(subject.threads), START_SECONDS)
    p = listening(world, world.spawn([*under, *argv], cpu=cpu), port, subject.name, seconds)
    p.subject, p.admin, p.beside = subject, admin, second and second[0]
    p.forwards = first_child(p.pid) if subject.kind == "hitch" else p.pid
    p.scheme = "https" if subject.tls else "http"
    return p


def first_child(pid):
    """The process that forwards, of a program that starts it first."""
    def children():
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as f:
            return f.read().split()

    wait_for(children, "a child of %d" % pid)
    return int(children()[0])


def listening(world, p, port, name, seconds=START_SECONDS):
    """Waits until the process listens on the port."""
    try:
        wait_for(lambda: p.poll() is not None or listens(p.pid, port), name, seconds)
    except Failed as why:
        said = log_of(p)
        world.forget(p)
        raise Failed("%s: %s: %s" % (name, why, said)) from None
    if p.poll() is not None:
        raise Failed("%s ended at once (%d): %s" % (name, p.returncode, log_of(p)))
    p.port = port
    return p


def start_nginx_origin(world, binaries, far=False, cpus=None, closes=False, long_bytes=LONG_BYTES, h2=False, control=""):
    """The origin that closes after each response (keep-alive on request, unless it always closes).

    /long has so many bytes. control: Cache-Control of the other responses. .address is its address."""
    path = binaries.paths["nginx"]
    if not os.access(path, os.X_OK):
        raise Failed("the origin needs nginx: " + path + " is not there")
    host = world.far_open(binaries.tool("flood")) if far else "127.0.0.1"
    if host is None:
        raise Failed("no far server here (needs root and a private network namespace)")
    port = free_port()
    with open(world.path("long"), "wb") as f:
        f.truncate(long_bytes)
    conf = world.write("origin.%d.conf" % port, nginx_origin_config(host, port, world.dir, closes, h2, control))
    p = world.spawn([path, "-c", conf], cpu=cpus or world.cpu_peers, far=far)
    p = listening(world, p, port, "nginx origin")
    p.address = "%s:%d" % (host, port)
    return p


def start_source(world, binaries, idle=False):
    """The origin of bulk transfers."""
    port = free_port()
    address = "127.0.0.1:%d" % port
    p = world.spawn([binaries.tool("bulk"), "source", address], cpu=world.cpu_peers, idle=idle)
    p = listening(world, p, port, "bulk source")
    p.address = address
    return p


def start_checked(world, binaries):
    """Starts what every checked server runs: it accepts connections."""
    p = world.spawn([binaries.tool("echo"), "hold", "0.0.0.0:%d" % CHECKED_PORT], cpu=world.cpu_peers)
    return listening(world, p, CHECKED_PORT, "the checked servers")


def start_echo(world, binaries, *how, cpu=None):
    """The echo origin, for idle connections; with "hold" it accepts connections and reads nothing."""
    port = free_port()
    address = "127.0.0.1:%d" % port
    argv = [binaries.tool("echo"), *how, address]
    p = listening(world, world.spawn(argv, cpu=world.cpu_peers if cpu is None else cpu), port, "echo")
    p.address = address
    return p
