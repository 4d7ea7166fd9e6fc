"""Limits of the process that an operator has to know of are reported."""

import re
import resource

import pytest
from conftest import connect, free_port, needs_descriptors
from subject import LogServer
from test_process import listen_on, served, talks


def test_the_log_reports_that_maxconn_is_reached(daemon, origin):
    """Once for all workers, and not again for each connection that waits; `show activity` counts."""
    log, port = LogServer(), free_port()
    d = daemon(listen_on(port, origin), extra=f"maxconn 2\n    log 127.0.0.1:{log.port} local0")
    with served(port):
        assert re.search(r"^maxconn_reached: 0\b", d.admin("show activity"), re.M)
    for _ in range(3):
        with served(port) as a, served(port), connect(port) as c:
            c.sendall(b"x")
            a.close()
            assert c.recv(1) == b"x"
    d.until("sessions eq 0")
    lines = [line for line in log.drain() if "maxconn" in line]
    assert len(lines) == 1 and lines[0].startswith("<132>") and "maxconn 2 of the process is reached" in lines[0], lines
    assert int(re.search(r"^maxconn_reached: (\d+)", d.admin("show activity"), re.M)[1]) >= 3
    log.close()


@needs_descriptors
@pytest.mark.parametrize("fds_allowed, is_few", [(120, True), (1024, False)])
def test_few_descriptors_without_maxconn(daemon, fds_allowed, is_few):
    """The limit of a shell or a container decides how many clients are served: few is reported."""
    d = daemon(f"frontend f\n    bind 127.0.0.1:{free_port()}\n", limits=[(resource.RLIMIT_NOFILE, fds_allowed, fds_allowed)])
    maxconn = d.info()["Maxconn"]
    assert (int(maxconn) < 100) == is_few
    assert (f"[WARNING]  ({d.pid}) : maxconn {maxconn} (derived): {fds_allowed} descriptors" in d.stderr) == is_few
    assert ("Raise 'ulimit -n'" in d.stderr) == is_few


def test_in_the_foreground_no_pid_file_is_needed(daemon, origin):
    port = free_port()
    d = daemon(listen_on(port, origin), "-p", "/nonexistent/pid")
    assert talks(port) and "[WARNING]" in d.stderr and "cannot create pidfile /nonexistent/pid" in d.stderr
