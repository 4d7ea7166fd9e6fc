"""The files of `make install`: complete and consistent, with a unit that systemd accepts and rates as secure."""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(*command, **more):
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=120, check=False, **more)


@pytest.fixture(name='root', scope='module')
def _root(tmp_path_factory):
    root = tmp_path_factory.mktemp('root')
    env = {k: v for k, v in os.environ.items() if k not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL')}
    done = run('make', 'NOINSTALL=1', 'install', f'DESTDIR={root}', 'prefix=/usr', env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return root


def test_the_files_are_there(root):
    found = {str(p.relative_to(root)) for p in root.rglob('*') if p.is_file()}
    assert found == {
        'usr/sbin/tacit',
        'usr/share/man/man5/tacit.cfg.5',
        'usr/share/man/man7/tacit-guide.7',
        'usr/share/man/man7/tacit-scale.7',
        'usr/share/man/man8/tacit.8',
        'usr/share/tacit/certbot-deploy',
        'usr/lib/systemd/system/tacit.service',
        'usr/share/tacit/tacit.cfg',
        'usr/share/bash-completion/completions/tacit',
        'usr/share/fish/vendor_completions.d/tacit.fish',
        'usr/share/zsh/site-functions/_tacit',
        'usr/share/vim/vimfiles/ftdetect/tacit.vim',
        'usr/share/vim/vimfiles/syntax/tacit.vim',
        'usr/share/tacit/vscode/package.json',
        'usr/share/tacit/vscode/language-configuration.json',
        'usr/share/tacit/vscode/syntaxes/tacit.tmLanguage.json',
    }
    # There is a directory for the configuration, but no configuration: the administrator writes it.
    assert [p.name for p in (root / 'etc/tacit').iterdir()] == []


def test_a_configuration_that_is_there_stays(root):
    mine = root / 'etc/tacit/tacit.cfg'
    mine.write_text('# mine\n')
    assert run('make', 'NOINSTALL=1', 'install', f'DESTDIR={root}', 'prefix=/usr').returncode == 0
    assert mine.read_text() == '# mine\n'
    mine.unlink()


def test_the_example_is_right_and_the_program_is_hardened(root):
    program = root / 'usr/sbin/tacit'
    done = run(program, '-c', '-f', root / 'usr/share/tacit/tacit.cfg')
    assert done.returncode == 0, done.stderr
    header = run('readelf', '-hldW', program).stdout
    assert re.search(r'Type:\s+DYN', header)
    assert 'GNU_RELRO' in header and re.search(r'FLAGS.*NOW', header)
    assert re.search(r'GNU_STACK.*RW ', header)
    symbols = run('readelf', '--dyn-syms', '-W', program).stdout
    assert '__stack_chk_fail' in symbols and '_chk@' in symbols


def shell(*command, script):
    done = run(*command, script)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def bash_completes(root, word, before=None):
    program = root / 'usr/sbin/tacit'
    return shell('bash', '-c', script=f'source {root}/usr/share/bash-completion/completions/tacit; '
                 f'_tacit {program} "{word}" {before or program}; printf "%s\\n" "${{COMPREPLY[@]}}"')


def test_bash_completes_options_and_words(root):
    assert bash_completes(root, '--e') == ['--explain']
    assert {'balance', 'bind', 'global'} & set(bash_completes(root, 'b', '--explain')) == {'balance', 'bind'}


def test_bash_completes_each_option(root):
    """The rows of the table that the command line is parsed by, but for what is not supported."""
    rows = set(re.findall(r'\{ "([\w-]+)", on_(?!unsupported)', (Path(TOP) / 'src/app/config/options.c').read_text()))
    assert len(rows) > 30
    assert {f'-{row}' for row in rows} <= set(bash_completes(root, '-'))


@pytest.mark.skipif(not shutil.which('zsh'), reason='no zsh')
@pytest.mark.parametrize(('before', 'prefix', 'expected'), [('tacit', '-', '--explain'), ('--explain', 'b', 'balance')])
def test_zsh_completes_options_and_words(root, before, prefix, expected):
    """The functions of its completion are stand-ins that print what they are given."""
    found = shell('zsh', '-f', '-c', script='compadd() { shift; print -l -- "$@" }; _files() { :; }; _message() { :; }; '
                  f'PREFIX={prefix}; words=({root}/usr/sbin/tacit {before} {prefix}); CURRENT=3; '
                  f'f() {{ source {root}/usr/share/zsh/site-functions/_tacit }}; f')
    assert expected in found and len(found) > 30


@pytest.mark.skipif(not shutil.which('fish'), reason='no fish')
@pytest.mark.parametrize(('line', 'expected'), [('tacit -', '--explain'), ('tacit --explain bal', 'balance')])
def test_fish_completes_options_and_words(root, line, expected):
    done = run('fish', '--no-config', '-c', f'source {root}/usr/share/fish/vendor_completions.d/tacit.fish; complete -C "{line}"',
               env={**os.environ, 'PATH': f'{root}/usr/sbin:{os.environ["PATH"]}'})
    assert expected in done.stdout.split(), done.stderr


def test_editors_know_the_keywords(root):
    grammar = json.loads((root / 'usr/share/tacit/vscode/syntaxes/tacit.tmLanguage.json').read_text())
    rules = {rule['name']: rule.get('match') for rule in grammar['patterns']}
    for name, line in (('keyword.other', '  option tcplog'), ('keyword.other', '\tno option splice-auto'),
                       ('invalid.deprecated', 'nokqueue'), ('entity.name.section', 'frontend web'),
                       ('keyword.control', '.if defined(A)'), ('constant.numeric', '10ms')):
        assert re.search(rules[name], line), (name, line)
    assert not re.search(rules['keyword.other'], 'balanced')
    package = json.loads((root / 'usr/share/tacit/vscode/package.json').read_text())['contributes']
    assert package['grammars'][0]['scopeName'] == grammar['scopeName']
    for path in (package['grammars'][0]['path'], package['languages'][0]['configuration']):
        assert (root / 'usr/share/tacit/vscode' / path).is_file()
    assert 'syn match tacitKeyword' in (root / 'usr/share/vim/vimfiles/syntax/tacit.vim').read_text()


def test_the_unit_names_the_installed_program(root):
    unit = (root / 'usr/lib/systemd/system/tacit.service').read_text()
    assert 'ExecStart=/usr/sbin/tacit -Ws -f $CONFIG -p $PIDFILE' in unit
    assert '/usr/local' not in unit


@pytest.mark.skipif(not shutil.which('systemd-analyze'), reason='no systemd-analyze')
def test_systemd_accepts_the_unit_and_rates_it_as_closed(root, tmp_path):
    # verify checks that the program exists on this machine: use one that does
    unit = tmp_path / 'tacit.service'
    text = (root / 'usr/lib/systemd/system/tacit.service').read_text()
    unit.write_text(text.replace('/usr/sbin/tacit', str(root / 'usr/sbin/tacit')))
    done = run('systemd-analyze', 'verify', '--man=no', unit)
    assert done.returncode == 0 and 'tacit.service' not in done.stderr, done.stderr
    done = run('systemd-analyze', 'security', '--offline=true', unit)
    score = re.search(r'exposure level for tacit.service: ([0-9.]+)', done.stdout)
    assert score and float(score.group(1)) <= 2.0, done.stdout[-300:] + done.stderr


def filter_of_unit(text):
    """The system calls that a unit allows, as systemd reads its SystemCallFilter= lines."""
    listed = run('systemd-analyze', 'syscall-filter').stdout
    sets, name = {}, None
    for line in listed.splitlines():
        word = line.strip()
        if line.startswith('@'):
            name = word
            sets[name] = set()
        elif name and word and not word.startswith('#'):
            sets[name].add(word)

    def calls_of(words):
        found = set()
        for word in words:
            found |= calls_of(sets[word]) if word.startswith('@') else {word}
        return found

    allowed = set()
    for value in re.findall(r'^SystemCallFilter=(.*)$', text, re.MULTILINE):
        if value.startswith('~'):
            allowed -= calls_of(value[1:].split())
        else:
            allowed |= calls_of(value.split())
    return allowed


def names_in(table, macro):
    with open(os.path.join(TOP, table), encoding='utf-8') as f:
        return re.findall(rf'^{macro}\((\w+)', f.read(), re.MULTILINE)


@pytest.mark.skipif(not shutil.which('systemd-analyze'), reason='no systemd-analyze')
def test_the_unit_allows_what_the_program_calls(root):
    """But for what root does at start, and the drop-in of the unit's comment adds."""
    allowed = filter_of_unit((root / 'usr/lib/systemd/system/tacit.service').read_text())
    rows = names_in('include/base/sys.tbl.h', 'SYS_ROW')
    calls = names_in('include/app/process/library_calls.tbl.h', 'LIBRARY_CALL')
    assert len(rows) > 60 and len(calls) > 20 and len(allowed) > 200
    assert {c for c in [*rows, *calls, 'seccomp', 'clone3', 'mmap', 'mprotect'] if c not in allowed} == {
        'chown', 'chroot', 'setgroups', 'setuid'}


@pytest.mark.skipif(not shutil.which('groff'), reason='no groff')
@pytest.mark.parametrize('page', ['man8/tacit.8', 'man5/tacit.cfg.5', 'man7/tacit-guide.7', 'man7/tacit-scale.7'])
def test_the_manual_pages_are_right(root, page):
    path = root / 'usr/share/man' / page
    assert '@VERSION@' not in path.read_text()
    done = run('groff', '-man', '-ww', '-z', path)
    assert done.returncode == 0 and done.stderr == '', done.stderr


def test_every_keyword_is_in_the_manual_page(root):
    text = (root / 'usr/share/man/man5/tacit.cfg.5').read_text().replace('\\-', '-')
    for keyword in ('maxconn', 'nbthread', 'bind', 'server', 'default_backend', 'balance', 'timeout', 'tune.epoll.mode'):
        assert keyword in text


def test_switches_for_measurements_are_apart(root):
    """They are in a section of their own, apart from the settings for users."""
    text = (root / 'usr/share/man/man5/tacit.cfg.5').read_text().replace('\\-', '-')
    part = text.split('.SH SWITCHES FOR MEASUREMENTS\n')[1].split('\n.SH ')[0]
    assert re.findall(r'^\\fB(\S+)\\fR', part, re.M) == [
        'tune.bulk.turn', 'tune.epoll.mode', 'tune.lazy-register', 'tune.ledger.at-exit', 'tune.ranges.fast-path',
        'tune.wake-elision']
    assert 'tune.maxaccept' in text.split('.SH GLOBAL KEYWORDS\n')[1].split('\n.SH ')[0]


@pytest.mark.parametrize('changed', [False, True])
def test_uninstall_leaves_files_of_the_user_only(root, tmp_path, changed):
    shutil.copytree(root, tmp_path / 'r')
    (tmp_path / 'r/usr/sbin/other').touch()
    if changed:
        (tmp_path / 'r/etc/tacit/tacit.cfg').write_text('# mine\n')
    done = run('make', 'NOINSTALL=1', 'uninstall', f'DESTDIR={tmp_path}/r', 'prefix=/usr')
    assert done.returncode == 0, done.stdout + done.stderr
    left = {str(p.relative_to(tmp_path / 'r')) for p in (tmp_path / 'r').rglob('*') if p.is_file()}
    assert left == {'usr/sbin/other'} | ({'etc/tacit/tacit.cfg'} if changed else set())
    assert (tmp_path / 'r/etc/tacit').exists() == changed
    # again: nothing is there, and that is no error
    assert run('make', 'NOINSTALL=1', 'uninstall', f'DESTDIR={tmp_path}/r', 'prefix=/usr').returncode == 0


def test_make_help_lists_the_targets():
    done = run('make', 'help')
    assert done.returncode == 0 and done.stderr == ''
    for target in ('make ', 'make run', 'make check', 'make install', 'make uninstall', 'make configure', 'make clean'):
        assert re.search(rf'^ +{target} ', done.stdout, re.M), target
    assert 'MAKEFLAGS' not in done.stdout
