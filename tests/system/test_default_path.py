"""default-path: where relative names of files begin, beside Debian's haproxy where it is installed."""

import subprocess

import oracle
import pytest
from certs import Authority
from conftest import TACIT, WAIT

DEFAULTS = "defaults\n mode http\n timeout client 1s\n timeout connect 1s\n timeout server 1s\n"
# A file of each kind that is read at another moment.
SITE = """frontend {name}
 bind 127.0.0.1:{port} ssl crt {name}.pem ca-file ca.pem verify optional crt-list {name}.list
 errorfile 503 {name}.http
 acl known src -f {name}.acl
 http-request set-header x %[path,map(maps/{name}.map)]
 default_backend b{name}
backend b{name}
 server s 127.0.0.1:1 ssl verify required ca-file ca.pem crt {name}.pem
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Returns a function that makes the files of a site in a directory."""
    ca = Authority(tmp_path_factory.mktemp("ca"))
    pem = ca.make("a.pem", "a", ["a"]).read_text()

    def make(where, name):
        (where / "maps").mkdir(parents=True, exist_ok=True)
        (where / f"{name}.pem").write_text(pem)
        (where / "ca.pem").write_text(ca.pem.read_text())
        (where / f"{name}.list").write_text(f"{name}.pem\n")
        (where / f"{name}.http").write_text("HTTP/1.0 503 No\r\n\r\n")
        (where / f"{name}.acl").write_text("127.0.0.1\n")
        (where / "maps" / f"{name}.map").write_text("/a b\n")
    return make


def check(program, cwd, *files, options=()):
    args = [a for f in files for a in ("-f", f)]
    return subprocess.run([program, *options, "-c", *args], cwd=cwd, capture_output=True, text=True, timeout=WAIT, check=False)


@pytest.mark.parametrize("program", oracle.PROGRAMS.values(), ids=oracle.PROGRAMS)
@pytest.mark.parametrize("policy,start,file,files", [
    ("", "conf", "../conf/x.cfg", "conf"), ("current", "conf", "../other/x.cfg", "conf"),
    ("config", ".", "conf/x.cfg", "conf"), ("config", "conf", "x.cfg", "conf"), ("config", "/", "{top}/conf/x.cfg", "conf"),
    ("parent", ".", "conf/x.cfg", "."), ("parent", "conf", "x.cfg", "."), ("origin data", ".", "conf/x.cfg", "data"),
    ("origin {top}/data", "conf", "x.cfg", "data")])
def test_policies(policy, start, file, files, program, site, tmp_path):
    for d in ("conf", "other", "data"):
        (tmp_path / d).mkdir()
    site(tmp_path / files, "a")
    text = f"global\n default-path {policy.format(top=tmp_path)}\n" if policy else ""
    for d in ("conf", "other"):
        (tmp_path / d / "x.cfg").write_text(text + DEFAULTS + SITE.format(name="a", port=4430))
    done = check(program, tmp_path / start, file.format(top=tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / files / "maps" / "a.map").unlink()
    assert check(program, tmp_path / start, file.format(top=tmp_path)).returncode == 1


@pytest.mark.parametrize("missing", ["a.pem", "ca.pem", "a.list", "a.http", "a.acl", "maps/a.map"])
def test_each_kind_of_file_counts(missing, site, tmp_path):
    site(tmp_path / "conf", "a")
    (tmp_path / "conf" / "x.cfg").write_text("global\n default-path config\n" + DEFAULTS + SITE.format(name="a", port=4430))
    (tmp_path / missing).parent.mkdir(exist_ok=True)
    (tmp_path / "conf" / missing).rename(tmp_path / missing)
    done = check(TACIT, tmp_path, "conf/x.cfg")
    assert done.returncode == 1 and missing in done.stderr, done.stderr


def test_each_configuration_file_has_its_directory(site, tmp_path):
    for name, port in (("a", 4430), ("b", 4431)):
        site(tmp_path / name, name)
        text = "global\n default-path config\n" + DEFAULTS if name == "a" else DEFAULTS
        (tmp_path / name / "x.cfg").write_text(text + SITE.format(name=name, port=port))
    done = check(TACIT, tmp_path, "a/x.cfg", "b/x.cfg")
    assert done.returncode == 0, done.stderr
    assert check(TACIT, tmp_path / "a", "x.cfg", "../b/x.cfg").returncode == 0
    (tmp_path / "b" / "b.pem").unlink()
    assert check(TACIT, tmp_path, "a/x.cfg", "b/x.cfg").returncode == 1


@pytest.mark.parametrize("program", oracle.PROGRAMS.values(), ids=oracle.PROGRAMS)
@pytest.mark.parametrize("line", ["default-path", "default-path foo", "default-path origin",
                                  "default-path origin /nowhere"])
def test_wrong_lines(line, program, tmp_path):
    (tmp_path / "x.cfg").write_text(f"global\n {line}\n" + DEFAULTS + "listen l\n bind 127.0.0.1:4430\n server s 127.0.0.1:1\n")
    done = check(program, tmp_path, "x.cfg")
    assert done.returncode == 1
    assert "default-path" in done.stdout + done.stderr


def test_the_process_serves_from_where_it_was_started(daemon, site, tmp_path):
    """Sockets do not move, and maps keep their names."""
    site(tmp_path / "conf", "a")
    d = daemon("frontend f\n mode http\n bind unix@here.sock\n"
               " http-request return status 200 content-type text/plain lf-string %[path,map(maps/a.map)]\n",
               extra="default-path origin ../conf")
    assert (d.dir / "here.sock").exists()
    assert "maps/a.map" in d.admin("show map")
    assert d.admin("show map maps/a.map").split()[1:] == ["/a", "b"]
