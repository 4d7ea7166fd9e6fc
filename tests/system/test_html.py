"""The manual as a site, made by build-aux/html: every link leads somewhere, each word has its place, and nothing comes from
another host."""

import os
import re
import subprocess
from html.parser import HTMLParser

import pytest
from conftest import ROOT, TACIT

ALONE = {"meta", "link", "br", "img", "input", "hr"}    # elements without an end


class Page(HTMLParser):
    """The ids and links of a page, the files that it loads, and elements that do not fit into each other."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads, self.open, self.wrong = [], [], [], [], []
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids += [values["id"]] if "id" in values else []
        if tag == "a":
            self.links.append(values["href"])
        self.loads += [values[name] for name in ("src", "href") if name in values and tag in ("script", "link", "img")]
        if tag not in ALONE:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in ALONE:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> in line {self.getpos()[0]}")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, made of the pages as `make man` builds them."""
    man, out = tmp_path_factory.mktemp("man"), tmp_path_factory.mktemp("html")
    reference = subprocess.run([TACIT, "-dK", "man"], capture_output=True, text=True, timeout=60, check=True).stdout
    guide = subprocess.run(["sh", "build-aux/guide", "man/tacit-guide.7.in", "0"], cwd=ROOT, capture_output=True, text=True,
                           timeout=60, check=True).stdout
    (man / "tacit.cfg.5").write_text((ROOT / "man/tacit.cfg.5.in").read_text() + reference)
    (man / "tacit-guide.7").write_text(guide)
    (man / "tacit-scale.7").write_text((ROOT / "man/tacit-scale.7.in").read_text())
    commands = subprocess.run([TACIT, "-dK", "man8"], capture_output=True, text=True, timeout=60, check=True).stdout
    (man / "tacit.8").write_text((ROOT / "man/tacit.8").read_text().replace("@COMMANDS@\n", commands))
    subprocess.run([ROOT / "build-aux/html", out, man], timeout=60, check=True)
    return out


@pytest.fixture(scope="module")
def pages(site):
    return {path.name: Page(path) for path in site.glob("*.html")}


def test_each_link_leads_somewhere(site, pages):
    assert len(pages) >= 10
    for name, page in pages.items():
        for link in page.links:
            if re.match(r"https?:", link):
                continue
            file, _, anchor = link.partition("#")
            if file and file not in pages:
                assert (site / file).is_file(), (name, link)
            elif anchor:
                assert anchor in pages[file or name].ids, (name, link)


def test_an_id_stands_once_and_elements_fit(pages):
    for name, page in pages.items():
        assert len(page.ids) == len(set(page.ids)), (name, [i for i in page.ids if page.ids.count(i) > 1][:5])
        assert page.wrong == [], name


def test_nothing_comes_from_another_host(site, pages):
    for name, page in pages.items():
        for file in page.loads:
            assert (site / file).is_file(), (name, file)
    for file in ("style.css", "filter.js"):
        assert not re.search(r"//[a-z]|url\(|import|fetch", (site / file).read_text())


def test_each_word_has_an_anchor(site, pages):
    """Each keyword, option, fetch and converter that the program lists."""
    listed = subprocess.run([TACIT, "-dK", "all"], capture_output=True, text=True, timeout=60, check=True).stdout
    index = re.findall(r'<td><a href="(.*?)">(.*?)</a></td><td>(.*?)</td>', (site / "words.html").read_text(encoding="utf-8"))
    kinds = {}
    for link, word, kind in index:
        kinds.setdefault(kind, set()).add(word.partition("(")[0])
        file, _, anchor = link.partition("#")
        assert anchor in pages[file].ids, link
    keywords = set().union(*(words for kind, words in kinds.items() if kind.endswith("keywords") or kind.startswith("switches")))
    part = re.split(r"(?m)^# (options of '(\w+)' lines|sections)\n", listed)
    missing = set(re.findall(r"(?m)^(?:implemented|hint) +[GDFBL-]{5} ([a-z][\w.-]*)", part[0])) - {w.split()[0] for w in keywords}
    for at in range(1, len(part), 3):
        kind = f"{part[at + 1]} options" if part[at + 1] else "sections"
        missing |= set(re.findall(r"(?m)^(?:implemented|hint) +([\w.-]+)", part[at + 2])) - kinds[kind] if part[at + 1] else set()
    for name, kind in (("smp", "fetches"), ("cnv", "converters")):
        text = subprocess.run([TACIT, "-dK", name], capture_output=True, text=True, timeout=60, check=True).stdout
        missing |= set(re.findall(r"(?m)^([\w.+-]+)", text)) - kinds[kind]
    assert missing == set()


def test_the_index_needs_no_script(site):
    text = (site / "words.html").read_text(encoding="utf-8")
    assert '<p id="filter" hidden>' in text and text.count("<script") == 1
    assert "<script" not in "".join(path.read_text(encoding="utf-8") for path in site.glob("*.html") if path.name != "words.html")
    assert text.count("<tr>") > 1400 and os.path.getsize(site / "words.html") < 400_000
