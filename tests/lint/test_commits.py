"""Subjects of commits, on a repository of the test's own."""
import os
import shutil
import subprocess
import sys

import commits
import lint
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
# The last part of it is what the commit changes.
GOOD = [
    ('match: reject a weight above 256', 'weight'),
    ('tests: retry test_maxconn_grows when polling was late', 'def test_maxconn_grows():'),
    ('rule/match: free the pattern_set of an action', 'struct pattern_set *set;'),
    ('README.md: document `option splice-auto`', 'option splice-auto'),
    ('cfg: remove lexer.c', 'int x;'),
    ('cfg: fix subdir/lexer.c', 'int x;'),
    ('cfg: split lex_word() in two', 'lex_word(void)'),
    ('fake: return ENOENT for a path', 'return -ENOENT;'),
]
BAD = [
    ('match: reject a weight above 256, the most that HAProxy takes', 'weight', '61 columns, the most is 60'),
    ('reject a weight above 256', 'weight', 'is not "area: verb object"'),
    ('match: weight', 'weight', 'is not "area: verb object"'),
    ('match: whether a weight is above 256', 'weight', "'whether' is no verb"),
    ('match: rejects a weight', 'weight', "did you mean 'reject'?"),
    ('match: Reject a weight', 'weight', "did you mean 'reject'?"),
    ('match: reject a weight', 'weights, weight-2, my_weight', 'names no identifier, keyword or file of the diff: looked for weight'),
    ('match: reject what is not there', 'what is not there', 'names no identifier, keyword or file of the diff'),
]


@pytest.fixture(name='repository')
def _repository(tmp_path):
    """A function that commits a subject with a changed line in subdir/lexer.c, and one that checks."""
    if not shutil.which('git'):
        pytest.skip('git is missing')

    def git(*args):
        env = {**os.environ, 'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null'}
        subprocess.run(['git', '-c', 'user.name=x', '-c', 'user.email=x@example.net', *args], cwd=tmp_path, env=env,
                       check=True, capture_output=True)

    def commit(subject, line='int x;', path='subdir/lexer.c'):
        full = tmp_path / path
        full.parent.mkdir(parents=True, exist_ok=True)
        old = full.read_text() if full.exists() else ''
        full.write_text(old + line + '\n')
        git('add', '.')
        git('commit', '-q', '-m', subject)

    def faults():
        tree = lint.Tree(str(tmp_path))
        found = [what for _, _, what in commits.check(tree)]
        return found, tree.notes
    git('init', '-q')
    commit('whatever came before the rule')
    return commit, faults, git


def introduce(commit):
    commit('the rule itself', '', 'tests/lint/commits.py')


@pytest.mark.parametrize('subject,line', GOOD, ids=[subject for subject, _ in GOOD])
def test_a_good_subject_is_green(repository, subject, line):
    commit, faults, _ = repository
    introduce(commit)
    commit(subject, line)
    assert faults() == ([], [])


@pytest.mark.parametrize('subject,line,red', BAD, ids=[subject for subject, _, _ in BAD])
def test_a_bad_subject_is_red(repository, subject, line, red):
    commit, faults, _ = repository
    introduce(commit)
    commit(subject, line)
    commit('cfg: fix lexer.c')
    found, _ = faults()
    assert len(found) == 1 and found[0].startswith(f'"{subject}": ') and red in found[0]


def test_a_removed_word_counts_as_well(repository):
    commit, faults, git = repository
    introduce(commit)
    commit('cfg: add lexer.c', 'old_name')
    git('rm', '-q', 'subdir/lexer.c')
    git('commit', '-q', '-m', 'cfg: remove old_name')
    assert faults() == ([], [])


def test_commits_before_the_last_release_are_not_checked(repository):
    commit, faults, git = repository
    git('tag', 'v0.1.0')
    introduce(commit)
    commit('what is wrong')
    assert len(faults()[0]) == 1
    git('tag', 'v0.2.0')
    assert faults() == ([], [])
    commit('wrong again')
    assert len(faults()[0]) == 1


def test_without_a_repository_or_its_rule_it_is_skipped_with_a_word(repository, tmp_path):
    _, faults, _ = repository
    assert faults() == ([], ['lint: commits: the rule is not committed yet: skipped'])
    inner = tmp_path / 'unpacked'
    inner.mkdir()
    tree = lint.Tree(str(inner))
    assert not list(commits.check(tree)) and tree.notes == ['lint: commits: no git repository: skipped']


def test_without_git_it_is_skipped_with_a_word(tmp_path, monkeypatch):
    monkeypatch.setenv('PATH', str(tmp_path))
    tree = lint.Tree(str(tmp_path))
    assert not list(commits.check(tree)) and tree.notes == ['lint: commits: no git repository: skipped']


@pytest.mark.parametrize('subject,red', [
    ('cfg: fix lexer.c', False), ('cfg: fix amended.c', False), ('cfg: fix parser.c', True), ('fixed', True)])
def test_the_hook_checks_what_is_staged(repository, tmp_path, subject, red):
    commit, _, git = repository
    commit('whatever', path='subdir/amended.c')
    (tmp_path / 'subdir/lexer.c').write_text('int y;\n')
    git('add', '.')
    (tmp_path / 'message').write_text(subject + '\n\nA body.\n')
    done = subprocess.run([sys.executable, os.path.join(HERE, 'commits.py'), 'message'], cwd=tmp_path, check=False,
                          capture_output=True, text=True)
    assert (done.returncode != 0) == red and bool(done.stderr) == red


def test_verbs_are_in_order_and_in_base_form():
    assert not [verb for verb in commits.VERBS if verb.endswith(('ing', 's')) and verb not in ('pass', 'compress')]
