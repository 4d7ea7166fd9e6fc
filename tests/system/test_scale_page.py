"""tacit-scale(7): its figures are those of PERFORMANCE.md, of sections that the benchmark has, and its calculations are right."""

import json
import re
import subprocess
import sys

import pytest
from conftest import ROOT

PAGE = (ROOT / "man/tacit-scale.7.in").read_text()
FIGURES = (ROOT / "PERFORMANCE.md").read_text().replace("**", "")
BASELINE = json.loads((ROOT / "tests/bench/baseline.json").read_text())["values"]
HTTP, TLS, H2, SCALE = "\n| HTTP |", "\n| TLS 1.3 of clients", "\n| CPU per request, one at a time", "\n## Large config"
# Row of the page: (the text of PERFORMANCE.md before its row there, that row, which of its first column's figures)
MEASURED = {
    "TCP, a connection each": ("", "CPU of the proxy per connection", 0),
    "HTTP, a connection each": (HTTP, "CPU per request, a connection each", 0),
    "HTTP, persistent connections": (HTTP, "CPU per request, keep-alive", 0),
    "HTTP/2, ten at a time": (H2, "ten at a time", 0),
    "TLS 1.3, a full handshake each": (TLS, "CPU per request, a full handshake each", 0),
    "TLS 1.3, resumed": (TLS, "the same resumed", 0),
    "TLS 1.3, persistent connections": (TLS, "CPU per request, keep-alive", 0),
    "TCP, long transfers, spliced": ("", "CPU per GiB of long transfers", 0),
    "TLS, download": (TLS, "CPU per GiB of a download", 0),
    "HTTP/2, download": (H2, "CPU per GiB of downloads", 0),
    "HTML, gzip": ("", "HTML, gzip", 0),
    "an idle TCP connection, of its own": ("", "memory per idle connection", 0),
    "an idle client of HTTP/1, of its own": (HTTP, "memory per idle keep-alive client", 0),
    "an idle client of TLS, of its own": (TLS, "memory per idle client", 0),
    "a slow client of a compressed answer": ("", "memory of each of 500 slow clients", 0),
    "a server of a backend": (SCALE, "2,000 backends with 10 servers", 1),
    "a certificate": (SCALE, "5,000 certificates", 1),
    "an entry of a map": (SCALE, "a map of 1,000,000 hosts", 1),
}


def rows(title):
    """The lines of the first table of a section or subsection, split at two blanks or more."""
    part = re.split(rf"^\.S[HS] {title}$", PAGE, flags=re.M)[1].split("\n.SH ")[0]
    table = part.split(".nf\n.RS\n")[1].split("\n.RE")[0]
    return [re.split(r"\s{2,}", line.strip()) for line in table.split("\n")]


def number(text):
    return float(re.match(r"[\d,.]+", text)[0].replace(",", ""))


def test_sections_of_the_benchmark():
    shown = subprocess.run([sys.executable, ROOT / "tests/bench/bench", "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    known = set(re.findall(r"\w+", re.split(r"\n  --rows TEXT", shown.split("\n  --only SECTION,…")[1])[0]))
    named = {name for inside in re.findall(r"\[(?:calc of )?bench ([^\]]*)\]", PAGE) for name in re.findall(r"\w+", inside)[:1] if "section" not in inside}
    assert len(named) > 15 and named <= known


def measured(name):
    after, row, which = MEASURED[name]
    line = next(x for x in FIGURES[FIGURES.index(after):].split("\n") if x.startswith(f"| {row}"))
    return number(re.findall(r"\d[\d,.]*", line.split("|")[2])[which])


@pytest.mark.parametrize("row", rows("ONE WORKER")[1:], ids=lambda row: row[0])
def test_a_worker(row):
    """Figures of the second column are measured, those of the third follow from them."""
    name, each, much, _ = row
    assert number(each) == measured(name)
    if each.endswith(" us"):
        assert abs(number(much) * number(each) / 1e6 - 1) < 0.03
    elif "GiB" in each:
        assert abs(number(much) - 8 * 1.073741824 / (number(each) / 1000)) < 1
    else:
        assert each.endswith(" ms a MB") and number(much) == round(1000 / number(each))


@pytest.mark.parametrize("row", [row for row in rows("Memory") if len(row) == 3], ids=lambda row: row[0])
def test_memory(row):
    name, much, how = row
    total = re.search(r"([\d,]+) MB for ([\d,]+)", how)
    if total:
        assert number(total[1]) == measured(name)
        assert number(much) == float(f"{number(total[1]) * 1e6 / number(total[2]):.{1 if number(much) >= 1000 else 2}e}")
    elif name in MEASURED:
        assert number(much) == measured(name)
    elif how == "[bench slow]":
        assert number(much) == BASELINE["slow"]["bytes of memory per slow sender"]
    elif name == "an idle client of HTTP/2, of its own":
        assert f"{much} bytes" in FIGURES
    else:
        assert how.startswith("[count: ")


def test_workers():
    assert f"had {BASELINE['split']['% on one of 2 workers, the worst round']:.0f} % of the connections [bench split]" in PAGE
    assert f"{BASELINE['workers']['eventfd writes per connection, 2 workers']:.2f} wake" in PAGE


def test_instructions():
    found = re.search(r"add ([\d,]+) instructions to a persistent request of ([\d,]+),", PAGE)
    assert f"add {found[1]} to a persistent request" in FIGURES
    assert f"\n| HTTP, persistent connections | {found[2]} |" in FIGURES


def test_an_entry_of_a_table():
    """The same at each size, in the table of all nodes too."""
    found = re.search(r"one rate +(\d+) bytes +\[count: VmRSS before and after 100,000 .*\n +(\d+) for each of 200,000, (\d+) of 1,000,000\]", PAGE)
    assert f"takes {found[2]} bytes of\nmemory, measured over 200,000 of them ({found[1]} over 100,000, {found[3]} over 1,000,000)" in FIGURES
    assert re.search(rf"no aggregate +{found[1]} B", PAGE)


def test_peers_of_n_nodes():
    each = number(re.search(r"with one counter is ([\d.]+) bytes", PAGE)[1])
    assert f"{each} bytes for each other node" in FIGURES
    for nodes, connections, others, change, _ in rows("Stick tables")[1:]:
        n, unit = number(nodes), 1000 if "KB" in change else 1
        assert (number(connections), number(others)) == (n * (n - 1) / 2, n - 1)
        assert abs(number(change) * unit - each * (n - 1)) <= unit / 2
