"""Runs applications on Ray Serve, as lines of standard input say; test_ray.py reads the answers.
Usage: ray_app.py SECONDS [grpc]: how long it waits for the proxy"""

import functools
import http.client
import re
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import grpc
import ray
from ray import serve
from ray._raylet import DASHBOARD_AGENT_LISTEN_PORT_NAME, persist_port
from ray.serve._private import api, client
from ray.serve.generated import serve_pb2, serve_pb2_grpc

HTTP, GRPC, METRICS = 18000, 18001, 18002
# The ports of a node's agents.
AGENTS = {"metrics_agent_port": 18003, "dashboard_agent_listen_port": 18004, "runtime_env_agent_port": 18005}


@serve.deployment(graceful_shutdown_timeout_s=0.5, graceful_shutdown_wait_loop_s=0.1)
class Hello:
    async def __call__(self, request):
        if isinstance(request, serve_pb2.UserDefinedMessage):
            return serve_pb2.UserDefinedResponse(greeting=f"hello {request.name}")
        return f"{request.method} {request.url.path} {len(await request.body())}"


class Load(threading.Thread):
    """Requests one after the other, half of them on a connection of their own, until it is told to stop."""

    def __init__(self, path):
        super().__init__()
        self.path, self.ends, self.answered, self.failed = path, threading.Event(), 0, []

    def run(self):
        kept = http.client.HTTPConnection("127.0.0.1", HTTP, timeout=60)
        while not self.ends.is_set() and self.answered < 100_000:
            for c in (kept, http.client.HTTPConnection("127.0.0.1", HTTP, timeout=60)):
                try:
                    c.request("POST", self.path, b"four")
                    response = c.getresponse()
                    found = response.status, response.read()
                except (OSError, http.client.HTTPException) as e:
                    found = repr(e)
                    c.close()  # usable again
                if found == (200, f"POST {self.path} 4".encode()):
                    self.answered += 1
                else:
                    self.failed.append(found)
                if c is not kept:
                    c.close()
        kept.close()

    def stop(self):
        self.ends.set()
        self.join()
        return f"{self.answered > 0} {self.failed[:5]}"


def read(path, port=HTTP):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as response:
            return f"{response.status} {response.read().decode()}"
    except urllib.error.HTTPError as e:
        return f"{e.code} {e.read().decode()}"
    except (OSError, http.client.HTTPException) as e:
        return repr(e)


def counted(app):
    """Requests that Ray has counted by the log lines of the proxy."""
    rows = [row for row in read("/metrics", METRICS).split("\n") if re.match(r"ray_serve_num_http_requests\w*{", row)]
    return sum(int(float(row.split()[-1])) for row in rows if f'application="{app}"' in row and 'status_code="200"' in row)


def call(name):
    with grpc.insecure_channel(f"127.0.0.1:{GRPC}") as channel:
        stub = serve_pb2_grpc.UserDefinedServiceStub(channel)
        return stub.__call__(serve_pb2.UserDefinedMessage(name=name), metadata=(("application", "a"),), timeout=60).greeting


def no_hurry(seconds):
    """Makes Ray patient where no variable does: a raylet ends if its agent has not written its ports after 15 seconds."""
    start_raylet = ray._private.node.Node.start_raylet

    def start(node, *args, **kw):
        persist_port(node.get_session_dir_path(), node.node_id, DASHBOARD_AGENT_LISTEN_PORT_NAME, AGENTS["dashboard_agent_listen_port"])
        start_raylet(node, *args, **kw)

    ray._private.node.Node.start_raylet = start
    ray._private.parameter.RayParams = functools.partial(ray._private.parameter.RayParams, **AGENTS)
    api.HTTP_PROXY_TIMEOUT = client.HTTP_PROXY_TIMEOUT = seconds


def main():
    no_hurry(int(sys.argv[1]))
    ray.init(num_cpus=4, include_dashboard=False, _temp_dir="/run/ray", _metrics_export_port=METRICS,
             _system_config={"metrics_report_interval_ms": 200})
    grpc_options = None
    if "grpc" in sys.argv[2:]:
        grpc_options = {"port": GRPC, "grpc_servicer_functions": ["ray.serve.generated.serve_pb2_grpc.add_UserDefinedServiceServicer_to_server"]}
    serve.start(http_options={"host": "127.0.0.1", "port": HTTP}, grpc_options=grpc_options)
    load = None
    for line in sys.stdin:
        word, *args = line.split()
        said = "done"
        if word == "run":
            serve.run(Hello.options(num_replicas=int(args[1])).bind(), name=args[0], route_prefix=f"/{args[0]}")
        elif word == "delete":
            serve.delete(args[0])
        elif word == "load":
            load = Load(args[0])
            load.start()
        elif word == "stop":
            said = load.stop()
        elif word == "get":
            said = read(args[0])
        elif word == "counted":
            said = counted(args[0])
        elif word == "alerts":
            texts = [path.read_text() for path in Path("/run/s").glob("*/*.stderr.log")]
            said = len(texts), [row for text in texts for row in text.split("\n") if row.startswith("[ALERT]")]
        elif word == "call":
            said = call(args[0])
        print(f"{word}: {said}", flush=True)


if __name__ == "__main__":
    main()
