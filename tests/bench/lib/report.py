"""Turns the samples into tables: text for the terminal, Markdown for the report."""

from . import parse, scale

TITLES = {
    "syscalls": "System calls per TCP connection, near server (clock reads apart)",
    "far": "System calls per TCP connection, far server, c=1 (clock reads apart)",
    "segments": "TCP segments per connection, c=1",
    "cpu": "CPU per TCP connection (microseconds), c=50",
    "keepalive": "CPU per request on kept connections (microseconds), c=50",
    "latency": "Latency at a fixed rate (microseconds): 3,000/s of one connection each, 10,000/s on kept ones",
    "bulk": "Long transfers: CPU of the proxy in milliseconds per GiB, and GiB per second, by streams at once (means)",
    "mixed": "Small requests (2,000/s, microseconds) alone and beside 16 long transfers in the same worker",
    "memory": "Memory of its own (anonymous pages) per idle forwarded connection, in bytes",
    "idle": "CPU of the proxy at one message per millisecond, by open connections",
    "workers": "Workers: short connections and kept ones, 48 at once (CPU of the proxy in microseconds)",
    "handover": "Every other connection handed to another of 2 workers, 48 at once (means)",
    "split": "100 connections that stay, over 2 workers: percent that the worker with most of them has",
    "ranges": "Nanoseconds per acknowledgement of a range of sends",
    "http": "HTTP, a connection per request, origin closes: system calls per request (clock reads apart)",
    "httpfar": "The same with a far server, c=1",
    "httpcpu": "HTTP, a connection per request: CPU per request (microseconds) and segments, c=50",
    "httpkept": "HTTP, kept connections with reuse: system calls per request, c=50",
    "httpkeptcpu": "HTTP, kept connections with reuse: CPU per request (microseconds), c=50",
    "tables": "Stick tables, kept connections: CPU per request (microseconds) without, with one key, and with 100,000; c=50",
    "cache": "A cache, 50 kept connections of HTTP/1: system calls and CPU (microseconds) per hit, and hits per second",
    "httpmem": "HTTP: memory of its own (anonymous pages) per kept client at rest, in bytes",
    "slow": "Small kept requests (2,000/s, microseconds) alone, beside 9,400 heads that come a byte at a time (3,133 bytes/s), "
            "and beside the same sent to a program that reads nothing; what a slow byte and a slow sender cost",
    "stat": "Small kept requests (2,000/s, microseconds) alone, and beside a reader that asks for `show stat` of 4,000 servers "
            "ten times a second",
    "checks": "1,000 health checks a second: how late they begin (milliseconds), at rest and while kept requests saturate the "
              "same worker, by clients at once",
    "reloadmix": "A reload every five seconds: what fails of 2,000 requests a second of all kinds, and of long downloads; latencies in microseconds",
    "reloadh2": "A reload every five seconds: what fails of 2,000 requests a second over 50 connections of HTTP/2, on both sides; latencies in microseconds",
    "reload": "A reload every two seconds: what fails of 2,000 connections a second, and of 1,000 requests a second on kept "
              "connections; latencies in microseconds",
    "tls": "TLS 1.3, a full handshake per request, origin closes: system calls per request (clock reads apart)",
    "tlsprompt": "TLS 1.3, a full handshake per request, the request sent at once: system calls per request (clock reads apart)",
    "tlscpu": "TLS 1.3, a full handshake per request: CPU per request (microseconds) and segments, c=50",
    "tlsresumed": "TLS 1.3, a resumed handshake per request, origin closes: system calls per request (clock reads apart)",
    "tlsresumedcpu": "TLS 1.3, a resumed handshake per request: CPU per request (microseconds) and segments, c=50",
    "tlskept": "TLS 1.3, kept connections with reuse: system calls per request, c=50",
    "tlsbulk": "TLS 1.3, one download at a time: CPU per GiB (milliseconds)",
    "tlsworkers": "TLS 1.3, full handshakes by several workers, 48 at once (CPU of the proxy in microseconds)",
    "tlsmem": "TLS 1.3: memory of its own (anonymous pages) per client at rest, in bytes",
    "tlskeptcpu": "TLS 1.3, kept connections with reuse: CPU per request (microseconds), c=50",
    "h2": "HTTP/2, 10 connections with so many requests at once: system calls per request",
    "h2cpu": "HTTP/2, 10 connections with so many requests at once: CPU per request (microseconds), and requests per second",
    "h2bulk": "HTTP/2, transfers of 1 MiB, 8 at once on each of 4 connections: CPU per GiB (milliseconds)",
    "h2reset": "HTTP/2, a million requests over 20 connections, each reset at once: what they cost, and 100 other clients (1,000 requests/s)",
    "compress": "Compressed pages of 100 kB, HTML and JSON: CPU of the proxy in milliseconds per megabyte, and how many times smaller",
    "compressmem": "Memory of its own (anonymous pages) per client that reads its download slowly (500 of them), in bytes",
    "rules": "Nanoseconds per look-up, and per change, by number of patterns; per condition of 1,000, and of one ACL of 1,000 lines",
    "instructions": "User instructions per request, by callgrind: all, and those of the program itself",
    "scale": "Large configurations: a start, when it serves, and a check",
    "ledger": "Calls that `show syscalls` and strace counted over 10,000 connections",
}
SHORT = {"accept4": "accept", "epoll_ctl": "ctl", "recvfrom": "recv", "sendto": "send", "setsockopt": "sockopt"}


# http2.CASES: with TLS of clients, HTTP/2 on both sides; the number is that of requests at once on a connection.
H2_CASES = ("m1", "m10", "tls m10", "both m10", "both m100")
# The targets of these metrics are ratios of means (targets.mean_ratio).
AVERAGED = ("bulk", "handover")


def medians(table):
    """{row: {metric: median}} of {row: {metric: [samples]}}."""
    return {name: {k: parse.median(v) for k, v in row.items()} for name, row in table.items()}


def means(table):
    return {name: {k: parse.mean(v) for k, v in row.items()} for name, row in table.items()}


def number(value, digits=1):
    if value is None:
        return "-"
    return "{:,.0f}".format(value) if digits == 0 else "{:,.{}f}".format(value, digits)


def calls_grid(rows, loads):
    """One line per row and load, with a column for each call that a row makes at least 0.05 times."""
    used = {}
    for row in rows.values():
        for key, value in row.items():
            if ":" in key and value >= 0.05:
                name = key.split(":")[1]
                used[name] = max(value, used.get(name, 0))
    names = sorted((n for n in used if n != "clock"), key=lambda n: (n != "wait", n))
    grid = [["", "c", "total", "clock"] + [SHORT.get(n, n) for n in names] + ["recv failed"]]
    for load in loads:
        for name, row in rows.items():
            if load not in row:
                continue
            failed = sum(row.get("%s!%s" % (load, n), 0) for n in ("recvfrom", "recvmsg", "read"))
            line = [name, load[1:], number(row[load], 2), number(row[load + ".clock"], 2)]
            line += [number(row.get("%s:%s" % (load, n), 0.0), 2) for n in names]
            grid.append(line + [number(failed, 2)])
    return grid


def cost_grid(rows, samples):
    grid = [["", "proxy", "+-%", "origin", "client", "sum", "segments", "sent again", "requests/s"]]
    for name, row in rows.items():
        spread = parse.spread(samples[name]["proxy"])
        grid.append([name, number(row["proxy"]), "-" if spread is None else number(100 * spread),
                     number(row["origin"]), number(row["client"]),
                     number(row["proxy"] + row["origin"] + row["client"]), number(row["segments"], 2), number(row["again"], 2),
                     number(row["rate"], 0)])
    return grid


def plain_grid(rows, columns):
    """columns: (heading, metric, digits)."""
    grid = [[""] + [c[0] for c in columns]]
    for name, row in rows.items():
        grid.append([name] + [number(row.get(c[1]), c[2]) for c in columns])
    return grid


def worst_grid(samples, metric):
    """For a metric of which the worst round counts."""
    grid = [["", "median", "worst", "rounds"]]
    for name, row in samples.items():
        values = row.get(metric, [])
        grid.append([name, number(parse.median(values)), number(max(values, default=None)), str(len(values))])
    return grid


def instruction_kinds(rows):
    return list(dict.fromkeys(m[:-len(".own")] for row in rows.values() for m in row if m.endswith(".own")))


def instructions_grid(rows):
    grid = [["", *(h for kind in instruction_kinds(rows) for h in (kind, "own"))]]
    for name, row in rows.items():
        grid.append([name] + [number(row.get(kind + part), 0) for kind in instruction_kinds(rows) for part in ("", ".own")])
    return grid


def functions_grid(row):
    """One line per place, with the functions in which most instructions are spent."""
    kinds = instruction_kinds({"": row})
    lists = [sorted(((m[len(kind) + 1:], n) for m, n in row.items() if m.startswith(kind + ":")), key=lambda f: -f[1])
             for kind in kinds]
    grid = [["", *kinds]]
    for i in range(max(map(len, lists), default=0)):
        grid.append([str(i + 1)] + ["%s %s" % (found[i][0], number(found[i][1], 0)) if i < len(found) else "" for found in lists])
    return grid


def merge_grid(rows):
    """The table that compares unmerged with merged epoll updates, per 10,000 connections with a far server."""
    before, after = rows.get("tacit unmerged"), rows.get("tacit merged")
    if not before or not after:
        return None

    def cell(row, *names):
        parts = []
        for n in names:
            text = number(1e4 * row.get("c1:" + n, 0), 0)
            failed = row.get("c1!" + n, 0)
            parts.append("%s (%s failed)" % (text, number(1e4 * failed, 0)) if failed >= 0.001 else text)
        return " / ".join(parts)

    grid = [["call", "unmerged", "merged", "saved"]]
    for names in (("wait",), ("recvfrom",), ("epoll_ctl",), ("sendto",), ("connect",),
                  ("accept4", "close", "close_range", "shutdown"), ("setsockopt", "fcntl", "socket")):
        was = sum(before.get("c1:" + n, 0) for n in names)
        now = sum(after.get("c1:" + n, 0) for n in names)
        grid.append([" / ".join(names), cell(before, *names), cell(after, *names),
                     "%.1f %%" % (100 * (1 - now / was)) if was else "-"])
    return grid


def grids(section, samples):
    """[(title, grid)] of a section."""
    rows = (means if section in AVERAGED else medians)(samples)
    title = TITLES[section]
    if not rows:
        return [(title, [["", "no data: see the notes"]])]
    if section in ("syscalls", "http", "httpkept", "tls", "tlsprompt", "tlsresumed", "tlskept"):
        return [(title, calls_grid(rows, ("c1", "c50")))]
    if section in ("far", "httpfar"):
        out = [(title, calls_grid(rows, ("c1",)))]
        merged = merge_grid(rows)
        if merged:
            out.append(("Idea one, far server, calls per 10,000 %s"
                        % ("requests" if section == "httpfar" else "connections"), merged))
        return out
    if section in ("segments", "cpu", "keepalive", "httpcpu", "httpkeptcpu", "tlscpu", "tlsresumedcpu", "tlskeptcpu", "tables"):
        return [(title, cost_grid(rows, samples))]
    if section == "instructions":
        return [(title, instructions_grid(rows))] + [
            ("Functions that cost most: " + name, functions_grid(row)) for name, row in rows.items()]
    if section == "scale":
        return [(title, scale.grid(samples))]
    if section == "latency":
        columns = [("%s %s" % (m, p), "%s.%s" % (m, p), 0)
                   for m in ("close", "keepalive") for p in ("p50", "p99", "p999")]
    elif section == "bulk":
        columns = [("%d: %s" % (n, h), "n%d.%s" % (n, k), d) for n in (1, 8, 64)
                   for h, k, d in (("ms/GiB", "cpu", 0), ("GiB/s", "rate", 2))]
    elif section == "compress":
        columns = [("%s %s" % (w, h), "%s.%s" % (w, k), d) for w in ("html", "json") for h, k, d in (("ms/MB", "cpu", 2), ("ratio", "ratio", 2))]
    elif section == "cache":
        columns = [("calls", "calls", 2), ("CPU", "cpu", 1), ("hits/s", "rate", 0)]
    elif section == "compressmem":
        columns = [("bytes", "slow", 0)]
    elif section == "mixed":
        columns = [("%s %s" % (w, p), "%s.%s" % (w, p), 0) for w in ("alone", "beside") for p in ("p50", "p99")]
        columns.append(("streams GiB/s", "beside.rate", 2))
    elif section == "slow":
        columns = [("%s %s" % (w, p), "%s.%s" % (w, p), 0) for w in ("alone", "beside", "held") for p in ("p50", "p99")]
        columns += [("p99 alone, again / first", "again.p99", 2), ("CPU per slow byte", "us", 2), ("calls", "calls", 2),
                    ("memory per sender, bytes", "memory", 0), ("bytes late by (p99)", "beside.late", 0), ("held", "held.late", 0)]
    elif section == "stat":
        columns = [("%s %s" % (w, p), "%s.%s" % (w, p), 0) for w in ("alone", "beside") for p in ("p50", "p99")]
        columns += [("answers/s", "beside.answers", 1), ("bytes of each", "beside.bytes", 0)]
    elif section == "checks":
        columns = [("%s %s" % (w, p), "%s.%s" % (w, p), 1) for w in ("rest", "c100", "c500") for p in ("p50", "p99", "max")]
        columns += [("%s: %% of a CPU %s" % (w, h), w + "." + k, 0) for w in ("c100", "c500")
                    for h, k in (("used", "busy"), ("waited for", "waited"))]
        columns += [("requests/s", "c500.rate", 0), ("checks/s", "c500.checks", 0)]
    elif section == "reload":
        columns = [("%s: %s" % (w, h), w + "." + k, 0) for w in ("close", "keepalive")
                   for h, k in (("requests", "due"), ("failed", "failed"), ("p99 alone", "alone"), ("p99", "p99"), ("worst", "max"))]
        columns += [("reloads", "close.reloads", 0)]
    elif section == "reloadmix":
        columns = [(h, k, 0) for h, k in (("requests", "due"), ("failed", "failed"), ("short", "close.failed"),
                                         ("kept", "keepalive.failed"), ("in halves", "halves.failed"),
                                         ("deferred", "late.failed"), ("downloads", "download.failed"),
                                         ("all downloads", "downloads"), ("reloads", "reloads"), ("p99", "p99"),
                                         ("p99 kept", "kept.p99"))]
    elif section == "reloadh2":
        columns = [(h, k, 0) for h, k in (("requests", "due"), ("failed", "failed"), ("sent again", "again"), ("connections", "opened"),
                                         ("reloads", "reloads"), ("p99", "p99"))]
    elif section == "h2reset":
        columns = [("seconds", "s", 1), ("us each", "us", 2), ("server connections", "opened", 0), ("memory, bytes", "bytes", 0),
                   ("closed", "closed", 0), ("p99 alone", "alone", 0), ("p99 beside", "beside", 0), ("others failed", "failed", 0)]
    elif section == "h2":
        columns = [(case, case, 3) for case in H2_CASES]
    elif section == "h2cpu":
        columns = [(case + what, case + metric, digits) for case in H2_CASES
                   for what, metric, digits in (("", ".proxy", 1), (" req/s", ".rate", 0))]
    elif section == "h2bulk":
        columns = [("down", "down", 0), ("up", "up", 0)]
    elif section == "tlsbulk":
        columns = [("ms/GiB", "cpu", 0)]
    elif section == "tlsworkers":
        columns = [("handshakes/s", "rate", 0), ("CPU per connection", "proxy", 1), ("futex calls per connection", "futex", 2)]
    elif section == "tlsmem":
        columns = [("4,000", "n", 0)]
    elif section in ("memory", "httpmem"):
        columns = [("1,000", "n1000", 0), ("9,000", "n9000", 0)]
    elif section == "ranges":
        columns = [("fast path", "fast", 2), ("set alone", "set", 2), ("insert and remove, general set", "tree", 2)]
    elif section == "rules":
        columns = [(n, "n" + n.replace(",", ""), 1) for n in ("10", "1,000", "100,000")]
        columns += [("1,000 conditions, each", "apart", 1), ("one of 1,000 lines", "together", 1)]
    elif section == "workers":
        columns = [("requests/s", "close.rate", 0), ("CPU per connection", "close.proxy", 1),
                   ("requests/s, kept", "kept.rate", 0), ("CPU per request", "kept.proxy", 2),
                   ("eventfd writes per connection", "close.writes", 4), ("handed over", "close.handed", 4),
                   ("busiest accepts %", "close.accepted", 1), ("serves %", "close.served", 1)]
    elif section == "handover":
        columns = [("handed over/s", "handed", 0), ("% of all", "share", 1), ("eventfd writes each", "writes", 4),
                   ("target awake", "awake", 4), ("one write for several", "batch", 4),
                   ("woken for nothing", "empty", 4), ("CPU per connection", "proxy", 1), ("requests/s", "rate", 0)]
    elif section == "split":
        return [(title, worst_grid(samples, "larger"))]
    elif section == "ledger":
        columns = [("calls", "calls", 0), ("differ", "differ", 0)]
    else:
        columns = [("%s: %s" % (n, h), "n%s.%s" % (n, k), d) for n in (100, 2000, 9000)
                   for h, k, d in (("CPU %", "percent", 2), ("p99 us", "p99", 0))]
    return [(title, plain_grid(rows, columns))]


def markdown(about, results, pictures, tables, notes):
    """The whole report. pictures: {section: [file]}; tables: (title, grid) after those of the sections."""
    parts = ["# tacit: measurements", "", "%(machine)s; medians of %(rounds)d interleaved rounds; %(when)s." % about]
    for name, samples in results.items():
        for title, grid in grids(name, samples):
            parts += ["", "## " + title, "", markdown_table(grid)]
        for file in pictures.get(name, ()):
            parts += ["", "![%s](%s)" % (TITLES[name], file)]
    for title, grid in tables:
        parts += ["", "## " + title, "", markdown_table(grid)]
    parts += ["", "## Notes", ""] + ["- " + n for n in notes or ["none"]]
    return "\n".join(parts) + "\n"


def text_table(grid):
    widths = [max(len(line[i]) for line in grid if i < len(line)) for i in range(max(map(len, grid)))]
    lines = []
    for line in grid:
        cells = [c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def markdown_table(grid):
    lines = ["| " + " | ".join(grid[0]) + " |", "|" + "|".join(["---"] + ["---:"] * (len(grid[0]) - 1)) + "|"]
    lines += ["| " + " | ".join(line) + " |" for line in grid[1:]]
    return "\n".join(lines)
