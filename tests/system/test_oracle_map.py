"""Maps and ACLs over the admin socket: responses are identical to HAProxy's."""
import re
import subprocess

import oracle
import pytest

from conftest import WAIT, admin, answers, free_port, wait_for

FILES = {"i.map": "a 1\nb 2\n", "ip.map": "10.0.0.0/8 ten\n10.1.2.3 host\n::/0 six\n", "r.map": "^/x xs\nb bs\n",
         "a.map": "a 1.2.3.4\n", "n.map": "1 one\n5:9 many\n", "b.map": "a A\na B\n# no entry\nc two  words \n",
         "s.acl": "x\ny\nx\n"}
# HAProxy assigns numbers in this order of lines as we do: it reads the names of backends last.
LINES = """
    acl h hdr(host) -i foo.com bar.com
    acl h hdr(host) -m end .baz.com
    acl n hdr_val(content-length) 1:5 7
    acl n hdr_val(content-length) gt 100
    acl i src 10.0.0.0/8 ::1
    acl j path,lower -u 50 /x
    acl b always_true
    acl f hdr(x) -m found
    acl m path -f DIR/s.acl
    acl m path_beg -f DIR/s.acl
    acl m path -M -f DIR/r.map
    use_backend %[path,map_str_int(DIR/i.map,3)]
    use_backend %[src,map_ip(DIR/ip.map,3)]
    use_backend %[path,map_reg(DIR/r.map,3)]
    use_backend %[path,map_str_ip(DIR/a.map)]
    use_backend %[path,map_int(DIR/n.map)]
    use_backend %[path,map_beg(DIR/b.map)]
"""
COMMANDS = """
show map; show acl
show map DIR/i.map; show map DIR/b.map; show acl DIR/s.acl; show acl #3; show acl #50; show acl DIR/r.map
show map @0 DIR/b.map; show map @7 DIR/b.map; show map #99; show acl nosuch
get map DIR/i.map a; get map DIR/i.map z; get map DIR/ip.map 10.2.2.2; get map DIR/ip.map 1::2
get map DIR/a.map a; get map DIR/n.map 1; get map DIR/n.map 6; get map DIR/n.map six; get map DIR/b.map ab
get acl #0 FOO.com; get acl #1 x.baz.com; get acl #2 4; get acl #2 6; get acl #3 101; get acl #4 10.1.1.1
get acl #50 /x; get acl #50 /X; get acl #5 x; get acl #6 x; get acl DIR/s.acl xy; get acl DIR/s.acl x
get map; get acl #0; get map nosuch x; get acl nosuch x
add map; add map DIR/b.map; add map DIR/b.map k; add map nosuch k v; add acl; add acl #1; add acl nosuch x
add map DIR/b.map k v; add map DIR/b.map a z; add acl #1 .foo; add acl DIR/r.map foo; add acl #2 4:8
show map DIR/b.map; show acl #1; show acl #2; get acl #2 8
del map DIR/b.map a; del map DIR/b.map a; del map DIR/b.map #0xffff; del acl #2 4:8; del acl #2 #zz
del map; del map nosuch; del acl #2
show map DIR/b.map; show acl #2
set map DIR/b.map k w; set map DIR/b.map zz 7; set map DIR/b.map #0x7 7; set map; set map nosuch a b
set map DIR/b.map k; show map DIR/b.map; get map DIR/b.map k
prepare map DIR/b.map; prepare map DIR/b.map; add map @1 DIR/b.map x 1; add map @2 DIR/b.map k 2; add map @3 DIR/b.map z z
show map DIR/b.map; show map @1 DIR/b.map; show map @2 DIR/b.map; get map DIR/b.map x
set map DIR/b.map k 3; show map @2 DIR/b.map; clear map @1 DIR/b.map; show map @1 DIR/b.map
commit map; commit map DIR/b.map; commit map @1; commit map @7 DIR/b.map; commit map @0 DIR/b.map
commit map @2 DIR/b.map; commit map @2 DIR/b.map; show map DIR/b.map; get map DIR/b.map k; show map @0 DIR/b.map
prepare acl #1; commit acl @1 #1; show acl #1; prepare acl; prepare acl nosuch; commit acl @9 #1; commit acl @1
get map DIR/s.acl y; get map #0 FOO.com; set map DIR/s.acl y v; get map DIR/s.acl y; add map DIR/s.acl n w; add map DIR/s.acl n
show acl DIR/s.acl; get acl DIR/s.acl n; set map DIR/s.acl nosuch v; add map @9 DIR/s.acl n w; get acl DIR/b.map k
get acl DIR/i.map z; add acl DIR/i.map k; show acl DIR/i.map; show map DIR/s.acl; clear map DIR/s.acl; clear acl DIR/i.map
prepare map DIR/s.acl; commit map @1 DIR/s.acl; del map DIR/s.acl n
clear map DIR/i.map; show map DIR/i.map; clear map; clear acl nosuch; clear acl @1; clear acl DIR/s.acl; show acl DIR/s.acl
"""
PAYLOADS = ["add map DIR/i.map <<\nc 3\nd 4\n", "add map DIR/a.map <<\nb  1.2.3.5\nc x\n"]


def cleaned(text):
    """Removes the differences: numbers of entries, internal ACLs of HAProxy; it counts entries once for each match
    method, and does not subtract deleted ones."""
    text = re.sub(r"^0x[0-9a-f]+ ", "0x ", text, flags=re.MULTILINE)
    # two internal ACLs have numbers before those of use_backend
    text = re.sub(r"^(1[2-9]|2\d) \(", "N (", text, flags=re.MULTILINE)
    text = re.sub(r"entry_cnt=\d+", "entry_cnt=", text)
    # the message about an invalid IPv4 address differs
    text = re.sub(r"^(unable to parse 'x'\.|the value 'x' is not an address\.)$", "bad value", text, flags=re.MULTILINE)
    return "".join(l for l in text.splitlines(keepends=True) if "httpclient" not in l)


@pytest.mark.parametrize("workers", [1, 2])
def test_map_commands(tmp_path, workers):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    def play(program):
        got, sock = {}, tmp_path / "stats.sock"
        (tmp_path / "x.cfg").write_text(oracle.given(
            f"global\n stats socket {sock} level admin\n nbthread {workers}\ndefaults\n mode http\n timeout client 1m\n"
            f" timeout server 1m\n timeout connect 1m\nfrontend f\n bind 127.0.0.1:{free_port()}\n"
            + LINES.replace("DIR", str(tmp_path)) + " default_backend b\nbackend b\n server s 127.0.0.1:1\n"))
        with subprocess.Popen([program, "-db", "-f", "x.cfg"], cwd=tmp_path, stderr=subprocess.DEVNULL) as p:
            try:
                assert wait_for(lambda: answers(sock)) and p.poll() is None
                for line in (COMMANDS.strip().split("\n") + PAYLOADS + ["show map DIR/i.map", "show map DIR/a.map"]):
                    got[line] = cleaned(admin(sock, line.replace("DIR", str(tmp_path))))
            finally:
                p.terminate()
                p.wait(WAIT)
        sock.unlink(missing_ok=True)
        return got

    theirs, ours = oracle.both(play)
    assert oracle.differences(theirs, ours) == []
