"""The package tacit-haproxy-compat on a machine of its own, under systemd: to tacit and back, on machines with haproxy and without."""
import contextlib

import pytest
from machine import Machine, need_machine
from service import CFG, Service, package, status_of

HAPROXY_CFG = """
frontend test
    bind :80
    http-request return status 200 content-type text/plain string one

frontend proxy
    bind :8080
    http-request return status 200 content-type text/plain string one
"""
# Files of the package haproxy that have to stay.
HAPROXY_FILES = ["haproxy.cfg", *(f"errors/{code}.http" for code in (400, 403, 408, 500, 502, 503, 504))]


def files_of_haproxy(machine):
    return machine.run("sh", "-c", f"cd /etc/haproxy && md5sum {' '.join(HAPROXY_FILES)}").stdout


@contextlib.contextmanager
def machine_with_haproxy():
    """A machine on which a haproxy runs at port 8080, as many do, with our packages in /tmp."""
    need_machine()
    with contextlib.closing(Machine()) as m:
        haproxy = Service(m, "haproxy", "/etc/haproxy/haproxy.cfg")
        if m.run("test", "-e", haproxy.cfg, check=False).returncode:
            pytest.skip("haproxy is not installed")
        for name in "tacit", "tacit-haproxy-compat":
            m.copy(package(name), f"/tmp/{name}.deb")
        haproxy.stock = m.run("cat", haproxy.cfg).stdout
        m.write(haproxy.cfg, haproxy.stock + HAPROXY_CFG)
        haproxy.ctl("enable")
        haproxy.ctl("start")
        assert haproxy.answer() == haproxy.answer("http://127.0.0.1:8080/") == "one"
        assert "tacit" not in haproxy.admin("show info", "/run/haproxy/admin.sock")
        haproxy.before = files_of_haproxy(m)
        yield haproxy


@pytest.fixture(name="stock")
def _stock():
    with machine_with_haproxy() as haproxy:
        yield haproxy


@pytest.fixture(name="switched", scope="module")
def _switched():
    """One that has done what the README says."""
    with machine_with_haproxy() as haproxy:
        haproxy.said = haproxy.m.run("apt-get", "install", "-y", "/tmp/tacit.deb", "/tmp/tacit-haproxy-compat.deb")
        yield haproxy


def test_the_compat_package_replaces_a_haproxy_that_runs(switched):
    haproxy, machine = switched, switched.m
    haproxy.wait_for(lambda: haproxy.answer() == haproxy.answer("http://127.0.0.1:8080/") == "one")
    assert "tacit" in haproxy.admin("show info", "/run/haproxy/admin.sock")
    assert files_of_haproxy(machine) == haproxy.before
    assert haproxy.ctl("is-enabled").stdout.strip() == "enabled"
    # The service of the other package has no configuration, and stays out of the way.
    assert Service(machine).ctl("is-active", check=False).stdout.strip() == "inactive"
    assert machine.run("systemctl", "--failed", "--plain", "--no-legend").stdout.count("tacit") == 0
    worker, = haproxy.workers()
    status = status_of(machine, worker)
    assert machine.run("cat", f"/proc/{worker}/comm").stdout.strip() == "haproxy"
    assert int(status["CapPrm"], 16) == 0 and status["Seccomp"] == "2" and status["Uid"].split()[0] != "0"
    assert machine.run("readlink", f"/proc/{worker}/root").stdout.strip() == "/var/lib/haproxy"
    with haproxy.load():
        haproxy.ctl("reload")
    machine.write(haproxy.cfg, haproxy.stock + "frontend\n")
    assert haproxy.ctl("reload", check=False).returncode != 0 and haproxy.answer() == "one"
    machine.write(haproxy.cfg, haproxy.stock + HAPROXY_CFG)


@pytest.mark.parametrize("stopped", [False, True])
def test_purging_haproxy_takes_nothing_away(switched, stopped):
    """Routine cleaning: `apt purge '~c'`. The service may run meanwhile, or not."""
    haproxy, machine = switched, switched.m
    conf = "/etc/default/haproxy /etc/logrotate.d/haproxy /etc/rsyslog.d/49-haproxy.conf"
    if stopped:
        # purged for the second time: as if it had been installed and removed again
        machine.run("sh", "-c", "systemctl stop haproxy; deluser --quiet --system haproxy; dpkg-trigger --by-package=haproxy"
                    " /etc/haproxy; dpkg --triggers-only -a")
    else:
        assert machine.run("dpkg-query", "-W", "-f", "${db:Status-Abbrev}", "haproxy").stdout.strip() == "rc"
        machine.run("dpkg", "-P", "haproxy")
        assert haproxy.answer() == "one"
    assert files_of_haproxy(machine) == haproxy.before
    assert machine.run("sh", "-c", f"ls {conf}").stdout.split() == conf.split()
    assert machine.run("id", "-gn", "haproxy").stdout == "haproxy\n"
    if not stopped:
        haproxy.ctl("reload")
    haproxy.ctl("restart")
    assert haproxy.answer() == "one"
    assert machine.run("stat", "-c", "%U", "/run/haproxy").stdout == "haproxy\n"


def test_the_way_back_is_open(switched):
    """The paths are haproxy's again, and it has the configuration that is there."""
    haproxy, machine = switched, switched.m
    machine.run("dpkg", "-r", "tacit-haproxy-compat")
    assert "haproxy" not in machine.run("dpkg-divert", "--list").stdout
    assert files_of_haproxy(machine) == haproxy.before
    machine.run("dpkg", "-P", "tacit-haproxy-compat")
    assert files_of_haproxy(machine) == haproxy.before
    assert machine.run("test", "-e", "/var/lib/tacit-haproxy-compat", check=False).returncode == 1


def repack(machine, name):
    """The path of a package that is made of what is installed: the machine reaches no mirror."""
    machine.run("sh", "-ec", f"""
        mkdir -p /tmp/again/DEBIAN
        dpkg -L {name} | while read -r path; do
            [ -d "$path" ] || (cd / && cp -a --parents "./$path" /tmp/again)
        done
        dpkg -s {name} | sed -e '/^Status:/d' -e '/^Conffiles:/,/^[^ ]/{{/^Conffiles:/d;/^ /d}}' >/tmp/again/DEBIAN/control
        for part in conffiles preinst postinst prerm postrm triggers; do
            [ ! -e /var/lib/dpkg/info/{name}.$part ] || cp -p /var/lib/dpkg/info/{name}.$part /tmp/again/DEBIAN/$part
        done
        dpkg-deb -b /tmp/again /tmp/{name}-again.deb""")
    return f"/tmp/{name}-again.deb"


def test_a_switch_under_load_has_one_gap(stock):
    """At 200 requests per second, to tacit and back: none is cut, and they are refused between one stop and one start."""
    haproxy, machine = stock, stock.m
    back = repack(machine, "haproxy")
    with haproxy.load(rate=200, gaps=1, may_lose=1):
        haproxy.ctl("restart")
    with haproxy.load(rate=200, gaps=1, may_lose=1):
        machine.run("apt-get", "install", "-y", "/tmp/tacit.deb", "/tmp/tacit-haproxy-compat.deb")
        haproxy.wait_for(lambda: haproxy.answer() == "one")
        assert "tacit" in haproxy.admin("show info", "/run/haproxy/admin.sock")
    with haproxy.load(rate=200, gaps=1, may_lose=1):
        machine.run("apt-get", "install", "-y", back)
        haproxy.wait_for(lambda: haproxy.answer() == "one")
        assert "tacit" not in haproxy.admin("show info", "/run/haproxy/admin.sock")
    assert files_of_haproxy(machine) == haproxy.before
    # The rest of the other package goes without a word, and takes nothing along.
    with haproxy.load():
        machine.run("dpkg", "-P", "tacit-haproxy-compat", "tacit")
    assert files_of_haproxy(machine) == haproxy.before and haproxy.answer() == "one"


@pytest.fixture(name="fresh", scope="module")
def _fresh():
    """A machine that never had a haproxy."""
    need_machine()
    with contextlib.closing(Machine()) as m:
        m.run("dpkg", "-P", "haproxy", check=False)
        m.run("rm", "-rf", "/etc/haproxy", "/var/lib/haproxy")
        assert m.run("id", "haproxy", check=False).returncode
        for name in "tacit", "tacit-haproxy-compat":
            m.copy(package(name), f"/tmp/{name}.deb")
        yield m


def test_the_compat_package_on_a_machine_without_haproxy(fresh):
    haproxy = Service(fresh, "haproxy", "/etc/haproxy/haproxy.cfg")
    said = fresh.run("apt-get", "install", "-y", "/tmp/tacit.deb", "/tmp/tacit-haproxy-compat.deb")
    assert "ailed" not in said.stdout + said.stderr, said.stdout + said.stderr
    assert fresh.run("ls", "/etc/haproxy/errors").stdout.split() == [name[7:] for name in HAPROXY_FILES[1:]]
    assert fresh.run("stat", "-c", "%U %a", "/run/haproxy").stdout == "haproxy 2775\n"
    # Nothing is configured: nothing listens, nothing has failed.
    assert fresh.run("ss", "-Hltn").stdout == ""
    assert fresh.run("systemctl", "--failed", "--plain", "--no-legend").stdout.count("proxy") == 0
    # Debian's own configuration, as it is copied from elsewhere.
    errors = "".join(f"    errorfile {name[7:10]} /etc/haproxy/{name}\n" for name in HAPROXY_FILES[1:])
    fresh.write(haproxy.cfg, CFG.format(word="one", bind=":80", extra="user haproxy\n    group haproxy\n    chroot /var/lib/haproxy")
                .replace("/run/tacit/", "/run/haproxy/").replace("frontend main", errors + "frontend main"))
    haproxy.ctl("start")
    assert haproxy.answer() == "one"
    haproxy.ctl("stop")
    fresh.write("/etc/haproxy/errors/503.http", "HTTP/1.0 503 Mine\n\n")
    fresh.run("dpkg", "-P", "tacit-haproxy-compat")
    # The operator's files stay, all else goes.
    assert fresh.run("find", "/etc/haproxy", "-type", "f").stdout.split() == ["/etc/haproxy/haproxy.cfg",
                                                                              "/etc/haproxy/errors/503.http"]
