"""The time to load a configuration is linear in its size, not quadratic."""

import os
import resource
import subprocess

import pytest
from conftest import TACIT

HEAD = "defaults\n mode http\n timeout client 1s\n timeout connect 1s\n timeout server 1s\n"
FRONT = "frontend f\n bind 127.0.0.1:1\n"
BACK = " default_backend b\nbackend b\n server s 127.0.0.1:2\n"
FEW, MANY = 4000, 40000
KINDS = {
    "acls": lambda n: FRONT + "".join(f" acl a{i} path /{i}\n use_backend b if a{i}\n" for i in range(n)) + BACK,
    "acl ids": lambda n: FRONT + "".join(f" acl a{i} path -u {i} /{i}\n" for i in range(n)) + BACK,
    "acl tests": lambda n: FRONT + "".join(f" acl a hdr(x{i}) y\n" for i in range(n)) + BACK,
    "users": lambda n: "userlist u\n" + "".join(f" user u{i} insecure-password x groups g\n" for i in range(n)) +
    " group g\n" + FRONT + BACK,
    "groups": lambda n: "userlist u\n user u insecure-password x\n" +
    "".join(f" group g{i} users u\n" for i in range(n)) + FRONT + BACK,
    "userlists": lambda n: "".join(f"userlist u{i}\n user u insecure-password x\n" for i in range(n)) + FRONT +
    "".join(f" http-request auth unless {{ http_auth(u{i}) }}\n" for i in range(n)) + BACK,
    "backends": lambda n: FRONT + "".join(f" use_backend b{i} if {{ path /{i} }}\n" for i in range(n)) + BACK +
    "".join(f"backend b{i}\n server s 127.0.0.1:2\n" for i in range(n)),
    "frontends": lambda n: "".join(f"frontend f{i}\n bind 127.0.0.1:{i + 1}\n default_backend b\n" for i in range(n)) +
    "backend b\n server s 127.0.0.1:2\n",
    "binds": lambda n: FRONT + "".join(f" bind 127.0.0.1:{i + 1} id {n - i}\n" for i in range(n)) + BACK,
    "fetches of backends": lambda n: FRONT +
    "".join(f" http-request set-header x %[nbsrv(b{i})]\n" for i in range(n)) + BACK +
    "".join(f"backend b{i}\n server s 127.0.0.1:2\n" for i in range(n)),
    "maps": lambda n: FRONT + "".join(f" http-request set-header x %[path,map({{map}}{i})]\n" for i in range(n)) + BACK,
    "http-errors": lambda n: "".join(f"http-errors e{i}\n" for i in range(n)) + FRONT + BACK +
    "".join(f"backend c{i}\n errorfiles e{i}\n" for i in range(n)),
    "errors": lambda n: FRONT + "".join(f" use_backend b if nosuch{i}\n" for i in range(n)) + BACK,
}


def cost(tmp_path, kind, n):
    """CPU seconds of -c."""
    path = tmp_path / "t.cfg"
    if kind == "maps":
        maps = tmp_path / "maps"
        maps.mkdir(exist_ok=True)
        for i in range(n):
            (maps / str(i)).write_text("")
        text = KINDS[kind](n).replace("{map}", f"{maps}/")
    else:
        text = KINDS[kind](n)
    path.write_text(HEAD + text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([TACIT, "-c", "-f", os.fspath(path)], capture_output=True, text=True, timeout=60, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == (kind == "errors"), done.stderr[-2000:]
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("kind", KINDS)
def test_ten_times_as_many(tmp_path, kind):
    few = cost(tmp_path, kind, FEW)
    # 10 is linear, 100 is quadratic
    assert cost(tmp_path, kind, MANY) < 35 * max(few, 0.02)
