"""Debian's haproxy as the oracle for quoting, variables and conditions: `.notice` prints its argument."""

import os
import re
import subprocess

import oracle
import pytest
from conftest import WAIT

VARIABLES = {"X": "a b  c", "E": "", "HASH": "a # b", "Q": 'a"b', "D": "$X ${X}", "S": "'q'"}

WORDS = r'''
a
"$X"
"${X}y"
"$X$X"
"$X-y"
"$X[*]"
"${X[*]}"
"z${X[*]}y"
"$NOPE"
"$NOPE-def"
"${NOPE-def ault}"
"${NOPE-}"
"${E-def}"
"${NOPE-${X}}"
"${NOPE-$X}"
"${NOPE-a\}b}"
"${NOPE-a"b}"
"${NOPE-a b[*]}"
"${HASH}"
"${Q}"
"${D}"
"$S"
"${X x}"
"${X+y}"
"${X[0]}"
"${X"
"${NOPE-x"
"$"
"$1"
"${}"
"${1}"
"$.FOO"
"${.NOPE}"
"$.LINE"
"${.SECTION}x"
$X
$1
${
\$X
"\$X"
"\${X}"
\x41\x42
"\x41"
'\x41'
\x4
\xg0
"\x4"
a#b
a\#b
"a#b"
'a#b'
a"b c"d
a'b c'd
a\ b
\q
"\q"
'\q'
\"a
a\'b
'a\'
"a\"b"
""""
"a"'b'
"'"
'"'
"a
'a
"a'
a\
\\
"\\"
'\\'
a b
"" b
\ a
"
'
'''.strip("\n").split("\n")

CONDITIONS = r"""1|0||foo|feature(X)|!!1|! 1|!|!!|1 &&0|1&&1||0|(1|1)|()|((1)|((((1))))|-1|+1|00|2|1a|1 1|1 ||| 1|1&0|  1
1 && foo|0 && foo|1 || foo|0 || 0 && 1|1 || 0 && 0|!(1 && 0)|defined(HOME)|defined(NOPE)|defined|defined()|defined(E)
defined( HOME )|defined (HOME)|defined(HOME|defined(HOME)1|defined(HOME,HOME)|streq()|streq(a)|streq(a,a)|streq(a,b)
streq(a,a,a)|streq(,)|streq( a,a)|streq(a b,a b)|streq(a  b,a b)|streq('a b',a b)|streq($X,a b  c)
streq("$NOPE",)|streq("a,b","a,b")|streq(a\,b,a\,b)|streq('a\,b','a\,b')|streq('\\',\\)|streq('\q',\q)
streq('\n',"\n")|streq('\"',\\\")|streq("'a'",a)|streq("'a",a)|streq(a\)|streq(\"a,b\",\"a,b\")|strneq(a,b)|strneq(a,a)|1 # x|version_atleast(1.0)
version_before(1.0)|version_atleast()|version_atleast(x)|feature(-THREAD)|&& 1|1 &&|streq("a""".split("\n")


def environment():
    return dict(os.environ) | {"HOME": "/"} | VARIABLES


def notices(program, path):
    """{line: message}: the text of a notice, or None for an error."""
    oracle.given(path.read_text())
    done = subprocess.run([program, "-c", "-f", str(path)], capture_output=True, text=True, timeout=WAIT, check=False,
                          env=environment())
    out = {}
    for sev, line, text in re.findall(r"\[(NOTICE|ALERT)\] .* parsing \[[^]]*?:(\d+)(?::\d+)?\] ?: (.*)", done.stderr):
        out[int(line)] = text if sev == "NOTICE" else None
    return out


def test_same_words(tmp_path):
    path = tmp_path / "t.cfg"
    # a long line first, since this oracle reads a line twice while its buffer grows
    path.write_text(f".notice {'0' * 500}\n" + "".join(f".notice {w}\n" for w in WORDS))
    theirs, ours = oracle.both(lambda program: notices(program, path))
    wrong = [f"{w}: haproxy {theirs.get(n)}, tacit {ours.get(n)}" for n, w in enumerate(WORDS, 2)
             if theirs.get(n) != ours.get(n)]
    assert not wrong, "\n".join(wrong)
    assert len([1 for text in theirs.values() if text]) > 40


@pytest.mark.parametrize("expr", [e for line in CONDITIONS for e in re.split(r"(?<!\|)\|(?!\|)", line)])
def test_same_condition(expr):
    theirs, ours = oracle.both(lambda program: subprocess.run([program, "-cc", oracle.given(expr)], capture_output=True, timeout=WAIT,
                                                              check=False, env=environment()).returncode)
    # A syntax error exits with 2 there and with 1 here: test drivers take 1 for "false".
    assert min(theirs, 1) == ours
