"""The package tacit on a machine of its own, under systemd: what an operator does with systemctl and dpkg, and what happens then."""
import contextlib
import re

import pytest
from machine import Machine, need_machine
from service import CFG, Service, package, status_of


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
    with tacit.drop_in("[Service]\nWatchdogSec=60\n"):
        tacit.ctl("restart")
        # systemd has heard of it again while it was slow.
        for _ in range(2):
            before = tacit.show("WatchdogTimestampMonotonic")
            while tacit.show("WatchdogTimestampMonotonic") == before:
                tacit.admin("expert-mode on; debug dev loop 500")
        assert tacit.show("NRestarts") == "0"
        tacit.admin("expert-mode on; debug dev loop 90000 1")
        tacit.wait_for(lambda: tacit.show("NRestarts") == "1" and tacit.answer() == "one", limit=180)
        # The journal has what systemd says of the unit, too.
        tacit.wait_for(lambda: "Watchdog timeout" in tacit.journal())


def test_a_stop_is_quick_and_leaves_nothing(tacit, machine):
    everything = tacit.workers() + [tacit.main_pid()]
    with machine.start("python3", "-c", "import socket; s = socket.create_connection(('127.0.0.1', 80)); print(1, flush=True); s.recv(1)") as c:
        assert c.stdout.readline() == "1\n"
        # Otherwise systemd kills it: a failure.
        tacit.ctl("stop")
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
