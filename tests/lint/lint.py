#!/usr/bin/env python3
"""Checks the rules of the house that a compiler does not know. Each module in this folder is a rule: check(tree)
yields (path, line, text) or (path, line, text, name) for each violation. Exceptions are listed in `exceptions`.

lint.py [--root DIR] [--objects DIR] [--tally FILE]"""
import argparse
import os
import sys

import commits
import conns
import glossary
import graph
import heads
import layers
import live
import locked
import messages
import names
import objects
import openings
import owner
import pauses
import pieces
import pure
import sizes
import tested
import text as text_rule
import typed
import used
import walks
import words

HERE = os.path.dirname(os.path.abspath(__file__))
RULES = {
    'commits': commits.check,
    'conns': conns.check,
    'glossary': glossary.check,
    'layers': layers.check,
    'links': graph.check_links,
    'knots': graph.check_knots,
    'heads': heads.check,
    'live': live.check,
    'locked': locked.check,
    'messages': messages.check,
    'names': names.check,
    'openings': openings.check,
    'owner': owner.check,
    'pauses': pauses.check,
    'pieces': pieces.check,
    'pure': pure.check,
    'sizes': sizes.check,
    'words': words.check,
    'objects': objects.check,
    'tested': tested.check,
    'text': text_rule.check,
    'typed': typed.check,
    'used': used.check,
    'walks': walks.check,
}
NEED_OBJECTS = ('links', 'knots', 'objects', 'pieces', 'tested', 'used')
FOLDERS = ('src', 'include', 'demo', 'tests', 'build-aux', 'conf', 'man', '.ci')
SKIPPED = {'build', '__pycache__', '.git', '.pytest_cache', 'corpus', 'autom4te.cache', 'golden', 'oracle'}


class Tree:
    """The files of a checkout, read once."""

    def __init__(self, root, objects_dir=None):
        self.root = root
        self.objects = objects_dir
        self.notes = []
        self._text = {}
        self._symbols = self._links = None
        self.all = []
        for folder in FOLDERS:
            for base, dirs, names in os.walk(os.path.join(root, folder)):
                dirs[:] = sorted(d for d in dirs if d not in SKIPPED)
                self.all += [os.path.relpath(os.path.join(base, n), root) for n in sorted(names)]
        generated = ('configure', 'configure~', 'config.log', 'config.status', 'config.mk')
        self.all += [n for n in sorted(os.listdir(root))
                     if os.path.isfile(os.path.join(root, n)) and n != '.git' and n not in generated]

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def text(self, path):
        if path not in self._text:
            with open(os.path.join(self.root, path), encoding='utf-8', errors='replace') as file:
                self._text[path] = file.read()
        return self._text[path]

    def files(self, folder, ending):
        return [p for p in self.all if p.endswith(ending) and (folder == '.' or p.startswith(folder + '/'))]

    def c_files(self, *folders):
        return [p for f in folders for p in self.files(f, ('.c', '.h'))]

    def text_files(self):
        return [p for p in self.all if '\0' not in self.text(p)]

    def symbols_of(self, sources):
        return graph.symbols_of(self.objects, sources)

    def symbols(self):
        """The symbols of the objects of src: graph.symbols_of(), read once."""
        if self._symbols is None:
            self._symbols = self.symbols_of(self.files('src', '.c'))
        return self._symbols

    def links(self):
        """The links between the objects of src: graph.links_of(), computed once."""
        if self._links is None:
            self._links = graph.links_of(self.symbols())
        return self._links

    def note(self, what):
        self.notes.append(f'lint: {what}')


def read_exceptions(root):
    """{(rule, path or path:name): line}"""
    path = os.path.join(root, 'tests/lint/exceptions')
    found = {}
    if not os.path.exists(path):
        return found
    with open(path, encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith('#'):
                rule, what, reason = line.rstrip('\n').split('\t')
                if not reason.strip():
                    raise SystemExit(f'{path}:{number}: an exception needs a reason')
                found[rule, what] = number
    return found


def run(tree, exceptions):
    """{rule: [line of text]}; an exception that is not needed is a violation of its rule."""
    used = set()
    broken = {}
    for rule, check in RULES.items():
        broken[rule] = []
        for path, line, what, *name in check(tree):
            keys = [(rule, path)] + [(rule, f'{path}:{n}') for n in name]
            hit = [k for k in keys if k in exceptions]
            used.update(hit)
            if not hit:
                broken[rule].append(f'{path}:{line}: {rule}: {what}')
    for (rule, what), line in exceptions.items():
        if (rule, what) not in used and tree.exists(what.split(':')[0]) and (rule not in NEED_OBJECTS or tree.objects):
            broken[rule].append(f'tests/lint/exceptions:{line}: {rule}: {what} needs no exception')
    return broken


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--root', default=os.path.dirname(os.path.dirname(HERE)))
    parser.add_argument('--objects')
    parser.add_argument('--tally', default='-')
    args = parser.parse_args()
    tree = Tree(args.root, args.objects)
    broken = run(tree, read_exceptions(args.root))
    for line in tree.notes:
        print(line)
    for lines in broken.values():
        for line in lines:
            print(line)
    failed = sum(1 for lines in broken.values() if lines)
    passed = len(broken) - failed
    if args.tally != '-':
        with open(args.tally, 'a', encoding='utf-8') as file:
            file.write(f'lint {passed} {failed} 0\n')
    print(f'lint: {passed} passed, {failed} failed ({len(tree.all)} files, '
          f'{sum(len(lines) for lines in broken.values())} places)')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
