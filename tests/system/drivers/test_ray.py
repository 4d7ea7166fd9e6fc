"""Ray Serve in its proxy mode, which runs HAProxy, with a cluster of one node: it writes the configuration, starts the
program, replaces it by -x and -sf at each change, asks its socket, and counts requests by its log."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from programs import ALONE, HERE, TACIT, answers, environment, pypi
from conftest import WAIT
from subject import only_root, only_tacit

pytestmark = [only_tacit, only_root]

# Seconds that Ray waits for its own processes before it gives up or replaces them. Its defaults, of 5 to 60, pass on a busy machine.
PATIENCE, DRAINING = 300, 10
LIMITS = {name: str(PATIENCE) for name in (
    "RAY_gcs_server_request_timeout_seconds", "RAY_gcs_server_port_wait_time_s", "RAY_gcs_rpc_server_connect_timeout_s",
    "RAY_gcs_rpc_server_reconnect_timeout_s", "RAY_py_gcs_connect_timeout_s", "RAY_worker_register_timeout_seconds",
    "RAY_raylet_start_wait_time_s",
    "RAY_SERVE_HAPROXY_STARTUP_TIMEOUT_S", "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S", "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S",
    "RAY_SERVE_PROXY_GRACEFUL_SHUTDOWN_TIMEOUT_S")}
LIMITS |= {name: str(1000 * PATIENCE) for name in (
    "RAY_agent_register_timeout_ms", "RAY_health_check_timeout_ms", "RAY_raylet_client_connect_timeout_milliseconds")}
# A replica that answers a check late is no dead one. One that is replaced serves until the proxy has been told, or for DRAINING
# seconds.
LIMITS["RAY_SERVE_HAPROXY_HEALTH_CHECK_FALL"] = str(2 * PATIENCE)


class Cluster:
    def __init__(self, directory, *words):
        pypi("ray", "ray/serve")
        # Its own tmpfs: the paths of sockets are short.
        state = Path("/run/s")
        env = environment("ray", **LIMITS, HOME=str(directory), RAY_USAGE_STATS_ENABLED="0", RAY_SERVE_ENABLE_HA_PROXY="1",
                          RAY_SERVE_HAPROXY_BINARY_PATH=str(TACIT), RAY_SERVE_HAPROXY_HEALTH_CHECK_INTER="500ms",
                          RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S=str(DRAINING), RAY_COLOR_PREFIX="0",
                          RAY_SERVE_HAPROXY_CONFIG_FILE_LOC=str(state / "haproxy.cfg"), RAY_SERVE_HAPROXY_SOCKET_PATH=str(state / "admin.sock"),
                          RAY_SERVE_HAPROXY_SERVER_STATE_BASE=str(state), RAY_SERVE_HAPROXY_SERVER_STATE_FILE=str(state / "server-state"),
                          RAY_SERVE_HAPROXY_METRICS_SOCKET_PATH=str(state / "metrics.sock"))
        self.log = directory / "stderr"
        self.out = directory / "stdout"
        with open(self.log, "wb") as err:
            self.proc = subprocess.Popen([*ALONE, sys.executable, HERE / "ray_app.py", str(PATIENCE), *words], env=env, text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err)

    def say(self, line):
        """Its answer to a line."""
        self.proc.stdin.write(line + "\n")
        self.proc.stdin.flush()
        word = line.split()[0]
        for answer in self.proc.stdout:
            if answer.startswith(f"{word}: "):
                return answer.removeprefix(f"{word}: ").strip()
        raise AssertionError(self.log.read_text()[-8000:])

    def starts(self):
        """The arguments of each process that Ray has started."""
        found = [line.partition("args=")[2] for line in self.log.read_text().split("\n") if "Starting HAProxy (spawn" in line]
        return [json.loads(args.replace("'", '"')) for args in found]

    def close(self):
        self.proc.kill()
        self.proc.wait(WAIT)


@pytest.fixture
def cluster(tmp_path):
    running = []

    def start(*words):
        running.append(Cluster(tmp_path, *words))
        return running[-1]

    yield start
    for c in running:
        c.close()


def test_replicas_and_applications_come_and_go_under_load(cluster):
    c = cluster()
    assert c.say("run a 1") == "done"
    answers(lambda: c.say("get /a/x"), "200 GET /a/x 0")
    c.say("load /a/y")
    assert c.say("run a 2") == "done"
    assert c.say("run b 1") == "done"
    answers(lambda: c.say("get /b/x"), "200 GET /b/x 0")
    assert c.say("delete b") == "done"
    answers(lambda: c.say("get /b/x")[:3], "404")
    assert c.say("stop") == "True []"
    assert c.say("get /-/healthz") == "200 success"
    assert "/a" in c.say("get /-/routes")
    answers(lambda: int(c.say("counted a")) > 0, True)
    first, *others = c.starts()
    assert others and "-x" not in first and all("-sf" in args and "-x" in args for args in others)
    assert c.say("alerts") == f"({len(others) + 1}, [])"


def test_grpc(cluster):
    c = cluster("grpc")
    assert c.say("run a 1") == "done"
    answers(lambda: c.say("get /a/x"), "200 GET /a/x 0")
    assert c.say("call one") == "hello one"
