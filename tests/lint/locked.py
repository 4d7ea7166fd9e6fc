"""A function that requires a held lock is called NAME_locked(), asserts the lock, and is called by functions that hold
it only."""
import re

from ctext import definitions_of

HELD = re.compile(r'\b\w*lock_assert_held\(')
TAKEN = re.compile(r'\b\w*lock_take\(')
LOCKED = re.compile(r'\b(\w+_locked)\(')


def check(tree):
    for path in tree.c_files('src', 'include'):
        for function in definitions_of(tree.text(path)):
            locked = function.name.endswith('_locked')
            if locked and not HELD.search(function.body):
                yield path, function.line, f'{function.name}() does not assert the lock', function.name
            for match in LOCKED.finditer(function.body):
                if not locked and not TAKEN.search(function.body[:match.start()]):
                    line = function.line + function.body.count('\n', 0, match.start()) + 1
                    yield path, line, f'{match.group(1)}() is called without the lock', function.name
