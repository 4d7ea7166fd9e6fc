"""All that tests run and import belongs to a package that build-aux/install-deps names: a new machine has it, too."""
import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_gates import TOP, run, script

# The modules of others, and their packages.
MODULES = {'cryptography': 'python3-cryptography', 'h2': 'python3-h2', 'hpack': 'python3-hpack', 'pytest': 'python3-pytest',
           'yaml': 'python3-yaml'}
# Modules that a list of tests/system/drivers/requirements pins.
PINNED = {'grpc': 'grpcio', 'ray': 'ray'}

DPKG = """case $* in
*-L*) shift; for p; do case $p in
    dash) echo /bin; echo /bin/sh; echo /usr/share/doc/dash/sh;;
    coreutils) printf '/bin/%s\\n' ls env cksum mkdir mv rm sort tr ln;;
    tool) echo /usr/bin/true.tool;;
    named) echo /usr/bin/named; echo /usr/sbin/named-too; echo /usr/lib/named/bin/helper;;
    *) echo "/usr/bin/of-$p";;
    esac; done;;
*) printf 'installed\\tyes\\tdash\\t\\t, debianutils (>= 2.15), need-a | need-b\\n'
   printf 'installed\\tyes\\tcoreutils\\t\\t, \\n'
   printf 'installed\\t\\ttool\\tneed-b, other (= 1)\\tdeep:any (>= 2) | absent, \\n'
   printf 'installed\\tno\\tdeep\\t\\t, \\n'
   printf 'installed\\tno\\tnamed\\t\\t, dependency, dash\\n'
   printf 'installed\\tno\\tdependency\\t\\t, \\n'
   printf 'not-installed\\tno\\talso-named\\t\\t, \\n'
   printf 'installed\\tno\\tdebhelper\\t\\t, dh-tool\\n'
   printf 'installed\\tno\\tdh-tool\\t\\t, patch (>= 1)\\n'
   printf 'installed\\tno\\tpatch\\t\\t, \\n'
   printf 'installed\\tno\\tundeclared\\t\\t, \\n';;
esac"""


@pytest.fixture(name='tree')
def _tree(tmp_path):
    """A directory with a list of packages, and a machine with others, too."""
    script(tmp_path / 'build-aux/install-deps', 'echo named also-named')
    script(tmp_path / 'bin/dpkg-query', DPKG)
    script(tmp_path / 'bin/of-undeclared', 'echo it is there')

    def call(*command, words='test', path=f'{tmp_path}/bin:{os.environ["PATH"]}'):
        return run('sh', f'{TOP}/build-aux/with-declared', words, *command, cwd=tmp_path, PATH=path)
    return call


def test_only_programs_of_declared_and_of_essential_packages_are_found(tree):
    done = tree('sh', '-c', 'ls "$PATH"')
    assert done.returncode == 0, done.stderr
    # The need of dash is a name that tool provides, and tool needs deep.
    assert set(done.stdout.split()) == {'sh', 'ls', 'env', 'cksum', 'mkdir', 'mv', 'rm', 'sort', 'tr', 'ln', 'true.tool',
                                        'of-deep', 'named', 'named-too'}
    done = tree('sh', '-c', 'of-undeclared || echo "$?"')
    assert done.stdout == '127\n'


def test_programs_that_the_tools_of_packages_depend_on_are_found(tree, tmp_path):
    script(tmp_path / 'build-aux/install-deps', 'echo debhelper named')
    found = tree('sh', '-c', 'ls "$PATH"').stdout.split()
    assert {'of-debhelper', 'of-dh-tool', 'of-patch', 'named'} <= set(found) and 'of-dependency' not in found


def test_links_are_made_once_for_each_set_of_programs(tree, tmp_path):
    paths = {tree('sh', '-c', 'echo "$PATH"').stdout for _ in range(3)}
    assert len(paths) == 1 and len(os.listdir(tmp_path / 'build/programs')) == 1
    script(tmp_path / 'build-aux/install-deps', 'echo undeclared')
    assert tree('sh', '-c', 'of-undeclared 2>/dev/null; ls "$PATH"').stdout.split()[-1] != 'named'
    assert len(os.listdir(tmp_path / 'build/programs')) == 2


@pytest.mark.parametrize('how', ['any', 'no dpkg'])
def test_otherwise_path_stays_as_it_is(tree, tmp_path, how):
    path = f'{tmp_path}/bin:{os.environ["PATH"]}'
    if how == 'no dpkg':
        (tmp_path / 'bin/dpkg-query').unlink()
        path = str(tmp_path / 'bin')
        (tmp_path / 'bin/sh').symlink_to('/bin/sh')
    done = tree('sh', '-c', 'of-undeclared; echo "$PATH"', words='any' if how == 'any' else 'test', path=path)
    assert done.stdout == f'it is there\n{path}\n', done.stderr


def test_a_machine_without_programs_is_an_error(tree, tmp_path):
    script(tmp_path / 'bin/dpkg-query', 'exit 1')
    done = tree('true')
    assert done.returncode == 1 and done.stderr.endswith('no package has programs here\n')


def test_the_command_gets_its_words_and_its_exit_code_counts(tree):
    done = tree('sh', '-c', 'printf "<%s>" "$@"; exit 7', 'x', 'a b', '')
    assert (done.stdout, done.returncode) == ('<a b><>', 7)


def python_files():
    for folder in 'tests', 'build-aux':
        for path in sorted(Path(TOP, folder).rglob('*')):
            if path.suffix == '.py' or path.is_file() and path.read_bytes()[:40].startswith(b'#!/usr/bin/env python3'):
                yield path


def listed(name):
    return subprocess.run(['sh', 'build-aux/install-deps', '--list', name], cwd=TOP, capture_output=True, text=True,
                          check=True).stdout.split()


def test_modules_of_others_are_declared():
    files = list(python_files())
    own = {p.stem for p in files} | {p.parent.name for p in files}
    foreign = {}
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else \
                [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            for name in (n.split('.')[0] for n in names):
                if name not in sys.stdlib_module_names and name not in own:
                    foreign.setdefault(name, str(path))
    assert set(foreign) == {*MODULES, *PINNED}, foreign
    assert set(MODULES.values()) <= set(listed('test'))
    lists = ''.join(path.read_text(encoding='utf-8') for path in Path(TOP, 'tests/system/drivers/requirements').glob('*.txt'))
    assert set(PINNED.values()) <= set(re.findall(r'^([a-z0-9_-]+)==', lists, re.M))


def test_what_tests_are_skipped_without_is_declared():
    """A test that looks for a program which no list names would be skipped everywhere."""
    looked = {}
    # The measurements are made against the peers that are there.
    for path in (p for p in python_files() if p.parent.name != 'lib'):
        for name in re.findall(r'\bwhich\(["\']([a-z0-9._-]+)["\']\)', path.read_text(encoding='utf-8')):
            looked.setdefault(name, str(path))
    assert len(looked) > 10
    path = subprocess.run(['sh', 'build-aux/with-declared', 'ci', 'sh', '-c', 'echo "$PATH"'], cwd=TOP, capture_output=True,
                          text=True, check=True).stdout.strip()
    missing = {name: file for name, file in looked.items() if not os.access(f'{path}/{name}', os.X_OK)}
    if missing and subprocess.run(['dpkg-query', '-W', *listed('ci')], capture_output=True, check=False).returncode:
        pytest.skip(f'the packages for .ci/run are not all installed (make deps-ci), and not these: {", ".join(missing)}')
    assert not missing
