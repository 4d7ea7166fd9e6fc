"""oracle.py: what is recorded is read again, and what is missing or was made from something else is named."""

import ast
import re
from pathlib import Path

import oracle
import pytest

VALUES = [
    0, None, True, "", "text", "two\nlines\n" * 20, b"\x00\xff" * 99, "\x1b \u20ac", [], (), {}, set(), (1,), [[]], {"a", "b"}, ({"a", "b", "c", "d"}, [{"b": {"x", "y", "z"}, "a": (1,)}]),
    {("b", "s"): ["x" * 90, ("y" * 90, None)], ("a", "s"): {"k": {1, 2}}}, [b"\r\n".join([b"line"] * 40)], ["wide " * 40],
]


@pytest.fixture(name="folder")
def _folder(tmp_path, monkeypatch):
    """A folder for recordings. Each answer may be given once more."""
    monkeypatch.setattr(oracle, "FOLDER", tmp_path)
    monkeypatch.setattr(oracle, "version", lambda: "HAProxy version 2.6")
    monkeypatch.setattr(oracle, "_loaded", {})
    monkeypatch.setattr(oracle, "_names", set())
    return tmp_path


def play(monkeypatch, answers, script="a script", records=False, **kw):
    monkeypatch.setattr(oracle, "RECORDS", records)
    oracle._names.clear()
    oracle._loaded.clear()
    return oracle.both(lambda who: answers[who], {"haproxy": "h", "tacit": "t"} if records else {"tacit": "t"}, script=script, **kw)


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_what_is_written_is_read_again(folder, monkeypatch, value):
    assert ast.literal_eval(oracle.form(value)) == value
    assert play(monkeypatch, {"h": value, "t": "ours"}, records=True) == (value, "ours")
    assert play(monkeypatch, {"t": "ours"}) == (value, "ours")
    text = next(folder.iterdir()).read_text()
    assert text.startswith("# HAProxy version 2.6.\n# What it has answered to tests/system/test_recordings.py.")
    assert all(line.rstrip() == line for line in text.split("\n"))


def test_the_text_does_not_depend_on_the_order(folder):
    names = [chr(c) for c in range(97, 123)]
    assert oracle.form([set(names), {n: 0 for n in names}]) == oracle.form([set(reversed(names)), {n: 0 for n in reversed(names)}])
    assert oracle.form(({"b", "a"}, {"d": {"f", "e"}, "c": 1})) == "({'a', 'b'}, {'c': 1, 'd': {'e', 'f'}})"


def test_recordings_of_one_file_are_sorted_and_kept(folder, monkeypatch):
    for name, answer in (("b", 1), ("a", 2), ("b", 3)):
        play(monkeypatch, {"h": answer, "t": 0}, records=True, name=name)
    names = [line.split(" @")[0].rsplit(": ")[-1] for line in (folder / "recordings.txt").read_text().split("\n")[2:-1]]
    assert names == ["a", "b"]
    assert [play(monkeypatch, {"t": 0}, name=name)[0] for name in "ab"] == [2, 3]


def test_a_missing_one_is_named(folder, monkeypatch):
    with pytest.raises(pytest.fail.Exception, match="recordings.txt: HAProxy's answer for 'test_a_missing_one_is_named' is missing: "
                                                    "run `make oracle`"):
        play(monkeypatch, {"t": 0})


def test_one_of_another_configuration_is_named(folder, monkeypatch):
    play(monkeypatch, {"h": 0, "t": 0}, script="bind 127.0.0.1:12345\n", records=True)
    assert play(monkeypatch, {"t": 0}, script="bind 127.0.0.1:23456\n") == (0, 0)
    with pytest.raises(pytest.fail.Exception, match="was recorded from another configuration: run `make oracle`"):
        play(monkeypatch, {"t": 0}, script="bind 127.0.0.1:23456 ssl\n")


def test_what_a_play_is_given_counts(folder, monkeypatch):
    for text in ("one", "another"):
        monkeypatch.setattr(oracle, "RECORDS", text == "one")
        oracle._names.clear()
        try:
            oracle.both(lambda who, text=text: len(oracle.given(text)), {"haproxy": 0, "tacit": 0})
        except pytest.fail.Exception as e:
            assert text == "another" and "another configuration" in str(e)
        else:
            assert text == "one"


@pytest.mark.parametrize("theirs, ours, want", [
    ([1, 2], [1, 2], []), ([1, 2], [1, 3], [(2, 3)]), ([1], [1, 2], [(None, 2)]), ([1, 2], [1], [(2, None)]),
    ({"a": 1}, {"a": 1}, []), ({"a": 1, "b": 2}, {"a": 3}, [("a", 1, 3), ("b", 2, None)]), ({}, {"a": None}, [("a", None, None)]),
])
def test_differences_are_shown(theirs, ours, want):
    assert oracle.differences(theirs, ours) == want


@pytest.mark.parametrize("text, want", [
    ("<134>Jan  2 03:04:05 name[17]: 127.0.0.1:34567 [01/Feb/2026:10:11:12.345] x", "<134>DATE name[PID]: 127.0.0.1:PORT [DATE] x"),
    ("1 2026-01-02T03:04:05.000006+00:00 h", "1 ISO-DATE h"), ("crt /tmp/pytest-of-me/pytest-7/test_x0/haproxy/a.pem", "crt DIR/a.pem"),
    ("notBefore: Jan  2 03:04:05 2026 GMT", "notBefore: DATE"), ("Serial: 1A2B", "Serial: NUMBER"), ("127.0.0.1:80 12345", "127.0.0.1:80 12345"),
])
def test_what_changes_from_run_to_run_is_taken_out(text, want):
    assert oracle.plain({text: [text.encode()]}) == {want: [want.encode()]}


def test_an_answer_that_comes_later_is_waited_for(folder, monkeypatch):
    """HAProxy's is the one that stays."""
    monkeypatch.setattr(oracle, "LASTS", 0.2)
    values = {"h": iter([1, 2]), "t": iter([1, 1, 2])}
    last = {}

    def read(who):
        last[who] = next(values[who], last.get(who))
        return last[who]
    monkeypatch.setattr(oracle, "RECORDS", True)
    assert oracle.both(read, {"haproxy": "h", "tacit": "t"}, until_equal=True, script="x") == (2, 2)


MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
# Years of this time, or digits that are not compared.
DATE = re.compile(rf"[\dN][ /-](?:{MONTHS})[ /-](?:20[2-8]\d|\d\d:|N)|>(?:{MONTHS}) ")


def test_recordings_hold_no_date_of_the_day_they_were_made():
    """They are the same in the next month."""
    for line in ("[N/Nov/N:N:N:N.N]", "30/Nov/2026:22", "Mon, 30 Nov 2026 08:49:37 GMT", "<129>Nov 30 22:00:00 x"):
        assert DATE.search(line)
    found = [(path.name, line) for path in Path(oracle.__file__).parent.parent.joinpath("oracle").glob("*.txt")
             for line in path.read_text().split("\n") if DATE.search(line)]
    assert found == []
