"""The packages on a machine of their own, under systemd: what an operator does with systemctl and dpkg, and what happens then."""
import contextlib
import os
import re
import time
from pathlib import Path

import pytest
from machine import Machine, need_machine

DEB = Path(os.environ["TACIT_BUILD"]) / "deb"

CFG = """\
global
    log /dev/log local0
    stats socket /run/tacit/admin.sock mode 660 level admin
    {extra}
defaults
    mode http
    timeout connect 5s
    timeout client 5s
    timeout server 5s
frontend main
    bind {bind}
    http-request return status 200 content-type text/plain string {word}
"""

# One connection after the other until its input ends, at most as many per second as its argument has, if it has one; then
# how many were answered, how many were refused, how many ended without an answer, and how often refusals began.
LOAD = """\
import socket, sys, threading
end = threading.Event()
good = refused = lost = gaps = since = after = 0
begun = False
serves, between = True, 1 / float(sys.argv[1]) if sys.argv[1:] else 0
threading.Thread(target=lambda: (sys.stdin.read(), end.set()), daemon=True).start()
while True:
    try:
        with socket.create_connection(("127.0.0.1", 80), timeout=10) as s:
            s.sendall(b"GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n")
            got = b""
            while part := s.recv(4096):
                got += part
        if got.startswith(b"HTTP/1.1 200 "):
            good += 1
            serves = True
        else:
            lost += 1
    except ConnectionRefusedError:
        refused += 1
        gaps += serves
        serves = False
    except OSError:
        lost += 1
    since = since + 1 if serves else 0
    if good == 10 and not begun:
        begun = True
        print("begun", flush=True)
    if end.wait(between):
        after += 1
        # A service that stays away is reported as it was: none has been served in the end.
        if since >= 10 or after == 3000:
            break
print(good if serves else 0, refused, lost, gaps)
"""


def package(name):
    return next(DEB.glob(f"{name}_*.deb"))


class Service:
    """A service of a machine, its configuration and its journal."""

    def __init__(self, machine, name="tacit", cfg="/etc/tacit/tacit.cfg"):
        self.m, self.name, self.cfg = machine, name, cfg

    def configure(self, word="one", bind=":80", extra=""):
        self.m.write(self.cfg, CFG.format(word=word, bind=bind, extra=extra))

    def ctl(self, verb, check=True):
        return self.m.run("systemctl", verb, self.name, check=check)

    def show(self, field):
        return self.m.run("systemctl", "show", "--value", "-p", field, self.name).stdout.strip()

    def main_pid(self):
        return int(self.show("MainPID"))

    def workers(self):
        children = self.m.run("cat", f"/proc/{self.main_pid()}/task/{self.main_pid()}/children", check=False).stdout
        return [int(pid) for pid in children.split()]

    def answer(self, url="http://127.0.0.1/"):
        return self.m.run("curl", "-s", "-m", "10", url, check=False).stdout

    def admin(self, command, sock="/run/tacit/admin.sock"):
        script = ("import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n"
                  "s.sendall(sys.argv[2].encode() + b'\\n')\nwhile part := s.recv(65536): print(part.decode(), end='')\n")
        return self.m.run("python3", "-c", script, sock, command).stdout

    def journal(self, *options):
        return self.m.run("journalctl", "-u", self.name, "-o", "cat", "--no-pager", *options).stdout

    def wait_for(self, what, limit=15):
        end = time.monotonic() + limit
        while not what():
            assert time.monotonic() < end, self.m.run("systemctl", "status", "--no-pager", self.name, check=False).stdout \
                + self.journal("-n", "30")
            time.sleep(0.05)

    @contextlib.contextmanager
    def drop_in(self, text):
        path = f"/etc/systemd/system/{self.name}.service.d/test.conf"
        self.m.write(path, text)
        self.m.run("systemctl", "daemon-reload")
        try:
            yield
        finally:
            self.m.run("rm", path)
            self.m.run("systemctl", "daemon-reload")
            self.ctl("reset-failed", check=False)

    @contextlib.contextmanager
    def load(self, may_lose=0, gaps=0, rate=None):
        """Connections all the time, from ten before until ten after. None may be refused but in as many gaps, and not more than
        these may end without an answer."""
        with self.m.start("python3", "-c", LOAD, *([str(rate)] if rate else [])) as client:
            assert client.stdout.readline() == "begun\n"
            try:
                yield
            finally:
                client.stdin.close()
                result = client.stdout.read()
        good, refused, lost, found = map(int, result.split())
        assert found <= gaps and bool(refused) <= gaps and lost <= may_lose and good >= 20, result


@pytest.fixture(name="machine", scope="module")
def _machine():
    need_machine()
    with contextlib.closing(Machine()) as m:
        for name in "tacit", "tacit-haproxy-compat":
            m.copy(package(name), f"/tmp/{name}.deb")
        m.run("dpkg", "-i", "/tmp/tacit.deb")
        yield m


@pytest.fixture(name="tacit")
def _tacit(machine):
    """The service, serving "one" at port 80."""
    s = Service(machine)
    s.configure()
    s.ctl("reset-failed", check=False)
    s.ctl("restart")
    assert s.answer() == "one"
    return s


def status_of(machine, pid):
    return dict(line.split(":\t", 1) for line in machine.run("cat", f"/proc/{pid}/status").stdout.splitlines())


def test_without_a_configuration_no_port_is_taken(machine):
    """Directly after the installation; and that is no failure."""
    service = Service(machine)
    assert service.ctl("is-enabled").stdout.strip() == "enabled"
    assert service.ctl("is-active", check=False).stdout.strip() == "inactive"
    assert machine.run("ss", "-Hltn").stdout == ""
    assert machine.run("ls", "/etc/tacit").stdout == ""
    assert machine.run("systemctl", "--failed", "--plain", "--no-legend").stdout.count("tacit") == 0
    service.ctl("start")
    assert service.ctl("is-active", check=False).stdout.strip() == "inactive" and service.show("Result") == "exec-condition"
    # A file at another place is one, too.
    machine.write("/srv/other.cfg", CFG.format(word="other", bind=":80", extra=""))
    machine.write("/etc/default/tacit", "CONFIG=/srv/other.cfg\n")
    service.ctl("start")
    assert service.answer() == "other"
    machine.run("rm", "/etc/default/tacit", "/srv/other.cfg")
    service.ctl("stop")


def test_it_is_started_and_confined(tacit, machine):
    assert tacit.ctl("is-enabled").stdout.strip() == "enabled"
    assert tacit.show("StatusText").startswith("Serving")
    worker, = tacit.workers()
    status = status_of(machine, worker)
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == int(status["CapInh"], 16) == 0
    assert status["Uid"].split()[0] != "0" and status["Groups"].split() in ([], [status["Gid"].split()[0]])
    assert int(re.search(r"Max open files +(\d+)", machine.run("cat", f"/proc/{worker}/limits").stdout)[1]) >= 8000
    score = machine.run("systemd-analyze", "security", "--no-pager", "tacit.service").stdout
    assert float(re.search(r"exposure level for tacit.service: ([0-9.]+)", score)[1]) <= 2.0
    assert "Uptime_sec:" in tacit.admin("show info")


def test_reloads_under_load_lose_nothing(tacit):
    master = tacit.main_pid()
    with tacit.load():
        for i in range(5):
            tacit.configure(word=f"word{i}")
            tacit.ctl("reload")
            assert tacit.answer() == f"word{i}"
    assert tacit.main_pid() == master


def test_a_bad_reload_fails_and_changes_nothing(tacit, machine):
    worker = tacit.workers()
    machine.write(tacit.cfg, CFG.format(word="two", bind=":80", extra="nbthred 2"))
    assert tacit.ctl("reload", check=False).returncode != 0
    assert tacit.ctl("is-active").stdout.strip() == "active"
    assert tacit.workers() == worker and tacit.answer() == "one"
    tacit.wait_for(lambda: "tacit.cfg:4:5]" in tacit.journal("-p", "err"))
    assert "reload" in tacit.show("StatusText").lower(), tacit.show("StatusText")
    tacit.configure(word="two")
    tacit.ctl("reload")
    assert tacit.answer() == "two"


def test_a_start_that_fails_says_why(tacit, machine):
    tacit.ctl("stop")
    machine.write(tacit.cfg, "frontend f\n bind :80\n mode tpc\n")
    assert tacit.ctl("start", check=False).returncode != 0
    tacit.wait_for(lambda: "tacit.cfg:3:7]" in tacit.journal("-p", "err"))
    tacit.ctl("stop")


def test_a_worker_and_a_master_that_die_are_replaced(tacit, machine):
    master, (worker,) = tacit.main_pid(), tacit.workers()
    machine.run("kill", "-KILL", worker)
    tacit.wait_for(lambda: tacit.workers() not in ([], [worker]) and tacit.answer() == "one")
    assert tacit.main_pid() == master and tacit.show("NRestarts") == "0"
    machine.run("kill", "-KILL", master)
    tacit.wait_for(lambda: tacit.main_pid() not in (0, master) and tacit.answer() == "one")
    assert tacit.show("NRestarts") == "1"


def test_the_watchdog_ends_a_service_that_stalls_and_not_one_that_is_slow(tacit):
    with tacit.drop_in("[Service]\nWatchdogSec=2\n"):
        tacit.ctl("restart")
        for _ in range(6):
            tacit.admin("expert-mode on; debug dev loop 500")
        assert tacit.show("NRestarts") == "0"
        tacit.admin("expert-mode on; debug dev loop 8000 1")
        tacit.wait_for(lambda: tacit.show("NRestarts") == "1" and tacit.answer() == "one")
        # The journal has what systemd says of the unit, too.
        tacit.wait_for(lambda: "Watchdog timeout" in tacit.journal())


def test_a_stop_is_quick_and_leaves_nothing(tacit, machine):
    everything = tacit.workers() + [tacit.main_pid()]
    with machine.start("python3", "-c", "import socket; s = socket.create_connection(('127.0.0.1', 80)); print(1, flush=True); s.recv(1)") as c:
        assert c.stdout.readline() == "1\n"
        begin = time.monotonic()
        tacit.ctl("stop")
        assert time.monotonic() - begin < 20
        c.stdin.close()
    assert tacit.show("Result") == "success" and tacit.ctl("is-active", check=False).stdout.strip() == "inactive"
    for pid in everything:
        assert machine.run("test", "-e", f"/proc/{pid}", check=False).returncode == 1
    assert machine.run("test", "-e", "/run/tacit", check=False).returncode == 1


def test_an_upgrade_under_load_loses_nothing(tacit, machine):
    """The new program calls itself another version; the master stays and runs it as well."""
    master = tacit.main_pid()
    machine.run("dpkg-deb", "-R", "/tmp/tacit.deb", "/tmp/next")
    machine.run("sed", "-i", "s/^Version: .*/Version: 9.8/", "/tmp/next/DEBIAN/control")
    machine.run("python3", "-c", """if True:
        import re
        program = open("/tmp/next/usr/sbin/tacit", "rb").read()
        program, n = re.subn(rb"3[.]0[.]0-tacit[0-9]", b"3.0.0-tacit9", program)
        assert n
        open("/tmp/next/usr/sbin/tacit", "wb").write(program)
        """)
    machine.run("dpkg-deb", "-b", "/tmp/next", "/tmp/next.deb")
    with tacit.load():
        machine.run("dpkg", "-i", "/tmp/next.deb")
    assert tacit.main_pid() == master and tacit.answer() == "one"
    worker, = tacit.workers()
    assert machine.run("readlink", f"/proc/{worker}/exe").stdout.strip() == "/usr/sbin/tacit"
    tacit.wait_for(lambda: machine.run("readlink", f"/proc/{master}/exe").stdout.strip() == "/usr/sbin/tacit")
    versions = {line.split()[0]: line.split()[-1] for line in tacit.admin("show proc", "/run/tacit/master.sock").splitlines()
                if re.match("[0-9]", line)}
    assert set(versions) == {str(master), str(worker)}
    assert "tacit9" in versions[str(worker)] and "tacit9" in versions[str(master)]
    # The new program is the service's main process as before: reloads, deaths of workers and the stop.
    tacit.ctl("reload")
    tacit.wait_for(lambda: len(tacit.workers()) == 1)
    worker, = tacit.workers()
    machine.run("kill", "-KILL", str(worker))
    tacit.wait_for(lambda: tacit.workers() not in ([], [worker]) and tacit.answer() == "one")
    assert tacit.main_pid() == master
    with tacit.load():
        machine.run("dpkg", "-i", "/tmp/tacit.deb")
    assert tacit.main_pid() == master
    tacit.ctl("restart")
    assert tacit.main_pid() != master and tacit.answer() == "one"


def test_sockets_of_systemd_are_kept_over_a_restart(tacit, machine):
    machine.write("/etc/systemd/system/tacit.socket", "[Socket]\nListenStream=127.0.0.1:80\nFileDescriptorName=web\n")
    tacit.ctl("stop")
    tacit.configure(bind="fd@web")
    try:
        with tacit.drop_in("[Unit]\nRequires=tacit.socket\nAfter=tacit.socket\n"):
            machine.run("systemctl", "start", "tacit.socket")
            assert tacit.ctl("is-active", check=False).stdout.strip() == "inactive"
            # The first connection starts the service.
            assert tacit.answer() == "one"
            # The connection that is open when the service stops is closed: a restart is no reload.
            with tacit.load(may_lose=1):
                master = tacit.main_pid()
                tacit.ctl("restart")
                assert tacit.main_pid() != master and tacit.answer() == "one"
                tacit.ctl("reload")
            tacit.ctl("stop")
    finally:
        machine.run("systemctl", "stop", "tacit.socket", "tacit.service")
        machine.run("rm", "/etc/systemd/system/tacit.socket")


def test_a_service_may_start_as_root_and_drop_its_rights(tacit, machine):
    """The drop-in that the unit's comment describes."""
    unit = machine.run("cat", "/lib/systemd/system/tacit.service").stdout
    drop_in = "\n".join(line[4:] for line in unit.splitlines() if line.startswith("#   "))
    assert "DynamicUser=no" in drop_in
    machine.run("mkdir", "-p", "/var/empty")
    tacit.configure(extra="user tacit\n    group tacit\n    chroot /var/empty")
    with tacit.drop_in(drop_in):
        tacit.ctl("restart")
        worker, = tacit.workers()
        assert tacit.answer() == "one"
        assert machine.run("readlink", f"/proc/{worker}/root").stdout.strip() == "/var/empty"
        status = status_of(machine, worker)
        assert status["Uid"].split()[0] != "0" and int(status["CapPrm"], 16) == 0
        tacit.configure(word="two", extra="user tacit\n    group tacit\n    chroot /var/empty")
        tacit.ctl("reload")
        assert tacit.answer() == "two"
        tacit.ctl("stop")


def test_a_removed_package_stops_and_a_purged_one_leaves_no_file(tacit, machine):
    machine.run("dpkg", "-r", "tacit")
    assert tacit.answer() == "" and machine.run("test", "-e", tacit.cfg).returncode == 0
    # The operator has written it: no package removes it.
    machine.run("dpkg", "-P", "tacit")
    assert machine.run("cat", tacit.cfg).stdout
    machine.run("rm", tacit.cfg)
    machine.run("dpkg", "-i", "/tmp/tacit.deb")


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
