#!/usr/bin/env python3
"""Subjects of commits: `area: verb object`, at most 60 columns, naming something of the diff. It checks the commits that
are newer than this file and than the last release tag. As a hook that checks the staged commit:
ln -s ../../tests/lint/commits.py .git/hooks/commit-msg"""
import difflib
import os
import re
import subprocess
import sys

COLUMNS = 60
SUBJECT = re.compile(r'([\w.-][\w./+-]*): (\S+) (\S.*)$')

# In base form. A verb that is missing is added here, if it says what the commit does.
VERBS = frozenset('''
    accept add adjust allocate allow answer apply assert avoid begin bound build cache carry change check choose clear close collect compare compress compute connect copy
    correct count cover cut declare decode default define delete derive describe detect disable document drop embed enable encode end enforce exclude expect
    explain export extend extract fail fill find fix follow free generate give group handle hide hold ignore implement import include
    initialize inline inspect install join keep leave let limit list load lock log lower make map mark match measure mend merge
    move name notify number open order pack parse pass pause permit play prefer prepare prevent print put quote raise read rebuild receive record
    reduce refresh refuse reject release remove rename renew reorder replace report require reset resolve restart restore restrict resume
    retry return reuse revert rewrite run save scan search send separate serve set settle share shorten show shrink simplify skip sort speak specify
    split start state stop store support switch test time trace track treat trim try unify update upgrade use validate
    register take verify wait wake warn widen wrap write'''.split())

# Words that occur in any diff and name nothing.
COMMON = frozenset('''
    a about after again all also an and another any are as at be because before behind below between both but by can code
    comment comments do each else every few file files first for from function functions has have how if in into is it its
    last less line lines many may more most must name names new no none not of off old on once one only or other others out
    over own same several so some such test tests text than that the their them then there these they thing things this
    those three to too two under until up use used was way what when where which while who why with without word words
    you'''.split())


def git(root, *args):
    """The output of a command of git, or None where it fails."""
    try:
        done = subprocess.run(['git', '-C', root, *args], capture_output=True, encoding='utf-8', errors='replace',
                              check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def names(subject_part):
    """The words of a subject that can name something: not the common ones."""
    found = re.findall(r'[\w-][\w./+-]*[\w+]|\w', subject_part)
    return [word for word in found if word.lower() not in COMMON]


def is_in(word, text):
    # not a part of a longer name; -ENOENT has no name before its hyphen
    return re.search(rf'(?<!\w)(?<!\w-){re.escape(word)}(?!\w|-\w)', text) is not None


def fault(subject, changed):
    """The fault of a subject whose commit changes these paths and lines (a text), or None."""
    if len(subject) > COLUMNS:
        return f'{len(subject)} columns, the most is {COLUMNS}'
    match = SUBJECT.match(subject)
    if not match:
        return 'is not "area: verb object"'
    verb = match.group(2)
    if verb not in VERBS:
        near = difflib.get_close_matches(verb, VERBS, 1, 0.75)
        return f"'{verb}' is no verb of tests/lint/commits.py" + (f", did you mean '{near[0]}'?" if near else '')
    words = names(match.group(3))
    if not any(is_in(word, changed) for word in words):
        return 'names no identifier, keyword or file of the diff' + \
            (': looked for ' + ', '.join(words) if words else '')
    return None


def changed_of(patch):
    """The paths and the added and removed lines of a patch."""
    return '\n'.join(line.lstrip('+-') for line in patch.split('\n')
                     if line.startswith(('+', '-', 'rename ', 'diff ', 'Binary ')))


def newer_commits(root):
    """(range of revisions, None), or (None, why there is none)."""
    top = git(root, 'rev-parse', '--show-toplevel')
    if top is None or os.path.realpath(top.strip()) != os.path.realpath(root):
        return None, 'no git repository: skipped'
    rule = git(root, 'log', '--diff-filter=A', '--format=%H', '-1', '--', 'tests/lint/commits.py')
    if not rule or not rule.strip():
        return None, 'the rule is not committed yet: skipped'
    since = rule.strip()
    tag = git(root, 'describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*')
    if tag and git(root, 'merge-base', '--is-ancestor', since, tag.strip()) is not None:
        since = tag.strip()
    return f'{since}..HEAD', None


def check(tree):
    commits, why = newer_commits(tree.root)
    if why:
        tree.note(f'commits: {why}')
        return
    log = git(tree.root, 'log', '--no-merges', '--no-color', '--no-ext-diff', '-p', '-U0',
              '--format=%x00%h%x00%s%x00', commits) or ''
    parts = log.split('\0')[1:]
    for commit, subject, patch in zip(parts[0::3], parts[1::3], parts[2::3]):
        what = fault(subject, changed_of(patch))
        if what:
            yield f'commit {commit}', 0, f'"{subject}": {what}'


def main():
    if len(sys.argv) != 2:
        sys.exit(f'usage: {sys.argv[0]} FILE (the message of the staged commit)')
    with open(sys.argv[1], encoding='utf-8') as file:
        subject = file.readline().rstrip('\n')
    # the last commit too: it may be amended
    patch = (git('.', 'diff', '--cached', '-U0') or '') + '\n' + (git('.', 'show', '-U0', '--format=', 'HEAD') or '')
    what = fault(subject, changed_of(patch))
    if what and not subject.startswith(('Merge ', 'fixup! ', 'squash! ')):
        sys.exit(f'commit: "{subject}": {what}')


if __name__ == '__main__':
    main()
