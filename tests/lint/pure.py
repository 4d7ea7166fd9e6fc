"""Functions named is, has, can, may or wants change nothing: their pointers are to const."""
import re

from ctext import definitions_of

QUESTION = re.compile(r'(?:^|_)(?:is|has|can|may|wants)(?:_|$)')


def is_const(param):
    """True for a pointer to const, and for a parameter that is not a pointer."""
    param = re.sub(r'\w+\s*\[[^\]]*\]', '*', param)
    if '*' not in param or '(' in param:
        return True
    target = param[:param.rindex('*')].strip()
    return target.endswith('const') if target.endswith(('*', 'const')) else bool(re.search(r'\bconst\b', target))


def check(tree):
    for path in tree.c_files('src', 'include'):
        for function in definitions_of(tree.text(path)):
            if QUESTION.search(function.name):
                for param in function.params:
                    if not is_const(param):
                        yield path, function.line, f'{function.name}() may change "{param}"', function.name
