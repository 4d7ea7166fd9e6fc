"""HAProxy's verdict on fetches and converters whose arguments are left out: both programs accept them, or neither."""
import subprocess

import oracle

NUMBERS = ["add", "sub", "mul", "div", "mod", "and", "or", "xor", "ltime", "utime", "http_date", "ipmask"]
TEXTS = ["language", "ltrim", "rtrim", "json", "url_enc", "url_dec", "be2hex", "be2dec", "bytes", "field", "word", "regsub",
         "concat", "add_item", "strcmp", "secure_memcmp", "digest", "hmac", "sha2", "iif", "set-var", "unset-var", "map",
         "crc32", "djb2", "xxh64", "nbsrv", "capture-req"]
FETCHES = ["env", "meth", "str", "int", "bool", "bin", "ipv4", "ipv6", "date", "rand", "uuid", "var", "hdr", "cook", "urlp",
           "req.body_param", "req.payload", "capture.req.hdr", "nbsrv", "queue", "be_conn", "fe_conn", "srv_conn", "http_auth",
           "ssl_c_s_dn", "ssl_f_i_dn"]
EMPTY = ["", '("")']


def accepted(program, expression):
    quoted = "'" + expression + "'"
    text = ("userlist u\n user x insecure-password y\ndefaults\n mode http\n timeout client 1s\n timeout server 1s\n"
            " timeout connect 1s\nlisten f\n bind 127.0.0.1:1\n declare capture request len 9\n"
            f" http-request set-var(txn.y) {quoted}\n")
    return subprocess.run([program, "-c", "-f", "/dev/stdin"], input=oracle.given(text), text=True, capture_output=True, timeout=60,
                          check=False).returncode == 0


def same(expressions):
    theirs, ours = oracle.both(lambda program: {e: accepted(program, e) for e in expressions})
    return oracle.differences(theirs, ours)


def test_numbers():
    assert same([f"int(5),{name}{end}" for name in NUMBERS for end in EMPTY]) == []


def test_texts():
    assert same([f"str(abc),{name}{end}" for name in TEXTS for end in EMPTY]) == []


def test_fetches():
    assert same([f"{name}{end}" for name in FETCHES for end in EMPTY]) == []


def test_several():
    assert same(["ssl_c_s_dn(CN,1,)", "ssl_c_s_dn(CN,1,rfc2253)", "ssl_c_s_dn(CN,1,x)", "bin(61),be2hex(,)", "bin(61),be2hex(,,1)",
                 "bin(61),be2hex(:)", "int(5),utime(,1)", "str(en),language(,fr)", "str(en),language(fr,)"]) == []
