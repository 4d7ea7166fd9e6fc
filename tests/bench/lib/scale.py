"""The section about large configurations: the CPU time until the program serves, the memory that it then has and the
most that it had until then; and the CPU time of a mere check (`-c`).

In each round each program starts with each configuration in turn, alone on one CPU. It serves when it has answered a
request and its CPU time does not grow any more."""

import datetime
import http.client
import os
import time

from . import parse, probe, subjects as S
from .measuring import ERRORS
from .world import Failed, free_port, listens, log_of, wait_for

START_SECONDS = 300     # HAProxy needs seconds for 20,000 ACLs
STEP = 0.05             # between two looks at its CPU time
MAPPED, NETWORKS, ACLS, CERTIFICATES, BACKENDS, SERVERS = 1000000, 500000, 20000, 5000, 2000, 10

HEAD = """global
    maxconn 2000
    nbthread 1
defaults
    mode http
    timeout connect 10s
    timeout client 1h
    timeout server 1h
listen ready
    bind 127.0.0.1:%d
    monitor-uri /ready
"""
FRONT = """frontend front
    bind 127.0.0.1:%d%s
%s    default_backend b0
"""
BACKEND = "backend b0\n    server s0 127.0.0.1:9\n"


def mapped(world, n):
    """A map of hosts, sorted: HAProxy takes up to four times as long for one that is not."""
    path = world.write("hosts.map", "".join("host%d.example.com b0\n" % i for i in range(n)))
    return FRONT % (free_port(), "", "    use_backend %%[req.hdr(host),lower,map(%s,b0)]\n" % path) + BACKEND


def networks(world, n):
    path = world.write("networks.lst", "".join("%d.%d.%d.0/24\n" % (1 + (i >> 16), i >> 8 & 255, i & 255) for i in range(n)))
    return FRONT % (free_port(), "", "    acl known src -f %s\n    use_backend b0 if known\n" % path) + BACKEND


def acls(_world, n):
    lines = "".join("    acl a%d hdr(host) -i name%d\n" % (i, i) for i in range(n))
    return FRONT % (free_port(), "", lines + "    use_backend b0 if a0\n") + BACKEND


def make_certificates(directory, n):
    """Certificates for P-256 with a key each."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    today = datetime.datetime(2026, 1, 1)
    os.mkdir(directory)
    for i in range(n):
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "host%d.example.com" % i)])
        made = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
                .serial_number(i + 1).not_valid_before(today).not_valid_after(today + datetime.timedelta(days=3650))
                .add_extension(x509.SubjectAlternativeName([x509.DNSName("host%d.example.com" % i)]), False)
                .sign(key, hashes.SHA256()))
        with open(os.path.join(directory, "host%d.pem" % i), "wb") as f:
            f.write(made.public_bytes(serialization.Encoding.PEM))
            f.write(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                      serialization.NoEncryption()))


def certificates(world, n):
    make_certificates(world.path("certificates"), n)
    return FRONT % (free_port(), " ssl crt " + world.path("certificates"), "") + BACKEND


def backends(_world, n):
    servers = "".join("    server s%d 127.0.0.%d:9\n" % (i, i + 1) for i in range(SERVERS))
    return FRONT % (free_port(), "", "") + "".join("backend b%d\n%s" % (i, servers) for i in range(n))


# Large configurations: (its name in the metrics, the same in words, how many, what writes the configuration).
CASES = (("map", "map of 1,000,000 hosts", MAPPED, mapped), ("networks", "src -f with 500,000 networks", NETWORKS, networks),
         ("acls", "20,000 acl lines", ACLS, acls), ("certificates", "5,000 certificates", CERTIFICATES, certificates),
         ("backends", "2,000 backends with 10 servers", BACKENDS, backends))
METRICS = (("cpu", "CPU until it serves / haproxy"), ("rss", "memory when it serves / haproxy"),
           ("peak", "most memory until then / haproxy"), ("check", "CPU of -c / haproxy"))


def is_ready(port):
    """True if the program answers a request."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
        connection.request("GET", "/ready")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def cpu_at_rest(pid):
    before, now = -1, probe.cpu_ns(pid)
    while now != before:
        time.sleep(STEP)
        before, now = now, probe.cpu_ns(pid)
    return now


def memory(pid):
    """In MB: what it has, its share of that, and the most that it had."""
    with open("/proc/%d/status" % pid, encoding="ascii") as f:
        status = f.read()
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as f:
        share = parse.kb(f.read(), "Pss")
    return {"rss": parse.kb(status, "VmRSS") / 1024, "pss": share / 1024, "peak": parse.kb(status, "VmHWM") / 1024}


def started(run, path, config, port):
    """CPU in milliseconds and memory in MB of a start."""
    p = run.world.spawn([path, "-db", "-f", config], cpu=run.world.cpus_of(1))
    try:
        wait_for(lambda: p.poll() is not None or listens(p.pid, port) and is_ready(port), "the start", START_SECONDS)
        if p.poll() is not None:
            raise Failed("it ended (%d): %s" % (p.returncode, log_of(p)))
        cpu = cpu_at_rest(p.pid)
        return {"cpu": cpu / 1e6, **memory(p.pid)}
    finally:
        run.world.forget(p)


def checked(run, path, config):
    """CPU in milliseconds of a check. Its memory is not told: the kernel counts what it had before it was executed."""
    p = run.world.spawn([path, "-c", "-f", config], cpu=run.world.cpus_of(1))
    try:
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        if p.returncode:
            raise Failed("-c: %d: %s" % (p.returncode, log_of(p)))
        return {"check": (usage.ru_utime + usage.ru_stime) * 1e3}
    finally:
        run.world.forget(p)


def configurations(run):
    """{case: (the path of its configuration, the port of its answers)}, without those that cannot be made."""
    made = {}
    for name, _, count, lines in CASES:
        port = free_port()
        try:
            made[name] = run.world.write(name + ".cfg", HEAD % port + lines(run.world, run.n(count))), port
        except (ImportError, *ERRORS) as why:
            run.notes.append("scale: %s: %s" % (name, why))
    return made


def scale(run):
    """CPU and memory of a start and of a check, by what is large."""
    table, broken = {}, set()
    made = configurations(run)
    rows = run.binaries.present((S.DEFAULT, S.HAPROXY, S.PEER), run.notes)
    for _ in range(run.reps):
        for name, (config, port) in made.items():
            for subject in rows:
                path = run.binaries.paths[subject.kind]
                if (subject.name, name) in broken:
                    continue
                try:
                    sample = {**started(run, path, config, port), **checked(run, path, config)}
                except ERRORS as why:
                    broken.add((subject.name, name))
                    run.notes.append("scale: %s: %s: %s" % (subject.name, name, why))
                    continue
                row = table.setdefault(subject.name, {})
                for key, value in sample.items():
                    row.setdefault("%s.%s" % (name, key), []).append(value)
    return table


def grid(samples):
    """One line for each case and program: medians, and the least CPU time."""
    lines = [["", "", "CPU ms", "least", "RSS MB", "Pss MB", "most MB", "-c: CPU ms", "least"]]
    for name, words, _, _ in CASES:
        for row, metrics in samples.items():
            got = {k: metrics.get("%s.%s" % (name, k), []) for k in ("cpu", "rss", "pss", "peak", "check")}
            if got["cpu"]:
                shown = [parse.median(got["cpu"]), min(got["cpu"])] + [parse.median(got[k]) for k in ("rss", "pss", "peak")]
                shown += [parse.median(got["check"]), min(got["check"])]
                lines.append([words, row] + ["%.0f" % v for v in shown])
    return lines


SECTIONS = {"scale": scale}
