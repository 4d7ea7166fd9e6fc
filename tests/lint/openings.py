"""A comment does not begin with a relative clause, a pronoun or a preposition in place of a noun: it begins with a verb in
the third person ("Frees the pool."), with "True if", or with the noun that is meant ("The deadline of the session.")."""
import io
import re
import tokenize

from ctext import comments_of

# The first word, too, of a sentence that continues the one before ("And", "Also"): it hides what it is about. Headings
# ("--- names ---") have no questions either.
WORDS = 'What|Whether|Which|Why|How|Whatever|Who|Whose|Whoever|That|Those|It|Of|To|From|And|Also'
OPENING = re.compile(rf'({WORDS})\b|--- ((?i:{WORDS}|Where|When))\b')


def python_comments_of(text):
    """[(line, words)] of each comment of a Python file, the first line of a block, and of each docstring."""
    found = []
    end = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        alone = token.line.lstrip().startswith('#')
        if token.type == tokenize.COMMENT and alone and token.start[0] == end + 1:
            end += 1
        elif token.type == tokenize.COMMENT:
            found.append((token.start[0], token.string.lstrip('#').strip()))
            end = token.start[0] if alone else 0
        elif token.type == tokenize.STRING and token.string.startswith('"""'):
            found.append((token.start[0], token.string[3:].strip()))
    return found


def check(tree):
    files = [(path, comments_of) for path in tree.c_files('src', 'include', 'tests', 'demo')]
    files += [(path, python_comments_of) for path in tree.files('tests', '.py')]
    for path, comments in files:
        for line, words in comments(tree.text(path)):
            match = OPENING.match(words)
            if match:
                word = match.group(1) or match.group(2)
                yield path, line, f"the comment begins with '{word}': begin with the verb or the noun that is meant"
