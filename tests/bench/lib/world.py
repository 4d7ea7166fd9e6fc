"""The environment of a run: a network namespace, a temporary directory, and processes.

Everything ends with the World: processes die with this one even if it is killed, the namespaces with their last
process, and the directory is removed."""

import ctypes
import os
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time

CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
START_SECONDS = 60
FAR_LINK = (("10.213.77.1", "tacitfar0"), ("10.213.77.2", "tacitfar1"))
FLOOD_PORT = 9          # discard
FAR_QDISC = "root tbf rate 500kbit burst 1540 latency 2s"
SYSCTLS = {
    "net/ipv4/ip_local_port_range": "11000 64999",
    "net/ipv4/tcp_max_syn_backlog": "16384",
    "net/core/somaxconn": "16384",
}

libc = ctypes.CDLL(None, use_errno=True)


class Failed(Exception):
    """Something that the benchmark started could not be started or did not work."""


class World:
    """A namespace (if root), a directory and processes. A context manager."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="tacit-bench-")
        self.procs = []
        self.private = False
        self.far = None
        self.notes = []
        cpus = sorted(os.sched_getaffinity(0))
        self.cpus = cpus
        self.cpu_peers = cpus[-1]
        if len(cpus) < 2:
            self.notes.append("one CPU only: subject, origin and client share it")
        busy = os.getloadavg()[0]
        if busy >= 1:
            self.notes.append("the machine was busy (load %.1f): latencies, requests per second, segments and "
                              "system calls are worse than it can do" % busy)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.nofile = hard

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(SystemExit(143)))
        try:
            self._enter_namespace()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for p in reversed(self.procs):
            stop(p)
        self.procs.clear()
        shutil.rmtree(self.dir, ignore_errors=True)

    def _enter_namespace(self):
        if os.geteuid() or libc.unshare(CLONE_NEWNET):
            self.notes.append("no private network namespace (needs root): TCP segments count the whole machine's")
            return
        self.private = True
        run("ip link set lo up")
        for name, value in SYSCTLS.items():
            with open("/proc/sys/" + name, "w", encoding="ascii") as f:
                f.write(value)

    def far_open(self, flood):
        """A second namespace behind a link with a delay; its address, or None where that is impossible.

        The program `flood` keeps the link busy from both ends."""
        if self.far is not None or not self.private:
            return self.far and FAR_LINK[1][0]
        holder = self.spawn(["unshare", "-n", "sleep", "1800"], cpu=self.cpu_peers)
        mine = os.readlink("/proc/self/ns/net")
        wait_for(lambda: os.readlink("/proc/%d/ns/net" % holder.pid) != mine, "the far namespace")
        inside = "nsenter -t %d -n " % holder.pid
        (near_ip, near), (far_ip, far) = FAR_LINK
        try:
            run("ip link add %s type veth peer name %s netns %d" % (near, far, holder.pid))
            for pre, ip, dev in (("", near_ip, near), (inside, far_ip, far)):
                run("%sip addr add %s/30 dev %s" % (pre, ip, dev))
                run("%sip link set %s up" % (pre, dev))
                run("%stc qdisc add dev %s %s" % (pre, dev, FAR_QDISC))
        except Failed as why:
            self.notes.append("no far server: %s" % why)
            return None
        self.far = holder.pid
        ends = ["%s:%d" % (ip, FLOOD_PORT) for ip in (near_ip, far_ip)]
        self.spawn([flood] + ends, cpu=self.cpu_peers)
        self.spawn([flood] + ends[::-1], cpu=self.cpu_peers, far=True)
        return far_ip

    def cpus_of(self, threads):
        """The CPUs for a subject with this number of threads."""
        return set(self.cpus[:threads])

    def cpus_beside(self, threads):
        """The CPUs for its peers: those that it leaves, or all of them when there are none."""
        return set(self.cpus[threads:] or self.cpus)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def spawn(self, argv, cpu=None, far=False, idle=False, **kw):
        """Starts a process that dies with this one, on a CPU or a set of them.

        idle: with idle priority. Its output goes to a file by default."""
        def prepare():
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            # A process group, not a session: with sched_autogroup each session gets an even share of a CPU, and
            # SCHED_IDLE has no effect between them.
            os.setpgid(0, 0)
            if cpu is not None:
                os.sched_setaffinity(0, cpu if isinstance(cpu, set) else {cpu})
            if idle:
                os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        if far:
            argv = ["nsenter", "-t", str(self.far), "-n"] + argv
        log = None
        if "stderr" not in kw:
            log = kw["stderr"] = open(self.path("log.%d" % len(self.procs)), "w+b")
        kw.setdefault("stdout", kw["stderr"] if kw["stderr"] != subprocess.PIPE else None)
        kw.setdefault("stdin", subprocess.DEVNULL)
        try:
            p = subprocess.Popen(argv, preexec_fn=prepare, **kw)
        except OSError as why:
            raise Failed("%s: %s" % (argv[0], why)) from why
        p.log = log
        self.procs.append(p)
        return p

    def forget(self, p):
        """Ends a process before the World ends."""
        stop(p)
        if p in self.procs:
            self.procs.remove(p)
        if p.log:
            p.log.close()


def log_of(p):
    """The last lines of a process's output."""
    if not p.log:
        return ""
    p.log.flush()
    with open(p.log.name, "rb") as f:
        return f.read()[-600:].decode("utf-8", "replace").strip()


def stop(p):
    if p.poll() is None:
        p.terminate()
        try:
            p.wait(2)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
    for f in (p.stdin, p.stdout):
        if f:
            f.close()


def run(command):
    """Runs a short administrative command; Failed with its output."""
    done = subprocess.run(command.split(), capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise Failed("%s: %s" % (command, done.stderr.strip()))
    return done.stdout


def wait_for(test, what, seconds=START_SECONDS):
    end = time.monotonic() + seconds
    while not test():
        if time.monotonic() > end:
            raise Failed("gave up waiting for " + what)
        time.sleep(0.01)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def listens(pid, port):
    """True if a socket listens on the port in that process's namespace; makes no connection."""
    want = ":%04X" % port
    with open("/proc/%d/net/tcp" % pid, encoding="ascii") as f:
        return any(w[1].endswith(want) and w[3] == "0A" for w in map(str.split, f) if len(w) > 3)
