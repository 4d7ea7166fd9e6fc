"""The sections about compression: what it costs per megabyte, and the memory of clients that read slowly."""

import http.client
import random
import socket
import zlib
from dataclasses import replace

from . import probe, subjects as S
from .measuring import ERRORS, interleaved, running
from .world import Failed

SIZE = 100 * 1000
LONG = 100              # pages in the long one
REQUESTS = 200          # of each page in a round
SLOW = 500              # clients
MEGABYTE = 1e6
AFTER = 100             # requests of another client
PAGES = ("page.html", "data.json")
WORDS = ("account address answer balance before change customer delivery discount email error every forward group header invoice "
         "item length letter limit market message minute month north number object offer order other packet paper payment people "
         "person phone place point price product public reason record region report request result return sale second server "
         "service session shop simple source status stock store stream street summer supply system table target ticket time "
         "total travel under update user value version visit water week winter worker year").split()


def html(dice):
    out = ["<!DOCTYPE html>\n<html lang=\"en\"><head><title>Orders</title></head>\n<body>\n<ul class=\"orders\">\n"]
    while sum(map(len, out)) < SIZE:
        text = " ".join(dice.choices(WORDS, k=dice.randrange(6, 24)))
        out.append("<li class=\"order %s\"><a href=\"/orders/%d\">%s</a><p>%s.</p><span class=\"price\">%.2f</span></li>\n" % (
            dice.choice(WORDS), dice.randrange(10 ** 6), dice.choice(WORDS).title(), text.capitalize(), dice.random() * 1000))
    return "".join(out)[:SIZE]


def json_text(dice):
    out = ["["]
    while sum(map(len, out)) < SIZE:
        out.append('{"id":%d,"name":"%s","price":%.2f,"active":%s,"tags":["%s","%s"],"created":"2026-%02d-%02dT%02d:%02d:00Z"},' % (
            dice.randrange(10 ** 6), " ".join(dice.choices(WORDS, k=3)), dice.random() * 100, dice.choice(("true", "false")),
            dice.choice(WORDS), dice.choice(WORDS), dice.randrange(1, 13), dice.randrange(1, 29), dice.randrange(24), dice.randrange(60)))
    return "".join(out)[:SIZE]


def origin_of(run):
    """An origin with the pages, and one that is a hundred times as long."""
    dice = random.Random(1)
    pages = html(dice), json_text(dice)
    for name, text in zip((*PAGES, "long.html"), (*pages, pages[0] * LONG)):
        run.world.write(name, text)
    return S.start_nginx_origin(run.world, run.binaries)


def fetch(conn, page, coding):
    """The number of bytes of a body, as it is sent."""
    conn.request("GET", "/text/" + page, headers={"Accept-Encoding": coding} if coding else {})
    answer = conn.getresponse()
    body = answer.read()
    if answer.status != 200 or answer.headers.get("Content-Encoding") != coding:
        raise Failed("status %d, encoded as %s" % (answer.status, answer.headers.get("Content-Encoding")))
    if coding == "gzip" and len(zlib.decompress(body, 31)) != SIZE:
        raise Failed("%d bytes of gzip are another page" % len(body))
    return len(body)


def cost(run, proc):
    """For each page the proxy's CPU in ms per MB of it, and how many times smaller it became."""
    sample, coding = {}, S.coding_of(proc.subject)
    conn = http.client.HTTPConnection("127.0.0.1", proc.port, timeout=60)
    for page in PAGES:
        fetch(conn, page, coding)
        requests, sent = run.n(REQUESTS), 0
        before = probe.cpu_ns(proc.forwards)
        for _ in range(requests):
            sent += fetch(conn, page, coding)
        kind = page.rpartition(".")[2]
        sample[kind + ".cpu"] = (probe.cpu_ns(proc.forwards) - before) / 1e6 / (requests * SIZE / MEGABYTE)
        sample[kind + ".ratio"] = requests * SIZE / sent
    conn.close()
    return sample


def compress(run):
    """CPU per megabyte of pages of 100 kB, and the ratio, one at a time on a kept connection."""
    origin = origin_of(run)
    with running(run, S.COMPRESS, origin.address) as live:
        return interleaved(run, live, lambda proc: cost(run, proc), "compress")


def slow_clients(proc, count):
    """Begins downloads of the long page, of which each client reads the head."""
    coding = S.coding_of(proc.subject)
    line = "Accept-Encoding: %s\r\n" % coding if coding else ""
    clients = []
    try:
        for _ in range(count):
            s = socket.socket()
            clients.append(s)
            s.settimeout(60)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.connect(("127.0.0.1", proc.port))
            s.sendall(("GET /text/long.html HTTP/1.1\r\nHost: bench\r\n%s\r\n" % line).encode())
            if not s.recv(512).startswith(b"HTTP/1.1 200"):
                raise Failed("no response")
    except BaseException:
        for s in clients:
            s.close()
        raise
    return clients


def settled(proc):
    """The memory of a proxy that has served another client after all slow ones, so that it has dealt with these."""
    conn = http.client.HTTPConnection("127.0.0.1", proc.port, timeout=60)
    for _ in range(AFTER):
        fetch(conn, PAGES[0], S.coding_of(proc.subject))
    conn.close()
    return probe.own_bytes(proc.pid)


def memory(run):
    """Memory of its own (anonymous pages) per slow client: the growth since the start."""
    table, origin = {}, origin_of(run)
    for subject in run.binaries.present(S.COMPRESS_SLOW, run.notes):
        proxy, clients = None, []
        try:
            proxy = S.start(run.world, run.binaries, subject, origin.address)
            before = probe.own_bytes(proxy.pid)
            clients = slow_clients(proxy, SLOW)
            table.setdefault(subject.name, {})["slow"] = [(settled(proxy) - before) / SLOW]
        except ERRORS as why:
            run.notes.append("compressmem: %s: %s" % (subject.name, why))
        finally:
            for s in clients:
                s.close()
            if proxy:
                run.world.forget(proxy)
    return table


SECTIONS = {"compress": compress, "compressmem": memory}
