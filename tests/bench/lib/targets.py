"""The targets of the measurements: each with its value and its verdict. Pure."""

from collections import namedtuple

from . import parse, scale

Verdict = namedtuple("Verdict", "section what bound value verdict")

# Calls per connection, TCP close, near server: the gate uses these, too.
GATE = {"c50": 10.0, "c1": 15.1}
# The same of mode http, per request.
HTTP_GATE = {"c50": 10.0, "c1": 13.0}
HTTP_PEERS = ("haproxy", "nginx")
TLS_PEERS = (*HTTP_PEERS, "hitch")
# the requests whose instructions are counted
INSTRUCTION_KINDS = ("TCP, kept", "TCP, closed", "HTTP, kept", "HTTP, closed", "TLS, kept")
SLOW_P99 = "p99 of kept requests beside slow senders / beside the same with nobody reading, tacit"


def value(rows, row, metric):
    return parse.median(rows.get(row, {}).get(metric, []))


def ratio(rows, mine, theirs, metric, other=None):
    """The ratio of one metric of two rows, or of two metrics of one row."""
    return parse.paired(rows.get(mine, {}).get(metric), rows.get(theirs, {}).get(other or metric))


def mean_ratio(rows, mine, theirs, metric):
    """The same for costs: each round did the same work, so the means are the total cost.

    For values with two modes, or that differ less than the rounds: a median is unsuitable there."""
    return parse.of_means(rows.get(mine, {}).get(metric), rows.get(theirs, {}).get(metric))


def saved(before, after):
    """The share of calls that were saved, in percent."""
    return 100 * (before - after) / before if after is not None and before else None


def at_most(section, what, bound, got, digits=2):
    return judge(section, what, "<=", bound, got, digits, got is not None and got <= bound)


def at_least(section, what, bound, got, digits=2):
    return judge(section, what, ">=", bound, got, digits, got is not None and got >= bound)


def judge(section, what, sign, bound, got, digits, good):
    if got is None:
        return Verdict(section, what, "%s %g" % (sign, bound), "-", "no data")
    return Verdict(section, what, "%s %g" % (sign, bound), "%.*f" % (digits, got), "pass" if good else "MISS")


def syscalls(rows):
    out = []
    for load, bound in GATE.items():
        out.append(at_most("syscalls", "calls per connection, near, c=%s" % load[1:], bound,
                           value(rows, "tacit default", load)))
    for load in ("c1", "c50"):
        out.append(at_most("syscalls", "clock reads per wait, c=%s" % load[1:], 1,
                           ratio(rows, "tacit default", "tacit default", load + ".clock", load + ".waits")))
    return out


def far(rows):
    out = []
    for what, call, bound in (("epoll_ctl", "epoll_ctl", 20), ("recv", "recvfrom", 20), ("epoll_wait", "wait", 16)):
        out.append(at_least("far", "merged saves %% of %s against unmerged" % what, bound,
                            saved(value(rows, "tacit unmerged", "c1:" + call),
                                  value(rows, "tacit merged", "c1:" + call)), 1))
    out.append(at_most("far", "epoll_ctl per connection, edge", 2, value(rows, "tacit edge", "c1:epoll_ctl")))
    out.append(at_most("far", "calls per connection, default", 19, value(rows, "tacit default", "c1")))
    return out


def cpu(rows):
    out = [at_most("cpu", "segments per connection, default", 18.2, value(rows, "tacit default", "segments")),
           at_most("cpu", "segments per connection, tuned", 15.2, value(rows, "tacit tuned", "segments"))]
    for mine, peer, bound in (("tacit default", "bare", 1.08), ("tacit tuned", "bare tuned", 1.08),
                              ("tacit default", "haproxy", 0.92), ("tacit tuned", "haproxy tuned", 0.92)):
        out.append(at_most("cpu", "CPU per connection, %s / %s" % (mine, peer), bound,
                           ratio(rows, mine, peer, "proxy")))
    return out


def keepalive(rows):
    return [at_most("keepalive", "CPU per kept request, tacit default / %s" % peer, bound,
                    ratio(rows, "tacit default", peer, "proxy"))
            for peer, bound in (("bare", 1.06), ("nginx", 1.0))]


def bulk(rows):
    return [at_most("bulk", "CPU per GiB%s, %d at once, tacit %s / haproxy %s" % (all_of_it, n, how, how), bound,
                    get(rows, "tacit " + how, "haproxy " + how, "n%d.cpu" % n))
            for how, bound in (("splice", 0.95), ("copy", 0.75)) for n in (1, 8, 64)
            for all_of_it, get in (("", ratio), (" of all rounds", mean_ratio))]


def mixed(rows):
    return [at_most("mixed", "p99 of small requests beside 16 streams / alone, tacit %s" % how, 2,
                    ratio(rows, "tacit " + how, "tacit " + how, "beside.p99", "alone.p99"))
            for how in ("splice", "copy")]


def memory(rows):
    return [at_most("memory", "bytes per idle connection at 9,000", 1024, value(rows, "tacit default", "n9000"), 0)]


def idle(rows):
    return [at_most("idle", "CPU at 1 message/ms, 9,000 / 100 connections, epoll", 1.10,
                    ratio(rows, "tacit epoll", "tacit epoll", "n9000.percent", "n100.percent"))]


def ledger(rows):
    return [at_most("ledger", "calls on which show syscalls and strace differ", 0, value(rows, "tacit default", "differ"), 0)]


def workers(rows):
    return [at_most("workers", "eventfd writes per connection, 2 workers, default", 0.05,
                    value(rows, "tacit 2 workers", "close.writes"), 4)]


def handover(rows):
    on, off = "tacit elision on", "tacit elision off"
    return [at_least("handover", "% of the eventfd writes of a hand-over that elision saves", 80,
                     saved(value(rows, off, "writes"), value(rows, on, "writes")), 1),
            at_most("handover", "CPU per connection, elision on / off", 1, ratio(rows, on, off, "proxy"), 3),
            at_most("handover", "CPU per connection of all rounds, elision on / off", 1,
                    mean_ratio(rows, on, off, "proxy"), 3)]


def split(rows):
    return [at_most("split", "% of 100 connections on one of 2 workers, the worst round", 60,
                    max(rows.get("tacit 2 workers", {}).get("larger", []), default=None), 0)]


def ranges(rows):
    return [at_least("ranges", "insert and remove in a %s / in order" % what, 10,
                     ratio(rows, "in-order", "in-order", metric, "fast"))
            for what, metric in (("general set", "tree"), ("set without the fast path", "set"))]


def rules(rows):
    """A look-up among a hundred times as many patterns costs less than four times as much; in a list it would cost a
    hundred times as much."""
    return [at_most("rules", "%s: a look-up among %s patterns / among %s" % (what, many, few), 4,
                    ratio(rows, what, what, "n" + many.replace(",", ""), "n" + few.replace(",", "")))
            for what in ("exact", "prefix", "ip") for few, many in (("10", "1,000"), ("1,000", "100,000"))]


def to_the_better(rows, mine, peers, metric):
    """Compared with the best of the peers: the largest ratio, if all of them were measured."""
    got = [ratio(rows, mine, peer, metric) for peer in peers]
    return None if None in got else max(got)


def http(rows):
    out = [at_most("http", "calls per request, close, c=%s" % load[1:], bound, value(rows, "tacit default", load))
           for load, bound in HTTP_GATE.items()]
    return out + [at_most("http", "epoll_ctl per request, close, c=%s" % load[1:], 1,
                          value(rows, "tacit default", load + ":epoll_ctl")) for load in HTTP_GATE]


def httpfar(rows):
    return [at_least("httpfar", "merged saves %% of %s against unmerged" % what, 33,
                     saved(value(rows, "tacit unmerged", "c1:" + call), value(rows, "tacit merged", "c1:" + call)), 1)
            for what, call in (("epoll_ctl", "epoll_ctl"), ("recv", "recvfrom"))]


def httpcpu(rows):
    return [at_most("httpcpu", "CPU per request, close, tacit default / the better of haproxy and nginx", 0.92,
                    to_the_better(rows, "tacit default", HTTP_PEERS, "proxy")),
            at_most("httpcpu", "segments per request, close, default", 18, value(rows, "tacit default", "segments")),
            at_most("httpcpu", "segments per request, close, tuned", 14.5, value(rows, "tacit tuned", "segments"))]


def httpkept(rows):
    total, waits = (value(rows, "tacit default", m) for m in ("c50", "c50.waits"))
    return [at_most("httpkept", "calls per kept request beside epoll_wait, c=50", 4.1,
                    None if total is None or waits is None else total - waits)]


def httpkeptcpu(rows):
    return [at_most("httpkeptcpu", "CPU per kept request, tacit default / the better of haproxy and nginx", 0.95,
                    to_the_better(rows, "tacit default", HTTP_PEERS, "proxy"))]


def compress(rows):
    out = []
    for kind in ("html", "json"):
        for mine, peer, cpu, least in (("gzip", "haproxy gzip", 0.6, 1.1), ("br", "nginx gzip", 1, 1), ("zstd", "nginx gzip", 1, 1)):
            mine = "tacit " + mine
            out += [at_most("compress", "CPU per MB of %s, %s / %s" % (kind, mine, peer), cpu, ratio(rows, mine, peer, kind + ".cpu")),
                    at_least("compress", "ratio of %s, %s / %s" % (kind, mine, peer), least, ratio(rows, mine, peer, kind + ".ratio"))]
    return out


def compressmem(rows):
    return [at_most("compressmem", "memory of slow clients, tacit gzip / no compression%s" % how, 1.05, ratio(rows, "tacit gzip", peer, "slow"))
            for peer, how in (("tacit default", ""), ("tacit nosplice", " nor splicing"))]


def httpmem(rows):
    return [at_most("httpmem", "bytes per idle kept client at 9,000", 1024, value(rows, "tacit default", "n9000"), 0)]


def slow(rows):
    """A wait and a recv for every few bytes, and sometimes a setsockopt for the low-water mark: below one call per
    byte."""
    mine = "tacit default"
    return [at_most("slow", "p99 of kept requests beside slow senders / alone, tacit", 1.10,
                    ratio(rows, mine, mine, "beside.p99", "alone.p99")),
            at_most("slow", SLOW_P99, 1.10, ratio(rows, mine, mine, "beside.p99", "held.p99")),
            at_most("slow", "calls per slow byte", 1, value(rows, mine, "calls")),
            at_most("slow", "CPU per slow byte, tacit default / haproxy", 1, ratio(rows, mine, "haproxy", "us"))]


def stat(rows):
    return [at_most("stat", "p99 of kept requests beside a reader of show stat, 4,000 servers / alone, %s" % row, 1.10,
                    ratio(rows, row, row, "beside.p99", "alone.p99"))
            for row in ("tacit default", "tacit 2 workers")]


def checks(rows):
    """Beside the most clients, a turn of the loop serves all of them before it comes to its timers."""
    return [at_most("checks", "ms by which checks begin late (p99), saturated, %d clients" % n, 50,
                    value(rows, "tacit default", "c%d.p99" % n), 1) for n in (100, 500)]


def reload(rows):
    """An idle connection that is closed may cross a request on its way: no proxy can avoid that."""
    mine = "tacit default master http"
    return [at_most("reload", "connections that fail over reloads, %s" % row, 0, value(rows, row, "close.failed"), 0)
            for row in ("tacit default master", mine)] + [
        at_most("reload", "requests on kept connections that fail over reloads, tacit / haproxy", 1,
                ratio(rows, mine, "haproxy master http", "keepalive.failed"))]


def reload_mixed(rows):
    return [at_most("reloadmix", "requests of all kinds that fail over reloads", 0,
                    value(rows, "tacit default master http", "failed"), 0)]


def reload_h2(rows):
    return [at_most("reloadh2", "requests of HTTP/2 that fail over reloads", 0, value(rows, "tacit default master", "failed"), 0)]


def h2_reset(rows):
    """A few may be read without their resets: it is not known yet that they are not wanted any more."""
    return [at_most("h2reset", "server connections for a million requests that are reset at once", 1000,
                    value(rows, "tacit default", "opened"), 0),
            at_most("h2reset", "bytes of memory that they take", 1 << 20, value(rows, "tacit default", "bytes"), 0),
            at_most("h2reset", "requests of others that fail meanwhile", 0, value(rows, "tacit default", "failed"), 0),
            at_most("h2reset", "p99 of others, beside / alone", 1.5, ratio(rows, "tacit default", "tacit default", "beside", "alone"))]


def tls(rows):
    return [at_most("tls", "calls per request, full handshake, c=50", 13, value(rows, "tacit default", "c50")),
            at_most("tls", "getpid per request", 0, value(rows, "tacit default", "c50:getpid") or 0)]


def tlsprompt(rows):
    return [at_most("tlsprompt", "calls per request, full handshake, the request sent at once, c=50", 13,
                    value(rows, "tacit default", "c50"))]


def tlscpu(rows):
    return [at_most("tlscpu", "CPU per request, full handshake, tacit default / the best of haproxy, nginx and hitch", 0.90,
                    to_the_better(rows, "tacit default", TLS_PEERS, "proxy")),
            at_most("tlscpu", "segments per request, full handshake", 22, value(rows, "tacit default", "segments"))]


def tlsresumed(rows):
    return [at_most("tlsresumed", "calls per request, resumed, c=50", 12, value(rows, "tacit default", "c50"))]


def tlsresumedcpu(rows):
    return [at_most("tlsresumedcpu", "CPU per request, resumed, tacit default / the best of haproxy, nginx and hitch", 0.85,
                    to_the_better(rows, "tacit default", TLS_PEERS, "proxy"))]


def tlskept(rows):
    total, waits = (value(rows, "tacit default", m) for m in ("c50", "c50.waits"))
    return [at_most("tlskept", "calls per kept request beside epoll_wait, c=50", 4.1,
                    None if total is None or waits is None else total - waits)]


def tlskeptcpu(rows):
    return [at_most("tlskeptcpu", "CPU per kept request, tacit default / the better of haproxy and nginx", 0.90,
                    to_the_better(rows, "tacit default", HTTP_PEERS, "proxy")),
            at_most("tlskeptcpu", "CPU per kept request, tacit in mode tcp / hitch", 0.90,
                    ratio(rows, "tacit tcp", "hitch", "proxy"))]


def tlsbulk(rows):
    return [at_most("tlsbulk", "CPU per GiB, tacit in mode tcp / hitch", 0.95, ratio(rows, "tacit tcp", "hitch", "cpu"))]


def tlsworkers(rows):
    return [at_most("tlsworkers", "futex calls per full handshake, 4 workers", 0.05, value(rows, "tacit 4 workers", "futex"))]


def tlsmem(rows):
    return [at_most("tlsmem", "bytes per TLS client at rest, tacit default / haproxy", 0.60,
                    ratio(rows, "tacit default", "haproxy", "n")),
            at_most("tlsmem", "bytes per TLS client at rest, tacit in mode tcp / hitch", 0.60,
                    ratio(rows, "tacit tcp", "hitch", "n"))]


def h2(rows):
    return [at_most("h2", "calls per request, %s" % case, bound, value(rows, "tacit default", case), 3)
            for case, bound in (("m1", 4.2), ("m10", 2.3), ("both m10", 0.7), ("both m100", 0.15))]


def h2cpu(rows):
    return [at_most("h2cpu", "CPU per request, %s, tacit default / haproxy" % case, bound,
                    ratio(rows, "tacit default", "haproxy", case + ".proxy"))
            for case, bound in (("m10", 0.8), ("both m10", 0.6))]


def tables(rows):
    return [at_most("tables", "CPU per kept request, %s, tracked / not: %s" % (who, what), bound,
                    ratio(rows, who + name, who + base, "proxy"))
            for who in ("tacit default", "haproxy")
            for what, name, base, bound in (("one key", " src", "", 1.03), ("100,000 keys", " 100k", " rand", 1.05))]


def cache(rows):
    return [at_most("cache", "calls per hit", 2.1, value(rows, "tacit default", "calls")),
            at_most("cache", "CPU per hit, tacit default / haproxy", 0.5, ratio(rows, "tacit default", "haproxy", "cpu"))]


def scaled(rows):
    return [at_most("scale", "%s: %s" % (words, what), 0.9, ratio(rows, "tacit default", "haproxy", "%s.%s" % (name, metric)))
            for name, words, _, _ in scale.CASES for metric, what in scale.METRICS]


CHECKS = {"syscalls": syscalls, "far": far, "cpu": cpu, "keepalive": keepalive, "bulk": bulk, "mixed": mixed,
          "memory": memory, "idle": idle,
          "workers": workers, "handover": handover, "split": split, "ranges": ranges, "rules": rules, "ledger": ledger,
          "http": http, "httpfar": httpfar, "httpcpu": httpcpu, "httpkept": httpkept, "httpkeptcpu": httpkeptcpu,
          "compress": compress, "compressmem": compressmem, "httpmem": httpmem, "tables": tables, "cache": cache, "slow": slow, "stat": stat,
          "checks": checks, "reload": reload, "reloadmix": reload_mixed, "reloadh2": reload_h2, "h2reset": h2_reset, "tls": tls, "tlsprompt": tlsprompt, "tlscpu": tlscpu,
          "tlsresumed": tlsresumed, "tlsresumedcpu": tlsresumedcpu, "tlskept": tlskept, "tlskeptcpu": tlskeptcpu,
          "tlsbulk": tlsbulk, "tlsmem": tlsmem, "tlsworkers": tlsworkers, "h2": h2, "h2cpu": h2cpu, "scale": scaled}


def verdicts(results):
    """All verdicts over {section: {row: {metric: [samples]}}}, for the sections that ran."""
    return [v for name, check in CHECKS.items() if name in results for v in check(results[name])]


def grid(found):
    return [["target", "section", "bound", "value", "verdict"]] + [
        [v.what, v.section, v.bound, v.value, v.verdict] for v in found]
