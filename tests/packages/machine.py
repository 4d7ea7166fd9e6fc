"""A machine of its own for a test: systemd as process 1 in namespaces of this kernel, on an overlay of this machine's files.

What happens in it is gone with it. It has its own processes, network (loopback only), users and files; it may not load
modules, set the clock or write kernel parameters.
"""
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

SYSTEMD = "/lib/systemd/systemd"
# Runs as the first process of the namespaces, in the directory of the machine, and becomes systemd.
BOOT = """
mount --make-rprivate /
mount -t tmpfs tmpfs .
cd "$PWD"
mkdir upper work root
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
cd root
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,ro,bind proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
    : >dev/$device
    mount --bind /dev/$device dev/$device
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs tmpfs dev/shm
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs tmpfs tmp
rm -f usr/sbin/policy-rc.d
# man-db would index all pages at each dpkg run
rm -f var/lib/man-db/auto-update
for unit in systemd-remount-fs.service systemd-modules-load.service systemd-sysctl.service dev-hugepages.mount \\
    sys-kernel-debug.mount sys-kernel-tracing.mount sys-fs-fuse-connections.mount; do
    ln -sf /dev/null etc/systemd/system/$unit
done
mkdir old
pivot_root . old
umount -l old
ip link set lo up
exec env -i container=tests PATH=/usr/sbin:/usr/bin:/sbin:/bin setpriv \\
    --bounding-set -sys_time,-sys_module,-sys_boot,-sys_rawio,-syslog,-wake_alarm \\
    /lib/systemd/systemd --system --unit=sysinit.target --log-target=journal
"""


def cgroups():
    """Where a group for the machine can be made, or None."""
    for top in "/sys/fs/cgroup/unified", "/sys/fs/cgroup":
        if os.access(f"{top}/cgroup.procs", os.W_OK) and Path(f"{top}/cgroup.controllers").exists():
            return Path(top)
    return None


class Machine:
    """Boots it. close() ends all that runs in it."""

    def __init__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="tacit-machine-"))
        self.group = cgroups() / self.dir.name
        self.group.mkdir()
        # The machine ends with the process of the test, however that ends.
        enter = (f"echo 0 >{self.group}/cgroup.procs && exec setpriv --pdeathsig KILL unshare --fork --kill-child --pid"
                 ' --mount --cgroup --uts --ipc --net sh -ec "$0"')
        with open(self.dir / "boot.log", "wb") as log:
            self.proc = subprocess.Popen(["sh", "-c", enter, BOOT], cwd=self.dir, stdin=subprocess.DEVNULL,
                                         stdout=log, stderr=log, start_new_session=True)
        self.log = self.dir / "boot.log"
        try:
            self.init = self.wait_for(self.find_init, "systemd does not start")
            self.wait_for(lambda: self.run("systemctl", "is-system-running", check=False).stdout.strip()
                          in ("running", "degraded"), "systemd does not come up")
        except BaseException:
            self.close()
            raise

    def find_init(self):
        assert self.proc.poll() is None, self.log.read_text()
        for pid in Path(f"/proc/{self.proc.pid}/task/{self.proc.pid}/children").read_text().split():
            if Path(f"/proc/{pid}/comm").read_text().strip() == "systemd":
                return int(pid)
        return None

    def wait_for(self, what, why, limit=60):
        end = time.monotonic() + limit
        while not (found := what()):
            assert time.monotonic() < end, f"{why}\n{self.log.read_text()}"
            time.sleep(0.05)
        return found

    def command(self, *command):
        return ["nsenter", "-t", str(self.init), "-m", "-u", "-i", "-n", "-p", "-C", "-W", "/", *map(str, command)]

    def run(self, *command, check=True, text=None):
        """Runs a command in it, with this text as its input."""
        done = subprocess.run(self.command(*command), cwd="/", input=text or "", capture_output=True, text=True, timeout=120,
                              check=False, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive",
                                                "LANG": "C.UTF-8"})
        assert not check or done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done

    def start(self, *command):
        """A process in it, with pipes."""
        return subprocess.Popen(self.command(*command), cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def write(self, path, text):
        self.run("sh", "-c", f"mkdir -p '{Path(path).parent}' && cat >'{path}'", text=text)

    def copy(self, file, path):
        with open(file, "rb") as source:
            subprocess.run(self.command("sh", "-c", f"cat >'{path}'"), cwd="/", stdin=source, check=True, timeout=60)

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.proc.pid, signal.SIGKILL)
        # The end of process 1 ends all that runs in the machine, by --kill-child.
        self.proc.wait()
        for _ in range(100):
            groups = [p for p, _, _ in os.walk(self.group, topdown=False)]
            for group in groups:
                with contextlib.suppress(OSError):
                    os.rmdir(group)
            if not self.group.exists():
                break
            time.sleep(0.05)
        shutil.rmtree(self.dir, ignore_errors=True)


def need_machine():
    if os.getuid() != 0 or not Path(SYSTEMD).exists() or cgroups() is None:
        pytest.skip("a machine of its own needs root, systemd and a cgroup2 hierarchy that it may write")
    if subprocess.run(["unshare", "--pid", "--fork", "--mount", "--cgroup", "--net", "true"], check=False).returncode:
        pytest.skip("no namespaces here")
