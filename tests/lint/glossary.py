"""Words that the glossary of src/ARCHITECTURE.md has another word for (its column "not") appear in no comment, message,
test name or text for users.

A cell lists them with commas. `a/b c` stands for "a c" and "b c". A word in backticks is one of the code: an identifier, where *
stands for anything. With "(comments)" behind it a word is an error in comments and test names only."""
import re

from ctext import code_of, comments_of, strings_of

FILE = 'src/ARCHITECTURE.md'
TEXTS = ('README.md', 'CONTRIBUTING.md', 'PERFORMANCE.md', 'SECURITY.md')
TEST_NAME = re.compile(r'^(\w+)\(void \*\*\w+\)', re.MULTILINE)
MEMBER = re.compile(r'`[^`]*`|\w+(?:->\w+)+')
IN_COMMENTS = ' (comments)'


class Word:
    """A word that has a better one."""

    def __init__(self, entry, better):
        self.better = better
        self.everywhere = not entry.endswith(IN_COMMENTS)
        self.text = entry.removesuffix(IN_COMMENTS)
        self.is_code = self.text.startswith('`')
        if self.is_code:
            self.text = self.text.strip('`')
            # an asterisk at a word stands for anything, one behind a blank for a pointer
            self.regex = re.compile(r'\b' + re.sub(r'(?<=\w)\\\*|\\\*(?=_)', r'\\w*', re.escape(self.text)) + r'\b')
        else:
            parts = ['(?:' + '|'.join(map(re.escape, part.split('/'))) + ')' for part in self.text.split()]
            self.regex = re.compile(r"(?<![\w'-])" + r'\s+'.join(parts) + r'(?![\w-])', re.IGNORECASE)


def rows(text):
    """[(line, word, meaning, not)] of the glossary."""
    found = []
    inside = False
    for number, line in enumerate(text.split('\n'), 1):
        if line.startswith('## '):
            inside = line == '## Glossary'
        elif inside and line.startswith('|') and not line.startswith(('|---', '| word |')):
            cells = [cell.strip() for cell in line.strip('|').split('|')]
            found.append((number, *(cells + ['', ''])[:3]))
    return found


def words(text):
    return [Word(entry.strip(), word) for _, word, _, nots in rows(text) for entry in nots.split(',') if entry.strip()]


def without_glossary(text):
    """The text with its glossary and its code blanked out."""
    blank = re.sub(r'^## Glossary\n.*?(?=^## )', lambda m: '\n' * m.group(0).count('\n'), text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r'`[^`\n]*`', '``', blank)


def places(tree):
    """(path, line, text, kind) of all that is checked."""
    for path in tree.c_files('src', 'include', 'tests', 'demo'):
        text = tree.text(path)
        for line, comment in comments_of(text):
            yield path, line, MEMBER.sub('', comment), 'comment'
        if path.startswith('tests/'):
            for match in TEST_NAME.finditer(text):
                yield path, text.count('\n', 0, match.start()) + 1, match.group(1).replace('_', ' '), 'test name'
        else:
            for line, string in strings_of(text):
                if ' ' in string:
                    yield path, line, string, 'message'
    for path in [p for p in TEXTS if tree.exists(p)] + tree.files('src', '.md') + tree.files('man', ''):
        yield path, 1, without_glossary(tree.text(path)), 'text'


def any_of(all_words):
    """One expression for all of them: most texts match none."""
    flags = re.IGNORECASE if all_words and not all_words[0].is_code else 0
    return re.compile('|'.join(word.regex.pattern for word in all_words) or r'(?!)', flags)


def check(tree):
    if not tree.exists(FILE):
        return
    all_words = words(tree.text(FILE))
    phrases = [word for word in all_words if not word.is_code]
    identifiers = [word for word in all_words if word.is_code]
    any_phrase, any_identifier = any_of(phrases), any_of(identifiers)
    for path, line, text, kind in places(tree):
        for word in phrases if any_phrase.search(text) else ():
            if not word.everywhere and kind not in ('comment', 'test name'):
                continue
            for match in word.regex.finditer(text):
                at = line + text.count('\n', 0, match.start()) if kind == 'text' else line
                found = ' '.join(match.group(0).split())
                yield path, at, f"'{found}' in a {kind}: the word is '{word.better}'", word.text
    for path in tree.c_files('src', 'include', 'tests', 'demo'):
        code = code_of(tree.text(path))
        for word in identifiers if any_identifier.search(code) else ():
            for match in word.regex.finditer(code):
                line = code.count('\n', 0, match.start()) + 1
                yield path, line, f"'{match.group(0)}': the word is '{word.better}'", word.text
