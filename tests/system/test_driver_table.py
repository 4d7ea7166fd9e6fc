"""The section DRIVERS of tacit-guide(7): each program that it says is run or played has a test, and each test of
tests/system/drivers has a row."""

import re

from conftest import ROOT

HERE = ROOT / "tests/system"
# Run unchanged: a star in the manual.
RUN = {
    "Ray Serve": "drivers/test_ray.py: test_replicas_and_applications_come_and_go_under_load, test_grpc",
    "easyhaproxy": "drivers/test_easyhaproxy.py: test_hosts_come_and_a_wrong_file_changes_nothing",
    "haproxyadmin": "drivers/test_drivers.py: test_haproxyadmin",
    "haproxytool": "drivers/test_drivers.py: test_haproxytool",
    "haproxy-cli": "drivers/test_drivers.py: test_haproxy_cli",
    "ansible": "drivers/test_ansible_module.py: test_states_and_weights",
    "puppetlabs-haproxy": "drivers/test_puppet.py: test_puppetlabs_haproxy",
    "munin": "drivers/test_monitors.py: test_munin, test_munin_multigraph",
    "nagios": "drivers/test_monitors.py: test_nagios, test_nagios_of_the_page",
    "hatop": "drivers/test_monitors.py: test_hatop",
    "prometheus-haproxy-exporter": "drivers/test_monitors.py: test_prometheus_haproxy_exporter",
    "Prometheus": "test_promex.py: test_promtool_reads_it",
    "haproxy-log-analysis": "drivers/test_drivers.py: test_haproxy_log_analysis",
    "goaccess": "drivers/test_drivers.py: test_goaccess",
    "awstats": "drivers/test_drivers.py: test_awstats",
    "halog": "test_logs.py: test_halog_gives_the_same_output",
    "keepalived": "test_pair.py: test_a_node_crashes, test_a_stop_in_order_fails_nothing, test_reloads_fail_nothing",
    "certbot": "drivers/test_certbot.py: test_a_certificate_is_got_and_renewed",
}
# Their configurations, commands or rules are played: a plus sign. "form NAME" is one of drivers/forms.
PLAYED = {
    "acme.sh": "test_deploy_hooks.py: test_acme_sh_replaces_a_certificate_without_a_reload",
    "OpenShift's balancer of the API": "form openshift-api; drivers/test_forms.py: test_openshift_replaces_the_balancer_of_the_api",
    "OpenShift's router": "form openshift-router",
    "Octavia": "form octavia",
    "kolla": "form kolla",
    "kubeadm": "form kubeadm",
    "kind": "form kind",
    "Patroni": "form patroni",
    "Canonical's operator": "form canonical",
    "HAProxy's ingress controller": "form kubernetes-ingress",
    "Data Plane API": "form data-plane-api; drivers/test_forms.py: test_a_line_of_many_commands; test_master_socket.py: test_severities_of_messages",
    "Datadog, Telegraf, Zabbix, OpenTelemetry": "test_tools.py: test_telegraf, test_datadog, test_zabbix, test_opentelemetry",
}
ROW = re.compile(r"^\.TP\n\\fB(.*)\\fR(.?)$", re.M)


def rows():
    """{name: mark} of the manual."""
    text = (ROOT / "man/tacit-guide.7.in").read_text().split("\n.SH DRIVERS\n")[1].split("\n.SH ")[0]
    return {name.replace("\\-", "-"): mark for name, mark in ROW.findall(text)}


def named_by(entry):
    """(file, function) of an entry, or ("form", name)."""
    for part in entry.split("; "):
        if part.startswith("form "):
            yield "form", part[5:]
        else:
            file, names = part.split(": ")
            yield from ((file, name) for name in names.split(", "))


def exists(file, name):
    if file == "form":
        return (HERE / "drivers/forms" / f"{name}.cfg").exists() and (HERE / "drivers/forms" / f"{name}.commands").exists()
    return re.search(rf"^def {name}\(", (HERE / file).read_text(), re.M) is not None


def test_each_row_has_its_tests():
    marks = rows()
    assert {name for name, mark in marks.items() if mark == "*"} == set(RUN)
    assert {name for name, mark in marks.items() if mark == "+"} == set(PLAYED)
    missing = [found for entry in (*RUN.values(), *PLAYED.values()) for found in named_by(entry) if not exists(*found)]
    assert not missing


def test_each_test_has_its_row():
    named = {found for entry in (*RUN.values(), *PLAYED.values()) for found in named_by(entry)}
    forms = {("form", path.stem) for path in (HERE / "drivers/forms").glob("*.cfg")}
    functions = {(f"drivers/{path.name}", name) for path in (HERE / "drivers").glob("test_*.py")
                 for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)}
    # All but the one that plays the forms.
    assert (forms | functions) - named == {("drivers/test_forms.py", "test_form")}
