"""conf/k8s: the manifests have the form that Kubernetes asks for and agree with each other; their configuration, their probes
and their stop are played, and the pods of a headless service come and go by a scripted DNS server."""

import re
import signal
import subprocess

import pytest
import yaml
from clients import Requests
from conftest import ROOT, TACIT, WAIT, Origin, dumpable, free_network, free_ports
from facts import refuses
from nameserver import Nameserver
from subject import only_tacit
from test_health import status_of

pytestmark = only_tacit
K8S = ROOT / "conf" / "k8s"
SERVICE = "_http._tcp.app.default.svc.cluster.local"
FILES = {path.name: list(yaml.safe_load_all(path.read_text())) for path in sorted(K8S.glob("*.yaml"))}
CONFIG = FILES["configmap.yaml"][0]["data"]["tacit.cfg"]
PODS = {name: docs[0] for name, docs in FILES.items() if docs[0]["kind"] in ("Deployment", "DaemonSet")}

# --- the form ---

NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
PORT = {"name?": str, "containerPort": int, "hostPort?": int}
PROBE = {"httpGet": {"path": str, "port": (int, str)}, "periodSeconds?": int, "failureThreshold?": int}
QUANTITIES = {"cpu?": str, "memory?": str}
CONTAINER = {
    "name": str, "image": str, "args?": [str], "ports?": [PORT], "readinessProbe?": PROBE, "livenessProbe?": PROBE,
    "lifecycle?": {"preStop?": {"exec": {"command": [str]}}}, "resources?": {"requests?": QUANTITIES, "limits?": QUANTITIES},
    "securityContext?": {"allowPrivilegeEscalation?": bool, "readOnlyRootFilesystem?": bool, "capabilities?": {"drop?": [str]}},
    "volumeMounts?": [{"name": str, "mountPath": str, "readOnly?": bool}]}
POD = {
    "securityContext?": {"runAsNonRoot?": bool, "runAsUser?": int, "fsGroup?": int, "seccompProfile?": {"type": str}},
    "terminationGracePeriodSeconds?": int, "containers": [CONTAINER],
    "volumes?": [{"name": str, "configMap?": {"name": str}, "emptyDir?": {"medium?": str}}]}
META = {"name": str, "labels?": {"app.kubernetes.io/name": str}}
TEMPLATE = {"metadata": {"labels": {"app.kubernetes.io/name": str}}, "spec": POD}
SELECTOR = {"matchLabels": {"app.kubernetes.io/name": str}}
# The parts of the API (v1, apps/v1) that the manifests use; a `?` may be left out.
KINDS = {
    ("v1", "ConfigMap"): {"data": {"tacit.cfg": str}},
    ("v1", "Service"): {"spec": {"selector": {"app.kubernetes.io/name": str},
                                 "ports": [{"name?": str, "port": int, "targetPort?": (int, str)}]}},
    ("apps/v1", "Deployment"): {"spec": {
        "replicas?": int, "selector": SELECTOR, "template": TEMPLATE,
        "strategy?": {"rollingUpdate?": {"maxUnavailable?": (int, str), "maxSurge?": (int, str)}}}},
    ("apps/v1", "DaemonSet"): {"spec": {"selector": SELECTOR, "template": TEMPLATE,
                                        "updateStrategy?": {"rollingUpdate?": {"maxUnavailable?": (int, str)}}}},
}


def faults(value, form, where=""):
    """The places where a document is not of this form."""
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return [f"{where}: a mapping"]
        known = {key.rstrip("?"): of for key, of in form.items()}
        bad = [f"{where}/{key}: unknown" for key in value if key not in known]
        bad += [f"{where}/{key}: missing" for key in form if not key.endswith("?") and key not in value]
        return bad + [f for key, v in value.items() if key in known for f in faults(v, known[key], f"{where}/{key}")]
    if isinstance(form, list):
        if not isinstance(value, list) or not value:
            return [f"{where}: a list"]
        return [f for n, v in enumerate(value) for f in faults(v, form[0], f"{where}/{n}")]
    right = isinstance(value, form) and (form is bool or not isinstance(value, bool))
    return [] if right else [f"{where}: {value!r}"]


@pytest.mark.parametrize("name", FILES)
def test_the_form_is_that_of_the_api(name):
    for doc in FILES[name]:
        form = {"apiVersion": str, "kind": str, "metadata": META, **KINDS[doc["apiVersion"], doc["kind"]]}
        assert faults(doc, form) == []
        assert NAME.match(doc["metadata"]["name"])


def test_the_check_of_the_form_finds_faults():
    assert faults({"name": 1, "containerport": 1, "hostPort": True}, PORT) == [
        "/containerport: unknown", "/containerPort: missing", "/name: 1", "/hostPort: True"]
    assert faults({"spec": []}, {"spec": {"a?": str}}) == ["/spec: a mapping"]
    assert faults([], [str]) == [": a list"]


def seconds(keyword):
    return int(re.search(rf"^\s*{keyword} (\d+)s$", CONFIG, re.M).group(1))


@pytest.mark.parametrize("name", PODS)
def test_the_parts_agree(name):
    spec = PODS[name]["spec"]
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    pod = spec["template"]["spec"]
    container, = pod["containers"]
    ports = {p["name"]: p["containerPort"] for p in container["ports"]}
    binds = [int(port) for port in re.findall(r"bind :(\d+)", CONFIG)]
    assert sorted(ports.values()) == sorted(binds)
    for probe, path in (("readinessProbe", "/ready"), ("livenessProbe", "/alive")):
        assert (container[probe]["httpGet"]["path"], ports[container[probe]["httpGet"]["port"]]) == (path, 8081)
    volumes = {v["name"]: v for v in pod["volumes"]}
    assert [m["name"] for m in container["volumeMounts"]] == list(volumes)
    assert volumes["config"]["configMap"]["name"] == FILES["configmap.yaml"][0]["metadata"]["name"]
    assert pod["terminationGracePeriodSeconds"] > seconds("grace") + seconds("hard-stop-after")
    # nodes have noticed that the probe fails before the sockets are closed
    assert seconds("grace") >= 3 * container["readinessProbe"]["periodSeconds"]
    assert pod["securityContext"]["runAsUser"] == int(re.search(r"^USER (\d+)$", (ROOT / "Containerfile").read_text(), re.M).group(1))


def test_the_service_finds_the_pods():
    deployment, service = FILES["deployment.yaml"]
    pod = deployment["spec"]["template"]
    assert service["spec"]["selector"] == pod["metadata"]["labels"]
    names = [p["name"] for p in pod["spec"]["containers"][0]["ports"]]
    assert all(p["targetPort"] in names for p in service["spec"]["ports"])


# --- played ---

class Cluster:
    """The DNS server of a cluster, and pods that it names."""

    def __init__(self, daemon, directory):
        self.daemon, self.dir = daemon, directory
        self.ns, self.net, self.pods = Nameserver(), free_network(), {}

    def add(self, host):
        def serve(conn):
            while conn.recv(4096):
                conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\napp")

        self.pods[host] = Origin(serve, (f"{self.net}.{host}", 8080))
        self.name()

    def remove(self, host):
        """As Kubernetes does it: DNS does not name it any more, and it ends later."""
        self.pods.pop(host).close()
        self.name()

    def name(self):
        """The records of a headless service: all pods with the same weight, each with a name of its own; without pods no name."""
        records = [(33, 8080, f"{h}.app.default.svc.cluster.local", f"{self.net}.{h}") for h in self.pods]
        if records:
            self.ns.zone[SERVICE] = {"srv": records}
        else:
            self.ns.zone.pop(SERVICE, None)

    def tacit(self):
        """A pod of tacit: the process, its port and that of the probes."""
        port, probes = free_ports(2)
        d = self.dir / f"pod{port}"
        d.mkdir()
        text = dumpable(CONFIG)
        text = text.replace("bind :8080", f"bind 127.0.0.1:{port}").replace("bind :8081", f"bind 127.0.0.1:{probes}")
        text = text.replace("/run/tacit/admin.sock", str(d / "stats.sock"))
        text = text.replace("parse-resolv-conf", f"nameserver dns 127.0.0.1:{self.ns.port}").replace("grace 10s", "grace 1h")
        text = re.sub(r"(timeout resolve|timeout retry|hold valid|hold obsolete|hold nx) \ds", r"\1 50ms", text)
        p = self.daemon(text, raw=True, checked=False)
        p.sock = d / "stats.sock"
        return p, port, probes

    def close(self):
        for pod in self.pods.values():
            pod.close()
        self.ns.close()


@pytest.fixture
def cluster(daemon, tmp_path):
    c = Cluster(daemon, tmp_path)
    yield c
    c.close()


def test_the_configuration_is_valid(tmp_path):
    file = tmp_path / "tacit.cfg"
    file.write_text(CONFIG.replace("/run/tacit", str(tmp_path)))
    done = subprocess.run([TACIT, "-c", "-f", file], capture_output=True, text=True, timeout=WAIT, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_pods_come_and_go_by_srv_records(cluster):
    d, port, probes = cluster.tacit()
    # no server yet: not ready, but alive
    assert (status_of(probes, "/ready"), status_of(probes, "/alive")) == (503, 200)
    cluster.add(11)
    d.until("server app/app1 state ne MAINT")
    assert (status_of(probes, "/ready"), status_of(port, "/")) == (200, 200)
    for host in (12, 13):
        cluster.add(host)
        d.until(f"server app/app{host - 10} state ne MAINT")
    cluster.remove(11)
    d.until("server app/app1 state eq MAINT")
    assert status_of(port, "/") == 200
    for host in (12, 13):
        cluster.remove(host)
        d.until(f"server app/app{host - 10} state eq MAINT")
    assert (status_of(probes, "/ready"), status_of(port, "/")) == (503, 503)


def test_a_pod_is_deleted_without_a_lost_request(cluster):
    """The stop in order of preStop: clients leave when the probe fails, and find the pod serving until they have left."""
    cluster.add(11)
    first, second = cluster.tacit(), cluster.tacit()
    for d, _, probes in (first, second):
        d.until("server app/app1 state ne MAINT")
        assert status_of(probes, "/ready") == 200
    load = Requests(first[1], 4)
    assert load.wait(200), load.failed
    command = PODS["deployment.yaml"]["spec"]["template"]["spec"]["containers"][0]["lifecycle"]["preStop"]["exec"]["command"]
    stop = subprocess.Popen([re.sub(r"(kill -\w+) 1;", rf"\1 {first[0].pid};", part) for part in command], stderr=subprocess.DEVNULL)
    first[0].until("counter Stopping eq 1")
    assert (status_of(first[2], "/ready"), status_of(first[2], "/alive")) == (503, 200)
    # for as long as nodes need to notice
    assert load.wait(200), load.failed
    load.stop()
    assert load.failed == []
    load = Requests(second[1], 4)
    first[0].send(signal.SIGUSR1)
    assert first[0].wait() == 0
    refuses(first[1])
    stop.wait(WAIT)
    assert load.wait(200), load.failed
    load.stop()
    assert load.failed == []
