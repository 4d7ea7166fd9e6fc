"""The version stands in four places and its date in three, and they are the same in all."""

import re
from datetime import datetime
from pathlib import Path

TOP = Path(__file__).parents[2]
PLACES = {
    'configure.ac': r'AC_INIT\(\[tacit\], \[(.*?)\]\)',
    'debian/changelog': r'tacit \((.*?)\)',
    'CHANGELOG.md': r'(?m)^## (\d\S*) \(\d+ [A-Z][a-z]+ \d{4}\)$',
    'README.md': r'version (\d\S*?);',
}


def test_each_place_has_the_same_version():
    found = {}
    for place, pattern in PLACES.items():
        match = re.search(pattern, (TOP / place).read_text())
        assert match, place
        found[place] = match[1]
    assert len(set(found.values())) == 1, found


DATES = {
    'CHANGELOG.md': (r'(?m)^## \d\S* \((\d.*?)\)$', '%d %B %Y'),
    'debian/changelog': (r'(?m)^ -- .*>  \w+, (.*?) \d\d:', '%d %b %Y'),
    'include/app/config/version.h': (r'VERSION_DATE "(.*?)"', '%Y/%m/%d'),
}


def test_each_place_has_the_same_date():
    found = {place: datetime.strptime(re.search(pattern, (TOP / place).read_text())[1], form)
             for place, (pattern, form) in DATES.items()}
    assert len(set(found.values())) == 1, found


def test_each_version_of_the_changes_is_older_than_the_one_above():
    versions = [tuple(map(int, v.split('.'))) for v in re.findall(PLACES['CHANGELOG.md'], (TOP / 'CHANGELOG.md').read_text())]
    assert len(versions) >= 2 and versions == sorted(set(versions), reverse=True)
