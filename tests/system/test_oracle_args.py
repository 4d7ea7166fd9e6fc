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
PAYLOADS = ["0,0", "-1,0", "0,-1", "4,-4", "0,4294967295", "99999999999,1", "2147483648,1", "0x10,4", "0", "0,1,2", ""]
LENGTHS = ["0,2", "-1,2", "0,-2", "0,2,-3", "4,2,-2", "4,2,+2", "4,0", "4,9", "4,200000"]


def starts(program, text):
    return subprocess.run([program, "-c", "-f", "/dev/stdin"], input=oracle.given(text), text=True, capture_output=True, timeout=60,
                          check=False).returncode == 0


def decides(program, condition):
    return starts(program, "listen f\n mode tcp\n bind 127.0.0.1:1\n timeout client 1s\n timeout server 1s\n timeout connect 1s\n"
                           f" tcp-request content reject if {{ {condition} }}\n server s 127.0.0.1:2\n")


def accepted(program, expression):
    quoted = "'" + expression + "'"
    return starts(program, (
        "userlist u\n user x insecure-password y\ndefaults\n mode http\n timeout client 1s\n timeout server 1s\n"
        " timeout connect 1s\nlisten f\n bind 127.0.0.1:1\n declare capture request len 9\n"
        f" http-request set-var(txn.y) {quoted}\n"))


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


def test_payloads():
    conditions = [f"req.payload({a}) -m found" for a in PAYLOADS] + [f"req.payload_lv({a}) -m found" for a in LENGTHS]
    theirs, ours = oracle.both(lambda program: {c: decides(program, c) for c in conditions})
    assert oracle.differences(theirs, ours) == []


def test_addresses_of_bytes():
    samples = ["req.payload(4,4)", "payload(4,4)", "req.payload_lv(4,4)", "src", "int(3)", "str(1)", "str(a),sha1", "var(txn.a)", "uuid"]
    theirs, ours = oracle.both(lambda program: {s: decides(program, s + " -m ip 10.0.0.1") for s in samples})
    assert oracle.differences(theirs, ours) == []
