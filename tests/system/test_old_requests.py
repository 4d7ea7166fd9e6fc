"""GET, HEAD and DELETE of HTTP/1.0 with a body, as in HAProxy 2.6: 413, or h1-accept-payload-with-any-method."""

import pytest
from conftest import connect, free_port, recv_all
from subject import only_tacit

pytestmark = only_tacit


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
@pytest.mark.parametrize("extra, status", [("", b"413"), ("h1-accept-payload-with-any-method", b"200")])
def test_a_body_of_http_1_0(daemon, method, extra, status):
    port = free_port()
    p = daemon(f"frontend f\n mode http\n bind 127.0.0.1:{port}\n http-request return status 200\n", extra=extra)
    with connect(port) as s:
        s.sendall(f"{method} / HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc".encode())
        assert recv_all(s)[9:12] == status
    errors = p.admin("show errors")
    assert ("invalid request" in errors) == (status == b"413"), errors
