"""Parses the output of the kernel and of tools, and computes statistics. Pure: no files, no processes."""

import re

CLOCK_CALLS = ("clock_gettime", "gettimeofday", "time", "clock_getres")
WAIT_CALLS = ("epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6")
BETWEEN = ("restart_syscall",)  # strace's name for a wait that it interrupted by attaching


def strace_counts(text):
    """The table of `strace -c`: {name: (calls, errors)}. Raises ValueError when there is none."""
    counts, inside = {}, False
    for line in text.splitlines():
        words = line.split()
        if line.startswith("------"):
            if inside:
                return counts
            inside = True
        elif inside and len(words) in (5, 6):
            errors = int(words[4]) if len(words) == 6 else 0
            name = words[-1]
            if name not in BETWEEN:
                calls, before = counts.get(name, (0, 0))
                counts[name] = (calls + int(words[3]), before + errors)
    raise ValueError("no strace summary in: %r" % text[-200:])


def split_calls(counts):
    """(calls without clock reads, the waits among them, clock reads) of a table of strace_counts."""
    clock = sum(n for name, (n, _) in counts.items() if name in CLOCK_CALLS)
    waits = sum(n for name, (n, _) in counts.items() if name in WAIT_CALLS)
    return sum(n for n, _ in counts.values()) - clock, waits, clock


def ledger_counts(text):
    """The table of `show syscalls`: {name: (calls, failed calls, interrupted or worse)}."""
    out = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 6 and words[0] not in ("#", "total"):
            total, _, again, error = map(int, words[1:5])
            out[words[0]] = (total, again + error, error)
    return out


def between(before, after, less=None):
    """The calls between two tables of a ledger, without those of a third interval."""
    none = (0, 0, 0)
    return {name: tuple(b - a - c for a, b, c in zip(before.get(name, none), now, (less or {}).get(name, none)))
            for name, now in after.items()}


def disagreement(ledger, strace):
    """[(name, (calls, failed) by the ledger, the same by strace)] where the two differ.

    Clock reads need not enter the kernel. strace interrupts one wait when it attaches and another when it detaches:
    the ledger counts both as failed, strace does not, so failed waits are not compared."""
    out = []
    for name in sorted(set(ledger) | set(strace)):
        if name in CLOCK_CALLS:
            continue
        calls, failed, error = ledger.get(name, (0, 0, 0))
        ours, theirs = (calls, failed), strace.get(name, (0, 0))
        if name in WAIT_CALLS:
            ours, theirs = (calls - error, 0), (theirs[0] - theirs[1], 0)
        if ours != theirs:
            out.append((name, ours, theirs))
    return out


def activity(text):
    """The lines of `show activity`: {name: [number of each worker]}."""
    out = {}
    for line in text.splitlines():
        found = re.match(r"(\w+): (\d+)(?: \[ ([\d ]+) \])?$", line)
        if found:
            out[found[1]] = [int(n) for n in (found[3] or found[2]).split()]
    return out


def grown(before, after):
    """The difference between two tables of activity() for each worker."""
    return {name: [b - a for a, b in zip(before.get(name, [0] * len(now)), now)] for name, now in after.items()}


def larger(shares):
    """The share of the largest number, in percent; None for no numbers."""
    return 100 * max(shares) / sum(shares) if sum(shares) else None


def accepted(counts):
    """Number of connections that a process accepted."""
    return sum(calls - errors for name, (calls, errors) in counts.items() if name in ("accept", "accept4"))


def per_connection(counts, connections):
    """{name: calls per connection}; the kinds of waits have one name, and so have the two calls that close."""
    out = {}
    for name, (calls, _) in counts.items():
        key = "wait" if name in WAIT_CALLS else "clock" if name in CLOCK_CALLS else name
        out[key] = out.get(key, 0.0) + calls / connections
    return out


def snmp(text, proto, field):
    """One number of /proc/net/snmp, e.g. Tcp OutSegs."""
    names = None
    for line in text.splitlines():
        head, _, rest = line.partition(":")
        if head != proto:
            continue
        if names is None:
            names = rest.split()
        else:
            return int(rest.split()[names.index(field)])
    raise ValueError("no %s %s" % (proto, field))


def schedstat(text):
    """CPU nanoseconds from the text of one task's schedstat."""
    return int(text.split()[0])


def anonymous_kb(text):
    """Anonymous memory in KiB from the text of smaps_rollup: pages of files come and go."""
    return kb(text, "Anonymous")


def kb(text, name):
    """A value in KiB from the text of smaps_rollup or status."""
    found = re.search(r"^%s:\s+(\d+) kB$" % name, text, re.M)
    if not found:
        raise ValueError("no %s line" % name)
    return int(found[1])


class LoadFailed(Exception):
    """The load generator did not complete its work."""


def ab_result(text, wanted):
    """Requests per second of `ab`; LoadFailed unless all requests succeeded."""
    done = re.search(r"^Complete requests:\s+(\d+)", text, re.M)
    failed = re.search(r"^Failed requests:\s+(\d+)", text, re.M)
    wrong = re.search(r"^Non-2xx responses:\s+(\d+)", text, re.M)
    rate = re.search(r"^Requests per second:\s+([\d.]+)", text, re.M)
    if not (done and failed and rate):
        raise LoadFailed("ab: " + text.strip()[-200:])
    if int(done[1]) != wanted or int(failed[1]) or wrong:
        raise LoadFailed("ab: %s of %d complete, %s failed, %s not 2xx"
                         % (done[1], wanted, failed[1], wrong[1] if wrong else 0))
    return float(rate[1])


def h2load_result(text, wanted):
    """Requests per second of `h2load`; LoadFailed unless all requests had a response of 2xx."""
    rate = re.search(r"^finished in \S+, ([\d.]+) req/s", text, re.M)
    done = re.search(r"^requests: .* (\d+) succeeded, (\d+) failed", text, re.M)
    good = re.search(r"^status codes: (\d+) 2xx", text, re.M)
    if not (rate and done and good):
        raise LoadFailed("h2load: " + text.strip()[-200:])
    if (int(done[1]), int(done[2]), int(good[1])) != (wanted, 0, wanted):
        raise LoadFailed("h2load: %s of %d succeeded, %s failed, %s were 2xx" % (done[1], wanted, done[2], good[1]))
    return float(rate[1])


def wrk_result(text):
    """Requests per second of `wrk`; LoadFailed if any failed."""
    rate = re.search(r"^Requests/sec:\s+([\d.]+)", text, re.M)
    wrong = re.search(r"^\s*(Socket errors|Non-2xx or 3xx responses):.*", text, re.M)
    if wrong or not rate or not float(rate[1]):
        raise LoadFailed("wrk: " + (wrong[0] if wrong else text).strip()[-200:])
    return float(rate[1])


def key_values(line):
    """{"p50": 12.0, ...} from a line "p50=12 ..." of the benchmark's tools."""
    out = {}
    for word in line.split():
        key, eq, value = word.partition("=")
        if eq:
            out[key] = float(value)
    return out


def named_values(text):
    """{"name": key_values of its line} from a tool that prints one line per case, beginning with a name."""
    out = {}
    for line in text.splitlines():
        name, _, values = line.partition(" ")
        if key_values(values):
            out[name] = key_values(values)
    if not out:
        raise LoadFailed("no figures: %s" % text.strip()[-200:])
    return out


def median(values):
    """The middle value; the mean of the middle two; None for no values."""
    ordered = sorted(values)
    if not ordered:
        return None
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2


def paired(mine, theirs):
    """The ratio mine / theirs: the median over the rounds, so that a slow round has no effect."""
    if not mine or not theirs:
        return None
    if len(mine) != len(theirs):
        return median(mine) / median(theirs) if median(theirs) else None
    return median([a / b for a, b in zip(mine, theirs)]) if all(theirs) else None


def mean(values):
    return sum(values) / len(values) if values else None


def of_means(mine, theirs):
    """The ratio of the means: a rare, expensive round counts with its cost."""
    return mean(mine) / mean(theirs) if mine and theirs and mean(theirs) else None


def spread(values):
    """Half the distance between the quartiles, relative to the median: the uncertainty of one sample."""
    ordered = sorted(values)
    middle = median(ordered)
    if len(ordered) < 4 or not middle:
        return None
    quarter = len(ordered) // 4
    return (ordered[-1 - quarter] - ordered[quarter]) / 2 / middle


def median_of(tables):
    """Median of each key over several {key: number}; a missing key counts as 0."""
    keys = {k for t in tables for k in t}
    return {k: median([t.get(k, 0.0) for t in tables]) for k in keys}
