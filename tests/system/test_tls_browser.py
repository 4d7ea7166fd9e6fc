"""A browser as a client of TLS: Chromium, with a CA of the test and without it."""

import shutil
import subprocess

import pytest
from browser import CHROMIUM, Browser
from certs import Authority
from conftest import free_ports, wait_for
from subject import only_tacit

CERTUTIL = shutil.which("certutil")
pytestmark = [only_tacit, pytest.mark.skipif(not (CHROMIUM and CERTUTIL), reason="needs chromium and certutil (make deps-ci)")]
HERE = "--host-resolver-rules=MAP *.test 127.0.0.1"
# The server's view of the connection is the page's title.
SHOWN = "%[ssl_fc_sni] %[ssl_fc_protocol] %[ssl_fc_alpn] %[ssl_fc_is_resumed] %[ssl_c_used] %[req.ver]"


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory, ca):
    """A browser that trusts the CA as one of the machine's own, in the place where Chromium looks for those."""
    home = tmp_path_factory.mktemp("trusts")
    store = home / ".pki" / "nssdb"
    store.mkdir(parents=True)
    for args in (["-N", "--empty-password"], ["-A", "-t", "C,,", "-n", "test", "-i", ca.pem]):
        subprocess.run([CERTUTIL, "-d", f"sql:{store}", *args], check=True, capture_output=True, timeout=60)
    b = Browser(home, HERE)
    b.call("Network.enable")
    yield b
    b.close()


@pytest.fixture
def site(daemon, ca, tmp_path):
    """https://a.test and https://b.test, each with a certificate of its own."""
    listed = tmp_path / "list"
    listed.write_text("".join(f"{ca.make(f'{n}.pem', f'{n}.test', [f'{n}.test'])}\n" for n in "ab"))
    (port,) = free_ports(1)
    # The browser opens connections that it may need: they are not waited for.
    d = daemon(f"frontend f\n mode http\n option httpclose\n timeout client 2s\n timeout http-request 2s\n"
               f" bind 127.0.0.1:{port} ssl crt-list {listed} alpn http/1.1 verify optional ca-file {ca.pem}\n"
               " http-after-response set-header Strict-Transport-Security max-age=3600 if { ssl_fc_sni a.test }\n"
               " stats uri /stats\n"
               f" http-request return content-type text/html lf-string '<title>{SHOWN}</title>' unless {{ path /stats }}\n")
    d.port = port
    return d


def at(d, host, path="/", scheme="https"):
    return f"{scheme}://{host}.test:{d.port}{path}"


def opened(browser, url):
    """The title of the page, and what the browser says of its connection."""
    browser.open(url, 1200)
    met = next(e["params"]["response"] for e in browser.events
               if e.get("method") == "Network.responseReceived" and e["params"]["type"] == "Document")
    return browser.js("document.title").split(), met


@pytest.mark.parametrize("host", ["a", "b"])
def test_names_and_certificates(browser, site, ca, host):
    """The browser trusts the certificate of the name that it asks for. It is asked for its own one, and has none."""
    reported, met = opened(browser, at(site, host))
    details = met["securityDetails"]
    assert met["securityState"] == "secure" and met["protocol"] == "http/1.1"
    assert (details["subjectName"], details["issuer"], details["protocol"]) == (f"{host}.test", "test CA", "TLS 1.3")
    assert [reported[i] for i in (0, 1, 2, 4, 5)] == [f"{host}.test", "TLSv1.3", "http/1.1", "0", "1.1"]


def test_it_resumes(browser, site):
    """Each page is a connection. A ticket serves once, and a connection that the browser opens in advance may take it:
    the next page has to wait for another one then."""
    reported = []

    def three_resumed():
        reported.append(opened(browser, at(site, "b"))[0][3])
        return reported.count("1") >= 3

    assert wait_for(three_resumed, step=0), reported
    assert reported[0] == "0" and len(reported) <= 12, reported


def test_statistics(browser, site):
    """The page, its style and its script come over TLS, and nothing is complained about."""
    _, met = opened(browser, at(site, "a", "/stats"))
    assert met["securityState"] == "secure" and not browser.complaints()
    assert "f" in browser.js('[...document.querySelectorAll("h2")].map((h) => h.textContent)')


def test_strict_transport_security(browser, site):
    """A browser that has been at a.test does not ask in clear text again."""
    opened(browser, at(site, "a"))
    reported, met = opened(browser, at(site, "a", scheme="http"))
    assert met["url"] == at(site, "a") and reported[0] == "a.test"
    # b.test has not said so: the request is no hello, and its connection is closed.
    assert "errorText" in browser.call("Page.navigate", url=at(site, "b", scheme="http"))


def test_a_stranger(site, ca, tmp_path_factory):
    """Without the CA the browser refuses the certificate, and sends no request."""
    b = Browser(tmp_path_factory.mktemp("stranger"), HERE)
    try:
        assert b.call("Page.navigate", url=at(site, "a"))["errorText"] == "net::ERR_CERT_AUTHORITY_INVALID"
    finally:
        b.close()
    head, row = site.admin("show stat f 1 -1").strip().split("\n")
    assert dict(zip(head.split(","), row.split(",")))["req_tot"] == "0"
