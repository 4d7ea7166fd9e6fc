"""The image that Containerfile describes, made without a container engine: Debian's root with the packages, files and user of
its last stage, run with its command as process 1 of namespaces. Its binary is the tree's release build."""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent.parent
TEXT = re.sub(r"\\\n\s*", "", (TOP / "Containerfile").read_text())
STAGE = [line.split(" ", 1) for line in TEXT[TEXT.rindex("\nFROM "):].splitlines() if line and not line.startswith("#")]
# Programs of the image are not those that with-declared links.
INSIDE = {**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
BOOT = """
root=$1 user=$2
shift 2
mount --make-rprivate /
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
ip link set lo up
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \\
    chroot --userspec="$user:$user" --groups= "$root" "$@"
"""
# A server at the address of conf/container.cfg, and four clients that send one request after the other until a line comes.
LOAD = """
import collections, json, socket, sys, threading, time
def serve():
    while True:
        conn = server.accept()[0]
        conn.recv(4096)
        conn.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok")
        conn.close()
def ask():
    got = b"no connection"
    try:
        with socket.create_connection(("127.0.0.1", 8080), timeout=60) as s:
            s.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
            got = b""
            while part := s.recv(4096):
                got += part
    except OSError as e:
        return f"{e} behind {got}"
    head = got.decode().lower()
    return (head.partition("x-version: ")[2] or "?")[0] if head.endswith("ok") else repr(got)
def client():
    while not over.is_set():
        answer = ask()
        with lock:
            seen[answer] += 1
            lock.notify_all()
server = socket.create_server(("127.0.0.1", 8000), backlog=128)
threading.Thread(target=serve, daemon=True).start()
late = time.monotonic() + 60
while True:
    try:
        socket.create_connection(("127.0.0.1", 8080)).close()
        break
    except OSError:
        if time.monotonic() > late:
            raise
seen, over, lock = collections.Counter(), threading.Event(), threading.Condition()
clients = [threading.Thread(target=client, daemon=True) for _ in range(4)]
for c in clients:
    c.start()
print("begun", flush=True)
for line in sys.stdin:
    with lock:
        more = seen[line.strip()] + 100
        is_enough = lock.wait_for(lambda: seen[line.strip()] >= more, 60)
        print("seen" if is_enough else dict(seen), flush=True)
over.set()
for c in clients:
    c.join()
print(json.dumps(seen))
"""

pytestmark = pytest.mark.skipif(
    os.getuid() != 0 or bool(subprocess.run(["unshare", "--pid", "--fork", "--mount", "--net", "true"], check=False).returncode),
    reason="needs root and namespaces")


def of(word):
    return [rest for w, rest in STAGE if w == word]


def array(word):
    """The array of an instruction, behind its options."""
    return json.loads(of(word)[-1][of(word)[-1].index("["):])


def apt(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(name="image", scope="module")
def _image(tmp_path_factory):
    """The root directory of the image."""
    where = tmp_path_factory.mktemp("image")
    root = where / "root"
    (run,) = of("RUN")
    steps = run.split(" && ")
    assert [step.split()[0] for step in steps] == ["apt-get", "apt-get", "rm", "useradd"], "another image than this test makes"
    packages = steps[1].split("--no-install-recommends")[1].split()
    sources = [line for line in apt("apt-get", "indextargets", "Created-By: Packages", "Origin: Debian", "--format",
                                    "deb $(REPO_URI) $(RELEASE) $(COMPONENT)").splitlines() if " bookworm" in line]
    if not sources:
        pytest.skip("apt has no package sources of Debian 12 here")
    fetching = re.findall(r'(?m)^Acquire::(?:(?:https?|ftp|Retries|Check-[\w-]*|ForceIPv[46])(?:::\S*)?) "[^"]+";$', apt("apt-config", "dump"))
    # A proxy or a source may have a password in it: no other user can read them, here or in the root, which others enter.
    with tempfile.TemporaryDirectory() as private:
        for name, lines in ("sources", sources), ("fetching", fetching):
            file = Path(private, name)
            file.touch(0o600)
            file.write_text("\n".join(lines) + "\n")
        subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "mmdebstrap", "--mode=root", "--variant=minbase", "--quiet",
                        f"--include={','.join(packages)}", f"--aptopt={private}/fetching", "--dpkgopt=force-unsafe-io", "bookworm", str(root),
                        f"{private}/sources"], check=True, timeout=600)
    shutil.rmtree(root / "etc" / "apt")
    subprocess.run(["chroot", str(root), *steps[3].split()], check=True, timeout=60, env=INSIDE)
    for copy in of("COPY"):
        *_, source, to = copy.split()
        (root / to[1:]).parent.mkdir(parents=True, exist_ok=True)
        source = f"{os.environ['TACIT_BUILD']}/tacit" if copy.startswith("--from=build") else TOP / source
        subprocess.run(["cp", str(source), str(root / to[1:])], check=True)
    where.chmod(0o755)
    root.chmod(0o755)
    return root


class Container:
    """A process that runs until close(), whose output is a pipe."""

    def __init__(self, root):
        self.proc = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "--kill-child", "sh", "-euc",
             BOOT, "sh", str(root), *of("USER"), *array("ENTRYPOINT"), *array("CMD")],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=INSIDE)
        self.lines = []

    def init(self):
        """The number of its process 1 out here."""
        return int(Path(f"/proc/{self.proc.pid}/task/{self.proc.pid}/children").read_text().split()[0])

    def until(self, text):
        """Reads its log until a line with this text."""
        late = threading.Timer(60, self.kill)
        late.start()
        try:
            for line in self.proc.stdout:
                self.lines.append(line)
                if text in line:
                    return
        finally:
            late.cancel()
        raise AssertionError(f"it has ended without '{text}'\n{''.join(self.lines)}")

    def is_healthy(self):
        enter = ["nsenter", "-t", str(self.init()), "-m", "-p", "-n", "-r", "-W", "/"]
        return subprocess.run([*enter, *array("HEALTHCHECK")], check=False, timeout=60, env=INSIDE).returncode == 0

    def kill(self):
        # Another user: the end of unshare does not end it.
        with contextlib.suppress(IndexError, OSError):
            os.kill(self.init(), signal.SIGKILL)
        self.proc.kill()

    def close(self):
        self.kill()
        self.proc.wait()
        self.proc.stdout.close()


@pytest.fixture(name="container")
def _container(image):
    c = Container(image)
    yield c
    c.close()


def test_no_setting_of_this_host_is_in_it(image):
    """A line of apt.conf or of its sources may hold a password."""
    assert os.listdir(image.parent) == ["root"]
    assert not (image / "etc" / "apt").exists()


def test_it_reloads_under_load_and_stops(image, container):
    cfg = image / "etc" / "tacit" / "tacit.cfg"
    first = cfg.read_text()
    subprocess.run(["setpriv", "--pdeathsig", "KILL", "sh", "-c", 'until children=$(cat "$0") && [ -n "$children" ]; do :; done',
                    f"/proc/{container.proc.pid}/task/{container.proc.pid}/children"], check=True, timeout=60)
    load = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "nsenter", "-t", str(container.init()), "-n", sys.executable, "-c", LOAD],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def answers(version):
        load.stdin.write(f"{version}\n")
        load.stdin.flush()
        assert load.stdout.readline() == "seen\n"

    try:
        assert load.stdout.readline() == "begun\n"
        init = container.init()
        status = Path(f"/proc/{init}/status").read_text()
        assert re.search(r"(?m)^Uid:\t(\d+)\t\1\t\1\t\1$", status)[1] == of("USER")[0]
        assert re.search(r"(?m)^NSpid:.*\t1$", status)
        assert container.is_healthy()
        answers("?")
        cfg.write_text(first.replace("\tdefault_backend web\n", "\tdefault_backend web\n\thttp-response set-header X-Version 2\n"))
        os.kill(init, signal.SIGUSR2)
        container.until("Proxy www stopped")
        answers("2")
        # A configuration with an error: the reason is in the log, and nothing changes.
        cfg.write_text(first + "\tno-such-word\n")
        os.kill(init, signal.SIGUSR2)
        container.until("no-such-word")
        answers("2")
        assert container.is_healthy() and container.init() == init
    finally:
        cfg.write_text(first)
        try:
            said = load.communicate(timeout=60)[0]
        except subprocess.TimeoutExpired:
            load.kill()
            load.communicate()
            raise
    seen = json.loads(said.splitlines()[-1])
    assert set(seen) == {"?", "2"}, seen
    os.kill(container.init(), getattr(signal, of("STOPSIGNAL")[0]))
    assert container.proc.wait(60) == 0
