"""The pictures."""

import os
import re
import sys
from xml.etree import ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lib import picture, report  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
ROWS = {"flat": {"n100.percent": 3.0, "n2000.percent": 3.0, "n9000.percent": 3.0, "n100.p99": 99999.0},
        "a <poller> & more": {"n100.percent": 8.0, "n2000.percent": 117.0, "n9000.percent": 598.0},
        "half": {"n100.percent": 2.0}}


def drawn(rows):
    """(the root, {name in the legend: points})."""
    root = ElementTree.fromstring(picture.idle_svg(rows))
    assert root.tag == SVG + "svg"
    lines = {line.get("stroke"): [tuple(map(float, p.split(","))) for p in line.get("points").split()]
             for line in root.iter(SVG + "polyline")}
    inside = list(root)
    names = {}
    for mark, label in zip(inside, inside[1:]):
        if mark.tag == SVG + "rect" and mark.get("fill") in lines:
            names[label.text] = lines[mark.get("fill")]
    assert len(names) == len(lines)
    return root, names


def test_it_is_xml_with_a_line_and_a_name_for_each_row():
    _, lines = drawn(ROWS)
    assert sorted(lines) == ["a <poller> & more, 598.0 %", "flat, 3.0 %", "half, -"]
    assert [len(lines[name]) for name in sorted(lines)] == [3, 3, 1]


def test_more_is_higher_and_further_right():
    _, lines = drawn(ROWS)
    rising, flat = lines["a <poller> & more, 598.0 %"], lines["flat, 3.0 %"]
    assert rising[0][1] > rising[1][1] > rising[2][1]
    assert len({y for _, y in flat}) == 1
    assert flat[0][0] < flat[1][0] < flat[2][0]
    assert [x for x, _ in flat] == [x for x, _ in rising]


def test_axes_are_labelled_and_everything_is_inside():
    root, lines = drawn(ROWS)
    said = {t.text for t in root.iter(SVG + "text")}
    assert {"open connections", "CPU, % of one", "100", "2,000", "9,000", "1 %", "10 %", "100 %", "1,000 %"} <= said
    for points in lines.values():
        for x, y in points:
            assert picture.LEFT <= x <= picture.WIDTH - picture.RIGHT
            assert picture.TOP <= y <= picture.HEIGHT - picture.BOTTOM
    for name, length in (("x", picture.WIDTH), ("y", picture.HEIGHT)):
        assert all(0 <= float(n) <= length for n in re.findall(r'\b%s="([\d.-]+)"' % name, picture.idle_svg(ROWS)))


def test_one_point_alone_and_none_at_all():
    assert "polyline" in picture.idle_svg({"a": {"n100.percent": 1.0}})
    assert picture.idle_svg({"a": {}, "b": {"n100.percent": 0.0}}) is None


def test_the_report_shows_it():
    about = {"machine": "m", "rounds": 5, "when": "now"}
    rows = {name: {k: [v] for k, v in row.items()} for name, row in ROWS.items()}
    text = report.markdown(about, {"idle": rows, "memory": {}}, {"idle": ["idle.svg"]}, [("T", [["", "n"]])], ["why"])
    assert "(idle.svg)\n\n## Memory" in text
    assert text.endswith("## T\n\n|  | n |\n|---|---:|\n\n## Notes\n\n- why\n")
