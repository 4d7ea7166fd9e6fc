"""Commands of stick tables: responses are identical to HAProxy's, but for the order of entries and their addresses."""
import re

import oracle
import pytest

from conftest import admin, free_port

TABLES = """
frontend g
    bind 127.0.0.1:{port}
    stick-table type ipv6 size 10 nopurge
    default_backend b
backend b
    server s 127.0.0.1:1
backend t
    stick-table type ip size 1k expire 10m store gpc0,conn_cur,http_req_rate(10m),server_id,server_key,bytes_in_cnt,gpt0
backend s
    stick-table type string len 8 size 30 store gpc(3),gpt(2),gpc_rate(3,1h)
backend d
    stick-table type string size 3 store conn_cnt,conn_rate(1h),sess_cnt,sess_rate(1h),http_req_cnt,http_err_cnt
backend i
    stick-table type integer size 10 store http_err_rate(1h),http_fail_cnt,http_fail_rate(1h),bytes_out_cnt,bytes_in_rate(1h)
backend y
    stick-table type binary len 4 size 10 store bytes_out_rate(1h),gpc0_rate(1h),gpc1,gpc1_rate(1h)
backend n
    stick-table type integer size 2 nopurge
"""
COMMANDS = r"""
show table
show table nope; show table t; show table t foo; show table t key; show table t key 1.2.3.4; show table ptr; show table *
set table; set table t; set table t key; set table t foo; set table nope key 1; set table t key 1.2.3.4; show table t
set table t key 1.2.3.4 data; set table t key 1.2.3.4 data.; set table t key 1.2.3.4 data.gpc0; set table t key 1.2.3.4 data.gpc0 x
set table t key 1.2.3.4 data.gpc0 5x; set table t key 1.2.3.4 data.gpc0 -1; show table t key 1.2.3.4
set table t key 1.2.3.4 data.gpc0 4294967296; set table t key 1.2.3.5 data.gpc0 4294967298; show table t
set table t key 1.2.3.4 data.gpc0 5 data.conn_cur 3 data.http_req_rate 7 data.bytes_in_cnt 99999999999 data.gpt0 4; show table t
set table t key 1.2.3.5 data.gpc0 7 foo; set table t key 1.2.3.5 data.foo 7; set table t key 1.2.3.5 data.gpc1 7
set table t key 1.2.3.5 data.server_key s1; set table t key 1.2.3.5 data.server_id 3; show table t
show table t data.gpc0 gt 4; show table t data.gpc0 gt; show table t data.gpc0; show table t data.gpc0 xx 5; show table t data.gpc0 eq x
show table t data.gpc0 eq -1; show table t data.foo eq 1; show table t data.gpc1 eq 1; show table t data.gpc0 EQ 5
show table t data.gpc0 eq 5 data.gpt0 eq 4; show table t data.gpc0 eq 5 data.gpt0 eq 5; show table t data.gpc0 eq 5 data.gpt0
show table t data.gpc0 ge 5 data.gpc0 le 9 data.gpc0 ne 4 data.gpc0 lt 100
show table t data.gpc0 ge 1 data.gpc0 le 9 data.gpc0 ne 4 data.gpc0 lt 100 data.gpc0 gt 0
show table t data.http_req_rate gt 5; show table t data.server_key eq 1; show table t data.server_id eq 3; show table t data.bytes_in_cnt gt 9999999999
show table t key 9.9.9.9; show table t key 1.2.3.4 foo; show table t ptr 0x0; clear table t ptr 0x0
clear table; clear table nope; clear table t foo; clear table t key; clear table t key 9.9.9.9; clear table t key 1.2.3.4; show table t
set table t key 1.2.3.4; clear table t data.gpc0 eq 77; show table t; clear table t data.gpc0 eq 0; show table t; clear table t; show table t
set table s key abc def; set table s key a\ b; set table s key a\\b"c; set table s key é; set table s key a,b=c:d; show table s
set table s key abcdefghijklmnop data.gpt 5; set table s key k data.gpt0 5; set table s key k data.gpc_rate 9; show table s
show table s key a\ b; show table s key abcdefghZZZ; show table s key zz; show table s data.gpt eq 5; show table s data.gpc0 eq 1
set table d key aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee data.conn_rate 5 data.sess_cnt 2; show table d
set table d key b data.http_err_cnt 3; set table d key c data.sess_rate 2; set table d key b; set table d key e; show table d
set table i key 77 data.http_err_rate 3 data.http_fail_cnt 4 data.http_fail_rate 5 data.bytes_out_cnt 6 data.bytes_in_rate 7; show table i
set table i key -1; set table i key 4294967296; set table i key 4294967295; show table i key 77; clear table i key 77; show table i
set table y key abcd; show table y key abcd; clear table y key abcd; show table y; clear table y; show table y data.gpc1 eq 0
set table g key ::1; set table g key 1.2.3.4; set table g key 2001:DB8::0:1; show table g; show table g key ::1
set table n key 1; set table n key 2; set table n key 3; show table n; clear table n key 1; set table n key 3; show table n
show table
"""
# HAProxy does nothing at the level user, and says nothing.
SILENT = re.compile(r"clear table .( data.*)?")


def cleaned(text):
    """Without addresses of entries and times, each table's entries in order of their text."""
    text = re.sub(r"^0x[0-9a-f]+: ", "0x: ", text, flags=re.MULTILINE)
    text = re.sub(r"exp=[1-9]\d*", "exp=N", text)
    return re.sub(r"(^0x: .*\n)+", lambda m: "".join(sorted(m[0].splitlines(keepends=True))), text, flags=re.MULTILINE)


@pytest.mark.parametrize("level", ["admin", "operator", "user"])
def test_table_commands(tmp_path, level):
    def play(program):
        got = {}
        sock = tmp_path / "level.sock"
        subject = oracle.Subject(program, tmp_path, f" stats socket {sock} level {level}\ndefaults\n mode http\n"
                                 " timeout client 1m\n timeout server 1m\n timeout connect 1m\n"
                                 + TABLES.format(port=free_port()))
        try:
            for n, line in enumerate(COMMANDS.strip().split("\n")):
                if level == "user":
                    line = "; ".join(c for c in line.split("; ") if not SILENT.fullmatch(c))
                got[f"{n} {line}"] = cleaned(admin(sock, line))
        finally:
            subject.stop()
        return got

    theirs, ours = oracle.both(play)
    assert oracle.differences(theirs, ours) == []
