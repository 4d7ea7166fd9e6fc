"""tacit-scale(7): its figures are those of PERFORMANCE.md, of sections that the benchmark has, and its calculations are right."""

import re
import subprocess
import sys

from conftest import ROOT

PAGE = (ROOT / "man/tacit-scale.7.in").read_text()
FIGURES = (ROOT / "PERFORMANCE.md").read_text().replace("**", "")


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


def test_a_worker():
    """Figures of the second column are measured, those of the third follow from them."""
    measured = 0
    for name, each, much, _ in rows("ONE WORKER")[1:]:
        assert re.search(rf"(?<![\d.]){re.escape(each.split()[0])}(?![\d.])", FIGURES), name
        if each.endswith(" us"):
            assert abs(number(much) * number(each) / 1e6 - 1) < 0.03, name
        elif "GiB" in each:
            assert abs(number(much) - 8 * 1.073741824 / (number(each) / 1000)) < 1, name
        measured += 1
    assert measured == 11


def test_memory():
    for name, much, how in (row for row in rows("Memory") if len(row) == 3):
        if how.startswith("[bench") and "scale" not in how and "slow" not in how:
            assert much.split()[0] in FIGURES, name


def test_peers_of_n_nodes():
    each = number(re.search(r"with one counter is ([\d.]+) bytes", PAGE)[1])
    assert f"{each} bytes for each other node" in FIGURES
    for nodes, connections, others, change, _ in rows("Stick tables")[1:]:
        n, unit = number(nodes), 1000 if "KB" in change else 1
        assert (number(connections), number(others)) == (n * (n - 1) / 2, n - 1)
        assert abs(number(change) * unit - each * (n - 1)) <= unit / 2
