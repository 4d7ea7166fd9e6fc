"""The manual answers the questions of tests/manual/questions, each in one place; and what it lists as values the program
takes."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from certs import Authority
from conftest import TACIT, run

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "tests/manual/questions"
TERM = re.compile(r"^\\fB(.*?)\\fR")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The pages as `make man` builds them: page -> section -> lines of roff."""
    out = tmp_path_factory.mktemp("man")
    version = ["0"]
    reference = subprocess.run([TACIT, "-dK", "man"], capture_output=True, text=True, timeout=60, check=True).stdout
    guide = subprocess.run(["sh", "build-aux/guide", "man/tacit-guide.7.in", *version], cwd=ROOT, capture_output=True,
                           text=True, timeout=60, check=True).stdout
    assert out
    return {"tacit.cfg(5)": sections((ROOT / "man/tacit.cfg.5.in").read_text() + reference),
            "tacit-guide(7)": sections(guide), "tacit(8)": sections((ROOT / "man/tacit.8").read_text())}


def sections(text):
    """Each section of a page, of either level, with its lines; one of the first level has those of its subsections, too."""
    found, title, part = {}, None, None
    for line in text.split("\n"):
        head = re.match(r'\.S([HS]) "?(.*?)"?$', line)
        if head and head[1] == "H":
            title, part = found.setdefault(plain(head[2]), []), None
        elif head:
            part = found.setdefault(plain(head[2]), [])
        elif title is not None:
            title.append(line)
            if part is not None:
                part.append(line)
    return found


def plain(text):
    """Text without roff: as a reader sees it."""
    text = re.sub(r"\\f[A-Z]", "", text)
    text = re.sub(r"(?m)^\.[A-Z]+ ?", "", text)
    return text.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")


def entry(lines, name):
    """The lines of the entry with this name."""
    found, depth, inside = [], 0, False
    for at, line in enumerate(lines):
        depth += line.startswith(".RS")
        depth -= line.startswith(".RE")
        if line == ".TP" and depth == 0:
            term = TERM.match(lines[at + 1])
            inside = bool(term) and plain(term[1]) == name
        if inside:
            found.append(line)
    return found


def questions():
    """Each question with its place (page, section, name of the entry or "") and the words of the answer."""
    blocks = re.findall(r"^\? (.*)\n= (.*)\n~ (.*)$", QUESTIONS.read_text(), re.M)
    for question, place, words in blocks:
        page, section, name = ([p.strip() for p in place.split("|")] + [""])[:3]
        yield question, (page, section, name), [w.strip() for w in words.split("|")]


def lacks(pages, place, words):
    """The words that the place lacks, or why it is none; "" if it has all."""
    page, section, name = place
    lines = pages[page].get(section)
    if lines is None:
        return f"no section '{section}'"
    if name:
        lines = entry(lines, name)
        if not lines:
            return f"no entry '{name}'"
    text = plain("\n".join(lines))
    return ", ".join(w for w in words if w not in text and w not in re.sub(r"\s+", " ", text))


@pytest.mark.parametrize(("question", "place", "words"), questions(), ids=[q for q, _, _ in questions()])
def test_a_question_has_its_answer(pages, question, place, words):
    assert question
    assert lacks(pages, place, words) == ""


def test_there_are_enough_questions():
    assert len(list(questions())) == QUESTIONS.read_text().count("\n?") >= 40


def test_what_is_missing_is_found(pages):
    assert lacks(pages, ("tacit.cfg(5)", "PROXY KEYWORDS", "balance"), ["Default: leastconn"]) == "Default: leastconn"
    assert lacks(pages, ("tacit.cfg(5)", "PROXY KEYWORDS", "blance"), []) == "no entry 'blance'"
    assert lacks(pages, ("tacit-guide(7)", "Adresses", ""), []) == "no section 'Adresses'"


def test_no_page_leans_on_another_manual(pages):
    """The meaning of a word stands here; HAProxy is named only for what differs from it."""
    for sections_of in (pages["tacit-guide(7)"], {k: v for k, v in pages["tacit.cfg(5)"].items() if k.isupper() and
                                                  k not in ("DIFFERENCES FROM HAPROXY",)}):
        for title, lines in sections_of.items():
            text = plain("\n".join(lines))
            assert not re.search(r"HAProxy's (configuration )?manual|manual of HAProxy|see HAProxy", text), title


# --- values ---

# Where the words of an entry are parsed by code and not by their table: a line with each of them is valid.
LINES = {
    "mode": "{}", "log-steps": "{}", "load-server-state-from-file": "{}", "retry-on": "{}",
}
IN_LINE = {
    "balance": lambda w: {"url_param": "balance url_param x", "hash": "balance hash src", "whole": "balance uri whole",
                          "hdr(<name>)": "balance hdr(x)", "random[(<draws>)]": "balance random(3)",
                          "path-only": "balance uri path-only", "len": "balance uri len 3", "depth": "balance uri depth 2",
                          "check_post": "balance url_param x check_post", "use_domain_only": "balance hdr(host) use_domain_only",
                          "rdp-cookie[(<name>)]": "balance rdp-cookie(x)"}.get(w, f"balance {w}"),
    "cookie": lambda w: {"domain": "cookie S insert domain .x.y", "maxidle": "cookie S insert maxidle 1m",
                         "maxlife": "cookie S insert maxlife 1m", "attr": "cookie S insert attr A=b",
                         "rewrite": "cookie S rewrite", "prefix": "cookie S prefix",
                         "dynamic": "dynamic-cookie-key k\n\tcookie S insert dynamic"}.get(w, f"cookie S insert {w}"),
    "redirect": lambda w: {"location": "http-request redirect location /", "prefix": "http-request redirect prefix /",
                           "scheme": "http-request redirect scheme https", "code": "http-request redirect location / code 307",
                           "set-cookie": "http-request redirect location / set-cookie a=b",
                           "clear-cookie": "http-request redirect location / clear-cookie a"}.get(
                               w, f"http-request redirect prefix / {w}"),
}


def values(pages, section, name):
    """The words that the entry lists, without their arguments."""
    lines = entry(pages["tacit.cfg(5)"][section], name)
    words = [plain(line[3:]) for line in lines if line.startswith(".B ")]
    assert words, name
    return [w.split(" <")[0] for term in words for w in term.split(", ")]


def check(tmp_path, line):
    cfg = tmp_path / "a.cfg"
    cfg.write_text("defaults\n\tmode http\n\ttimeout client 1s\n\ttimeout connect 1s\n\ttimeout server 1s\nlisten a\n"
                   f"\tbind 127.0.0.1:1\n\t{line}\n\tserver s 127.0.0.1:1 cookie s\n")
    return run("-c", "-f", cfg, env=dict(os.environ))


@pytest.mark.parametrize("name", [*LINES, *IN_LINE])
def test_each_value_of_an_entry_is_one(pages, tmp_path, name):
    section = "ACTIONS" if name == "redirect" else "PROXY KEYWORDS"
    taken = 0
    for word in values(pages, section, name):
        if name == "log-steps" and (word in ("error", "any") or re.match("tcp-|http-", word)):
            continue
        line = IN_LINE[name](word) if name in IN_LINE else f"{name} {word}"
        done = check(tmp_path, line)
        assert done.returncode == 0, (line, done.stderr)
        taken += 1
    assert taken > 1


def test_each_facility_level_and_format_of_logs_is_one(pages, tmp_path):
    text = re.sub(r"\s+", " ", plain("\n".join(entry(pages["tacit.cfg(5)"]["PROXY KEYWORDS"], "log"))))
    facilities = re.search(r"<facility> (kern.*?) or local0 to local7", text)[1].strip(", ").split(", ")
    levels = re.search(r"is sent: (emerg.*?)\.", text)[1].replace(" or ", ", ").split(", ")
    assert len(facilities) == 16 and len(levels) == 8
    lines = [f"log 127.0.0.1 {f}" for f in [*facilities, *(f"local{i}" for i in range(8))]]
    lines += [f"log 127.0.0.1 local0 {level} {level}" for level in levels]
    lines += [f"log 127.0.0.1 format {f} local0" for f in
              "local rfc3164 rfc5424 priority short timed iso raw json".split() if f in text]
    assert len(lines) == 24 + 8 + 9
    for at in range(0, len(lines), 20):
        done = check(tmp_path, "\n\t".join(lines[at:at + 20]))
        assert done.returncode == 0, done.stderr


# --- examples ---

NO_CONFIGURATION = {"crt-list"}    # lines of another file

# The sections around an example, by the heading of its entry.
AROUND = {
    "GLOBAL KEYWORDS": "global\n{}\n",
    "PROXY KEYWORDS": "listen x\n\tbind 127.0.0.1:1\n{}\n",
    "BIND OPTIONS": "listen x\n{}\n",
    "SERVER OPTIONS": "backend x\n{}\n",
    "ACTIONS": "listen x\n\tbind 127.0.0.1:1\n{}\n",
    "USERLIST KEYWORDS": "userlist x\n\tgroup admins\n{}\n",
    "CRT-STORE KEYWORDS": "{}\n",
}


def examples(pages):
    """Each example of an entry: heading, name, text."""
    for heading, lines in pages["tacit.cfg(5)"].items():
        text = "\n".join(lines)
        for term, example in re.findall(r"(?s)\.TP\n\\fB([^\n]*?)\\fR[^\n]*\n(?:(?!\n\.TP\n\\fB).)*?\.IP\n\.nf\n(.*?)\n\.fi", text):
            if heading.endswith(("KEYWORDS", "OPTIONS", "ACTIONS")):
                yield heading, plain(term), plain(example)


@pytest.fixture
def files(tmp_path):
    """The directory of files that examples name in /etc/tacit."""
    authority = Authority(tmp_path / "ca")
    pem = authority.make("site.pem", "www.example.org", ["www.example.org"]).read_text()
    made = {"site.pem": pem, "certs/www.pem": pem, "certs/www.key": pem, "hosts.map": "a www\n", "blocked.lst": "192.0.2.1\n",
            "maintenance.http": "HTTP/1.1 503 Sorry\r\n\r\n", "sorry.html": "Sorry\n"}
    for name, text in made.items():
        path = tmp_path / "etc" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    return tmp_path / "etc"


def test_each_example_is_valid(pages, tmp_path, files):
    wrong, n = [], 0
    for heading, name, text in examples(pages):
        if name in NO_CONFIGURATION:
            continue
        if heading == "SERVER OPTIONS" and not text.startswith("server "):
            text = f"server z 192.0.2.1:80 ssl verify none {text}"
        text = text.replace("/etc/tacit", str(files)).replace("@system-ca", str(files / "site.pem"))
        text = text.replace("$5$tacit$h6Zt...", "$5$tacitmanual$" + "x" * 43)
        mode = "tcp" if "ssl_hello" in text or "tcp-check" in text else "http"
        cfg = tmp_path / "a.cfg"
        server = "" if re.search(r"(?m)^server(-template)? ", text) else "\tserver a 192.0.2.1:1\n"
        cfg.write_text(f"defaults\n\tmode {mode}\n\ttimeout client 1s\n\ttimeout connect 1s\n\ttimeout server 1s\n"
                       + AROUND[heading].format(text) + (server if "listen x" in AROUND[heading] else "")
                       + "userlist staff\n\tuser anna insecure-password x\n"
                       "resolvers dns\n\tnameserver a 192.0.2.53:53\nlisten other\n\tbind 127.0.0.1:2\n"
                       + "".join(f"backend {b}\n" for b in ("www", "api", "app")))
        done = run("-c", "-dr", "-f", cfg, env=dict(os.environ))
        n += 1
        if done.returncode:
            wrong.append(f"{heading} / {name}:\n{text}\n{done.stderr}")
    assert not wrong, "\n".join(wrong)
    assert n >= 45


def test_frequent_expressions_are_valid(pages, tmp_path):
    """As those of header fields, in the backend that they name."""
    terms = [plain(TERM.match(line)[1]) for line in pages["tacit-guide(7)"]["Frequent expressions"] if TERM.match(line)]
    found = [e for term in terms for e in term.split(", ")]
    assert "src,ipmask(24,64)" in found and len(found) >= 18
    lines = "\n\t".join(f"http-request set-header X {'%'}[{e.replace('(app)', '(a)')}]" for e in found)
    done = check(tmp_path, lines)
    assert done.returncode == 0, done.stderr


# --- --explain ---

def test_the_program_explains_what_the_page_says(pages):
    done = run("--explain", "retry-on", env=dict(os.environ))
    assert done.returncode == 0
    page = re.sub(r"\s+", " ", plain("\n".join(entry(pages["tacit.cfg(5)"]["PROXY KEYWORDS"], "retry-on"))))
    for line in ("Failures after which a request is sent again.", "Default: conn-failure", "In defaults, backend, listen"):
        assert line in page and line in done.stdout
    done = run("--explain", "timeout", "conect", env=dict(os.environ))
    assert (done.returncode, done.stderr) == (1, "'timeout conect' is unknown; did you mean 'timeout connect'?\n")
