"""README.md promises what is there: its files, targets, words, commands, and the figures of PERFORMANCE.md."""

import re
import subprocess

import pytest
from conftest import ROOT, run
from subject import only_tacit

pytestmark = only_tacit
TEXT = (ROOT / "README.md").read_text()
# Figure of README.md: (the row of PERFORMANCE.md, its column, what the figure there is divided by)
FIGURES = {
    "0.39 ms is": ("p99 of 2,000 connections per second with a reload", 1, 1000),
    "HAProxy 1.7 ms": ("p99 of 2,000 connections per second with a reload", 3, 1000),
    "0.8 ms beside": ("p99 of small requests during 16 long transfers", 1, 1000),
    "(9.6 ms)": ("p99 of small requests during 16 long transfers", 3, 1000),
    "867 bytes": ("memory per idle connection", 1, 1),
    "(3,377 bytes)": ("memory per idle connection", 3, 1),
    "9.6 system calls": ("system calls per connection, 50 at once", 1, 1),
    "(18.3)": ("system calls per connection, 50 at once", 3, 1),
}


def number(text):
    return float(re.search(r"[\d,]+(?:\.\d+)?", text)[0].replace(",", ""))


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_is_that_of_the_measurements(figure):
    row, column, by = FIGURES[figure]
    assert TEXT.count(figure) == 1
    line = next(x for x in (ROOT / "PERFORMANCE.md").read_text().split("\n") if x.startswith(f"| {row}"))
    measured, shown = number(line.split("|")[1 + column]) / by, number(figure)
    digits = len(re.search(r"\.(\d+)|$", figure)[1] or "")
    assert round(measured, digits) == shown, (measured, shown)


def test_each_saving_of_cpu_is_between_those_that_are_named():
    least, most = map(int, re.search(r"CPU is (\d+) to (\d+) % less", TEXT).groups())
    rows = [x.split("|") for x in (ROOT / "PERFORMANCE.md").read_text().split("\n")]
    saved = [100 - 100 * number(r[2]) / number(r[4]) for r in rows
             if len(r) > 4 and r[1].strip() in ("CPU of the proxy per connection, in microseconds", "CPU per request, keep-alive")]
    # of TCP; those of HTTP and TLS stand below
    assert len(saved) >= 2 and least <= round(saved[1]) and round(saved[0]) <= most


def test_each_file_and_target_exists():
    targets = set(re.findall(r"(?m)^([\w-]+(?: [\w-]+)*):", (ROOT / "Makefile").read_text()))
    targets = {t for line in targets for t in line.split()}
    for target in re.findall(r"(?:`|^ {4})make ([\w-]+)", TEXT, re.M):
        assert target in targets, target
    for path in re.findall(r"(?:\]\(|`)((?:conf|demo|src|tests)/[\w./-]*|[A-Z]+\.md|LICENSE|Containerfile)", TEXT):
        assert (ROOT / path).exists(), path


def test_each_option_and_word_exists():
    shown = run("--help").stdout
    for option in set(re.findall(r"`(?:build/)?tacit (-dK|--?[a-zA-Z]\w*)", TEXT)):
        assert re.search(rf"(?<![\w-]){option}(?![\w-])", shown), option
    manual = run("-dK", "man").stdout.replace("\\-", "-")
    for word in ("aggregate", "shards", "process-vary", "collapse"):
        assert f"`{word}`" in TEXT and re.search(rf"(?<![\w-]){word}(?![\w-])", manual), word


def test_contributing_names_each_layer_and_description():
    """The folders of src and what each may include, as `make lint` checks them."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = {m[1]: m[2] for m in re.finditer(r"(?m)^ {4}(?:level \d)? +([a-z]\w*) .*?(?: {2,}| )(\S.*)$", text)}
    folders = {p.name for p in (ROOT / "src").iterdir() if p.is_dir()}
    assert folders <= set(rows), folders - set(rows)
    described = {p.parent.name for p in (ROOT / "src").glob("*/ARCHITECTURE.md")}
    assert described == set(re.search(r"src/\{([\w,]+)\}/ARCHITECTURE.md", text)[1].split(","))


def test_what_it_has_not_is_an_error(tmp_path):
    """The row of the table, and nothing else: each of them is one that `tacit -c` lists."""
    named = re.search(r"\| Has not \| (.*?): ", TEXT)[1].split(", ")
    cfg = tmp_path / "a.cfg"
    cfg.write_text("global\n\tlua-load x\n\t51degrees-data-file x\nacme a\nfcgi-app f\nfrontend f\n\tbind quic4@:1\n\tfilter opentracing\n"
                   "\tbind :2 ssl crt a.pem generate-certificates\nbackend b\n\tserver s 127.0.0.1:1 namespace n\nlog-forward l\nprogram p\n")
    found = subprocess.run([run("--help").args[0], "-c", cfg], capture_output=True, text=True, timeout=60, check=False).stderr
    missing = re.search(r"not supported here: (.*)", found)[1]
    for word in named:
        assert word.lower().removeprefix("device ") in missing.lower(), (word, missing)
