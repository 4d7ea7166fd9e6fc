"""The manual answers the questions of tests/manual/questions, each in one place; and what it lists as values the program
takes."""

import itertools
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
    commands = subprocess.run([TACIT, "-dK", "man8"], capture_output=True, text=True, timeout=60, check=True).stdout
    assert out
    return {"tacit.cfg(5)": sections((ROOT / "man/tacit.cfg.5.in").read_text() + reference),
            "tacit-guide(7)": sections(guide),
            "tacit-scale(7)": sections((ROOT / "man/tacit-scale.7.in").read_text()),
            "tacit(8)": sections((ROOT / "man/tacit.8").read_text().replace("@COMMANDS@\n", commands))}


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
    assert len(list(questions())) == QUESTIONS.read_text().count("\n?") >= 173


def test_what_is_missing_is_found(pages):
    assert lacks(pages, ("tacit.cfg(5)", "PROXY KEYWORDS", "balance"), ["Default: leastconn"]) == "Default: leastconn"
    assert lacks(pages, ("tacit.cfg(5)", "PROXY KEYWORDS", "blance"), []) == "no entry 'blance'"
    assert lacks(pages, ("tacit-guide(7)", "Adresses", ""), []) == "no section 'Adresses'"


def test_no_page_leans_on_another_manual(pages):
    """The meaning of a word stands here; HAProxy is named only for what differs from it."""
    for sections_of in pages.values():
        for title, lines in sections_of.items():
            text = plain("\n".join(lines))
            assert not re.search(r"HAProxy's (configuration )?manual|manual of HAProxy|see HAProxy", text), title


def test_the_page_begins_with_all_sections(pages):
    sections_of = pages["tacit.cfg(5)"]
    names = {plain(TERM.match(line)[1]) for line in sections_of["SECTIONS"] if TERM.match(line)}
    assert {"global", "mailers", "log-profile"} <= names
    text = plain("\n".join(sections_of["DESCRIPTION"]))
    assert {n for n in names if not re.search(rf'(?<![\w-]){n}(?![\w-])', text)} == set()


def test_an_entry_is_a_statement(pages):
    """No entry is a question."""
    for title, lines in pages["tacit.cfg(5)"].items():
        assert not [line for line in lines if re.search(r"[a-z]\? ?$", plain(line))], title


def test_arguments_stand_as_they_are_parsed(pages):
    """An argument in parentheses begins at the name."""
    for title, lines in pages["tacit.cfg(5)"].items():
        assert not [line for line in lines if TERM.match(line) and re.search(r"\w \(", plain(line))], title


# --- values ---

def in_global(line):
    return f"description x\nglobal\n\t{line}\nlisten b\n\tbind 127.0.0.1:2"


# A line with each of the words of an entry is valid.
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
    "stick-table": lambda w: f"stick-table type ip size 1k store {w.replace('<n>', '2').replace('<period>', '1m')}",
    "log-steps": "log-steps {}".format, "retry-on": "retry-on {}".format,
    "use-poller": lambda w: in_global(f"use-poller {w}"),
    "verify": lambda w: f"bind 127.0.0.1:2 ssl crt {{pem}} verify {w} ca-file {{pem}}",
    "ssl-min-ver": lambda w: f"bind 127.0.0.1:2 ssl crt {{pem}} ssl-min-ver {w}",
    "ssl-default-bind-options": lambda w: in_global(f"ssl-default-bind-options {w}" + " TLSv1.2" * w.endswith("-ver")),
    "ssl-default-server-options": lambda w: in_global(f"ssl-default-server-options {w}" + " TLSv1.2" * w.endswith("-ver")),
    "cpu-map": lambda w: in_global(f"cpu-map {w}/{w} 0") if w[0] != "<" else in_global("cpu-map 1/1-3 0"),
    "thread": lambda w: f"bind 127.0.0.1:2 thread {w}",
    "source": lambda w: "source 0.0.0.0 " + {"interface": "interface lo", "usesrc": "usesrc 192.0.2.1",
                                             "usesrc hdr_ip(<name>[,<occurrence>])": "usesrc hdr_ip(a)"}.get(w, w),
    "http-check send": lambda w: {"ver": "http-check send ver HTTP/1.1", "hdr": "http-check send hdr a b"}.get(
        w, f"http-check send {w} GET" if w == "meth" else f"http-check send {w} /"),
    "http-check expect": lambda w: f"http-check expect {EXPECTED.get(w, w + ' 200')}",
    "tcp-check expect": lambda w: f"tcp-check expect {EXPECTED.get(w, w + ' 41')}",
    "http-error": lambda w: "http-error " + payload(w, "503"),
    "deny": lambda w: "http-request deny " + payload(w, "403"),
    "return": lambda w: "http-request return " + payload(w, "200"),
}
EXPECTED = {"!": "! string x", "hdr": "hdr name a", "fhdr": "fhdr name a",
            "ok-status": "ok-status L7OK string x", "error-status": "error-status L7RSP string x",
            "tout-status": "tout-status L7TOUT string x", "min-recv": "min-recv 3 string x",
            "status-code": "status-code int(200) string x",
            **{w: f"{w} x string x" for w in ("on-success", "on-error", "comment")}}


def payload(word, status):
    """Arguments of an answer with this word."""
    begin = "deny_status 403 " if word == "deny_status" else f"status {status if 'file' not in word else 503} "
    return begin + {"status": "", "deny_status": "", "content-type": "content-type text/plain string x", "default-errorfiles": word,
                    "errorfile": "errorfile {page}", "errorfiles": "errorfiles pages\nhttp-errors pages\n\terrorfile 503 {page}\nlisten b\n\tbind 127.0.0.1:2", "file": "content-type a/b file {page}",
                    "lf-file": "content-type a/b lf-file {page}", "hdr": "content-type a/b string x hdr a b"}.get(
                        word, f"content-type a/b {word} x")


def values(pages, section, name):
    """The words that the entry lists, without their arguments."""
    lines = entry(pages["tacit.cfg(5)"][section], name)
    words = [plain(line[3:]) for line in lines if line.startswith(".B ")]
    assert words, name
    return [re.split(r" [<{]", w)[0] for term in words for w in term.split(", ") if not w.startswith("<")]


def check(tmp_path, line):
    cfg = tmp_path / "a.cfg"
    # "thread even" needs two workers, and there is one for each CPU.
    cfg.write_text("global\n\tnbthread 2\ndefaults\n\tmode http\n\ttimeout client 1s\n\ttimeout connect 1s\n\ttimeout server 1s\nlisten a\n"
                   f"\tbind 127.0.0.1:1\n\t{line}\n\tserver s 127.0.0.1:1 cookie s\n")
    return run("-c", "-f", cfg, env=dict(os.environ))


@pytest.mark.parametrize("name", IN_LINE)
def test_each_value_of_an_entry_is_one(pages, tmp_path, files, name):
    section = {"redirect": "ACTIONS", "deny": "ACTIONS", "return": "ACTIONS", "verify": "BIND OPTIONS", "ssl-min-ver": "BIND OPTIONS",
               "thread": "BIND OPTIONS", "use-poller": "GLOBAL KEYWORDS", "cpu-map": "GLOBAL KEYWORDS",
               "ssl-default-bind-options": "GLOBAL KEYWORDS", "ssl-default-server-options": "GLOBAL KEYWORDS"}.get(name, "PROXY KEYWORDS")
    taken = 0
    for word in values(pages, section, name):
        line = IN_LINE[name](word).format(pem=files / "site.pem", page=files / "maintenance.http")
        done = check(tmp_path, line)
        assert done.returncode == 0, (line, done.stderr)
        taken += 1
    assert taken > 1


def test_each_facility_level_and_format_of_logs_is_one(pages, tmp_path):
    text = re.sub(r"\s+", " ", plain("\n".join(entry(pages["tacit.cfg(5)"]["PROXY KEYWORDS"], "log"))))
    facilities = re.search(r"<facility> One of (kern.*?)\.", text)[1].split(", ")
    levels = re.search(r"is sent: one of (emerg.*?)\.", text)[1].split(", ")
    formats = re.findall(r"(\w+) \([^)]*\)", re.search(r"Header of a line: (.*?)\. It is", text)[1])
    assert len(facilities) == 24 and len(levels) == 8 and len(formats) == 9
    lines = [f"log 127.0.0.1 {f}" for f in facilities]
    lines += [f"log 127.0.0.1 local0 {level} {level}" for level in levels]
    lines += [f"log 127.0.0.1 format {f} local0" for f in formats]
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
EXPRESSIONS = ("FETCHES", "CONVERTERS")


# The data that a table may have.
ALL_DATA = ",".join([f"{what}_{kind}" + "(1m)" * (kind == "rate") for what in
                     ("conn", "sess", "http_req", "http_err", "http_fail", "glitch") for kind in ("cnt", "rate")]
                    + ["conn_cur", "gpc0", "gpc1", "gpc0_rate(1m)", "gpc1_rate(1m)", "gpt0", "bytes_in_cnt", "bytes_out_cnt",
                       "bytes_in_rate(1m)", "bytes_out_rate(1m)", "server_id"])


def examples(pages):
    """Each example of an entry: heading, name, text."""
    for heading, lines in pages["tacit.cfg(5)"].items():
        text = "\n".join(lines)
        for term, example in re.findall(r"(?s)\.TP\n\\fB([^\n]*?)\\fR[^\n]*\n(?:(?!\n\.TP\n\\fB).)*?\.IP\n\.nf\n(.*?)\n\.fi", text):
            if heading in AROUND or heading in EXPRESSIONS:
                yield heading, plain(term), plain(example)


@pytest.fixture
def files(tmp_path):
    """The directory of files that examples name in /etc/tacit."""
    authority = Authority(tmp_path / "ca")
    pem = authority.make("site.pem", "www.example.org", ["www.example.org"]).read_text()
    made = {"site.pem": pem, "public.pem": pem, "ca.pem": pem, "clients.pem": pem, "certs/www.pem": pem, "certs/www.key": pem, "hosts.map": "a www\n", "blocked.lst": "192.0.2.1\n",
            "maintenance.http": "HTTP/1.1 503 Sorry\r\n\r\n", "sorry.html": "Sorry\n", "networks.map": "192.0.2.0/24 here\n",
            "limits.map": "1 2\n", "status.map": "200 fine\n", "addresses.map": "1 192.0.2.1\n", "moved.map": "^a b\n"}
    for name, text in made.items():
        path = tmp_path / "etc" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    return tmp_path / "etc"


# The sections that examples name.
OTHERS = f"""cache small
	total-max-size 4
userlist staff
\tgroup admins
\tuser anna insecure-password x groups admins
resolvers dns
\tnameserver a 192.0.2.53:53
listen other
\tbind 127.0.0.1:2
backend www
\tserver a 192.0.2.1:1
backend api
\tserver a 192.0.2.1:1
backend app
\tserver a 192.0.2.1:1
backend clients
\tstick-table type ip size 1k store {ALL_DATA}
backend arrays
\tstick-table type ip size 1k store gpc(2),gpc_rate(2,1m),gpt(2)
backend urls
\tstick-table type binary len 20 size 1k store http_req_rate(10s)
"""


def mode_of(example):
    return "tcp" if "tcp-check" in example or "tcp-request inspect-delay" in example else "http"


def check_lines(tmp_path, files, mode, lines, own=()):
    """Checks lines of an example, with the sections that it names but for its own."""
    others = "".join(part for part in re.split(r"(?m)^(?=\w)", OTHERS) if part and part.split()[1] not in own)
    text = lines.replace("/etc/tacit", str(files)).replace("@system-ca", str(files / "site.pem"))
    text = text.replace("$5$tacit$h6Zt...", "$5$tacitmanual$" + "x" * 43)
    cfg = tmp_path / "a.cfg"
    cfg.write_text(f"defaults\n\tmode {mode}\n\ttimeout client 1s\n\ttimeout connect 1s\n\ttimeout server 1s\n{text}{others}")
    return run("-c", "-dr", "-f", cfg, env=dict(os.environ))


def test_each_example_is_valid(pages, tmp_path, files):
    wrong, n = [], 0
    for heading, name, text in examples(pages):
        if name in NO_CONFIGURATION or heading not in AROUND:
            continue
        if heading == "SERVER OPTIONS" and not text.startswith("server "):
            text = f"server z 192.0.2.1:80 ssl verify none {text}"
        server = "" if re.search(r"(?m)^server(-template)? ", text) else "\tserver a 192.0.2.1:1\n"
        done = check_lines(tmp_path, files, mode_of(text),
                           AROUND[heading].format(text) + (server if "listen x" in AROUND[heading] else ""))
        n += 1
        if done.returncode:
            wrong.append(f"{heading} / {name}:\n{text}\n{done.stderr}")
    assert not wrong, "\n".join(wrong)
    assert n >= 45


def test_each_example_of_an_expression_is_valid(pages, tmp_path, files):
    """All in one configuration, each in a section of its own."""
    sections, n = [], 0
    for heading, _, text in examples(pages):
        if heading not in EXPRESSIONS:
            continue
        if heading == "CONVERTERS":
            side = "http-response" if text.startswith("status,") else "http-request"
            text = "\n".join(f"{side} set-var(txn.x) {line.split(' gives ')[0]}" for line in text.split("\n"))
        n += 1
        sections.append(f"listen x{n}\n\tbind 127.0.0.1:{n + 9}\n\tmode {mode_of(text)}\n\tserver a 192.0.2.1:1\n{text}\n")
    done = check_lines(tmp_path, files, "http", "".join(sections))
    assert done.returncode == 0, done.stderr
    assert n >= 280


# Examples between paragraphs that are no lines of a configuration: a query, shells, a map.
OTHER_KINDS = ("histogram_quantile", "tr -s", "{ echo", "# host")


def prose_examples(page):
    """The examples between paragraphs, but for files that stand in the page."""
    for m in re.finditer(r"(?s)\.nf\n(?:\.RS\n)?(.*?)\n(?:\.RE\n)?\.fi", (ROOT / "man" / page).read_text()):
        text = plain(m[1]).replace("\\(dq", '"')
        if text.strip() and "@FILE" not in text and not text.strip().startswith(OTHER_KINDS):
            yield text


@pytest.mark.parametrize(("page", "least"), [("tacit.cfg.5.in", 7), ("tacit-guide.7.in", 4)])
def test_each_example_between_paragraphs_is_valid(tmp_path, files, page, least):
    found = list(prose_examples(page))
    assert len(found) >= least
    for text in found:
        lines = text
        if text.startswith("["):
            (tmp_path / "spoe.cfg").write_text(text + "\n")
            lines = (f"listen x\n\tbind 127.0.0.1:1\n\tfilter spoe engine {text[1:text.index(']')]} config {tmp_path / 'spoe.cfg'}\n"
                     "\tserver a 192.0.2.1:1\nbackend agents\n\tmode tcp\n\tserver a 192.0.2.1:1\n")
        elif not re.match(r"\s*(?:\.if|global|defaults|frontend|backend|listen|log-profile|cache)\b", text):
            lines = f"listen x\n\tbind 127.0.0.1:1\n\tserver a 192.0.2.1:1\n{text}\n"
        names = re.findall(r"(?m)^ *backend (\w+)|^cache (\w+)", text)
        done = check_lines(tmp_path, files, "http", lines + "\n", {n for pair in names for n in pair if n})
        assert done.returncode == 0, (text, done.stderr)


def translations(lines):
    """Each word of another program with the lines that stand for it."""
    for at, line in enumerate(lines):
        if line == ".TP" and lines[at + 1].startswith(".B "):
            below = itertools.takewhile(lambda x: x.startswith((".B ", ".br")), lines[at + 2:])
            yield plain(lines[at + 1][3:]), [plain(x[3:]).replace("\\(dq", '"') for x in below if x != ".br"]


def section_for(line):
    """The kind of section that a line of a translation stands in."""
    if line.split()[0] in ("nbthread", "nbproc", "user", "group", "chroot", "daemon", "tune.bufsize"):
        return "global"
    return "resolvers" if line.startswith("nameserver") else "listen"


@pytest.mark.parametrize(("title", "least"), [("From nginx", 60), ("From hitch", 20), ("Old words of HAProxy", 14)])
def test_each_line_that_replaces_a_word_of_another_program_is_valid(pages, tmp_path, files, title, least):
    sections, n = [], 0
    for word, lines in translations(pages["tacit-guide(7)"][title]):
        n += 1
        assert lines, word
        kind, text = section_for(lines[0]), "\n".join(f"\t{line}" for line in lines)
        name = "" if kind == "global" else f" {kind[0]}{n}"
        mode = "tcp" if "inspect-delay" in text else "http"
        around = f"\tbind 127.0.0.1:{n + 9}\n\tmode {mode}\n\tserver z 192.0.2.1:1\n" if kind == "listen" else ""
        sections.append(f"{kind}{name}\n{around}{text}\n")
    order = sorted(sections, key=lambda s: not s.startswith("global"))
    done = check_lines(tmp_path, files, "http", "".join(s for s in order if "chroot" not in s))
    assert done.returncode == 0, done.stderr
    assert n >= least


def test_old_words_of_haproxy_are_errors_that_say_so(pages, tmp_path, files):
    for word, _ in translations(pages["tacit-guide(7)"]["Old words of HAProxy"]):
        kind = section_for(word)
        done = check_lines(tmp_path, files, "http", f"{kind}{'' if kind == 'global' else ' x'}\n\t{word}\n")
        assert done.returncode == 1 and re.search(r"was removed in HAProxy [12]\.\d: ", done.stderr), (word, done.stderr)


def test_an_example_shows_its_word(pages):
    """For fetches and converters; a few words are shown beside another."""
    beside = {"map_regm"}
    for heading, name, text in examples(pages):
        if heading in EXPRESSIONS:
            assert name in text or name in beside, (heading, name, text)


def test_frequent_expressions_are_valid(pages, tmp_path):
    """As those of header fields, in the backend that they name."""
    terms = [plain(TERM.match(line)[1]) for line in pages["tacit-guide(7)"]["Frequent expressions"] if TERM.match(line)]
    found = [e for term in terms for e in term.split(", ")]
    assert "src,ipmask(24,64)" in found and len(found) >= 18
    lines = "\n\t".join(f"http-request set-header X {'%'}[{e.replace('(app)', '(a)')}]" for e in found)
    done = check(tmp_path, lines)
    assert done.returncode == 0, done.stderr


# --- tacit(8) ---

def test_each_option_has_an_entry(pages):
    terms = plain("\n".join(pages["tacit(8)"]["OPTIONS"])).replace('"', " ")
    options = set(re.findall(r"(?<![\w<-])(--?[A-Za-z]\w*)", run("--help").stdout.partition("\n")[2]))
    assert len(options) > 35
    missing = {o for o in options if not re.search(rf"(?<![\w-]){re.escape(o)}(?!\w)", terms)}
    assert missing - {"-h"} == set()


def test_each_signal_has_an_entry(pages):
    text = (ROOT / "src/app/process/signals.c").read_text()
    handled = set(re.findall(r"\bSIG[A-Z]+\d?\b", text)) - {"SIGPIPE", "SIGXFSZ", "SIGCHLD", "SIGKILL", "SIGALRM"}
    assert len(handled) >= 7
    assert {s for s in handled if s not in plain("\n".join(pages["tacit(8)"]["SIGNALS"]))} == set()


def test_each_variable_of_the_environment_has_an_entry(pages):
    """The program reads or sets them; the keyword external-check has those of its commands."""
    names = {n for f in (ROOT / "src").rglob("*.c")
             for n in re.findall(r'env_[gs]et\(\S+, "([A-Z_]+)"|getenv\("([A-Z_]+)"', f.read_text()) for n in n if n}
    assert len(names) >= 7
    text = plain("\n".join(pages["tacit(8)"]["ENVIRONMENT"]))
    assert {n for n in names if not re.search(rf"\b{n}\b", text)} == set()


def test_each_exit_status_has_an_entry(pages):
    """The options that only answer a question have one, too."""
    text = plain("\n".join(pages["tacit(8)"]["EXIT STATUS"]))
    for option in ("-c", "--explain", "--format", "--health", "--reload", "-W", "-Ws"):
        assert re.search(rf"(?<![\w-]){option}\b", text), option


# --- --explain ---

def test_the_program_explains_what_the_page_says(pages):
    done = run("--explain", "retry-on", env=dict(os.environ))
    assert done.returncode == 0
    page = re.sub(r"\s+", " ", plain("\n".join(entry(pages["tacit.cfg(5)"]["PROXY KEYWORDS"], "retry-on"))))
    for line in ("Failures after which a request is sent again.", "Default: conn-failure", "In defaults, backend, listen"):
        assert line in page and line in done.stdout
    done = run("--explain", "timeout", "conect", env=dict(os.environ))
    assert (done.returncode, done.stderr) == (1, "'timeout conect' is unknown; did you mean 'timeout connect'?\n")


@pytest.mark.parametrize(("word", "name"), [("maxidle", "cookie <name>"), ("aggregate", "stick-table "), ("roundrobin", "balance "),
                                            ("process-vary maybe", None), ("nosuchword", None)])
def test_a_word_of_an_entry_is_explained_by_it(word, name):
    done = run("--explain", *word.split(), env=dict(os.environ))
    assert (done.returncode == 0) == bool(name), done.stderr
    assert not name or (f"\n{name}" in f"\n{done.stdout}" and word in done.stdout)


def test_a_word_of_many_entries_names_them():
    done = run("--explain", "none", env=dict(os.environ))
    assert done.returncode == 0
    assert done.stdout.startswith("'none' is a word of:\n") and "    verify\n" in done.stdout, done.stdout
    assert done.stdout.count("\n") > 4


def test_the_version_of_the_language(pages):
    version = re.search(r"whose language this is, (\d+\.\d+)\.(\d+),", plain("\n".join(pages["tacit-guide(7)"]["Conditions of .if"])))
    for patch, code in ((int(version[2]), 0), (int(version[2]) + 1, 1)):
        assert run("-cc", f"version_atleast({version[1]}.{patch})").returncode == code
