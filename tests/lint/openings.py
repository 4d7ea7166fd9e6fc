"""A comment does not begin with a relative clause, a pronoun or a preposition in place of a noun: it begins with a verb in
the third person ("Frees the pool."), with "True if", or with the noun that is meant ("The deadline of the session.")."""
import re

from ctext import comments_of

# Also the first word of a sentence that continues the one before ("And", "Also"): it hides what it is about. Headings
# ("--- names ---") have no questions either.
WORDS = 'What|Whatever|Who|Whose|Whoever|That|Those|It|Of|To|From|And|Also'
OPENING = re.compile(rf'({WORDS})\b|--- ((?i:{WORDS}|Where|Which|When|How))\b')


def check(tree):
    for path in tree.c_files('src', 'include', 'tests', 'demo'):
        for line, words in comments_of(tree.text(path)):
            match = OPENING.match(words)
            if match:
                word = match.group(1) or match.group(2)
                yield path, line, f"the comment begins with '{word}': begin with the verb or the noun that is meant"
