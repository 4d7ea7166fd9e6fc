"""The scripts that run tests and add up their results must not report success without it."""
import os
import subprocess

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOOD = 'echo "1..2"; echo "ok 1 - a"; echo "ok 2 - b"'


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('#!/bin/sh\n' + text + '\n')
    path.chmod(0o755)
    return path


def run(*command, cwd=TOP, **env):
    clean = {k: v for k, v in os.environ.items()
             if k not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL', 'TALLY') and not k.startswith('PYTEST_')}
    return subprocess.run([str(c) for c in command], cwd=cwd, env={**clean, **env}, capture_output=True,
                          text=True, timeout=600, check=False)


@pytest.mark.parametrize('text,tally', [
    (GOOD, '2 0 0'),
    ('echo "ok 1 - a"; echo "not ok 2 # SKIP b"', '1 0 1'),
    ('echo "ok 1 - a"; echo "not ok 2 - b"; exit 1', '1 1 0'),
    ('echo "ok 1 - a"; echo "not ok 2 - b"', '1 1 0'),
    (GOOD + '; exit 3', '2 1 0'),
    (GOOD + '; kill -SEGV $$', '2 1 0'),
    ('echo "not ok 1 - a"; kill -ABRT $$', '0 2 0'),
    (GOOD + '; sleep 20', '2 1 0'),
    ('true', '0 1 0'),
], ids=['good', 'skip', 'fail', 'fail-exit-0', 'exit', 'crash', 'fail-crash', 'hang', 'silent'])
def test_results_of_a_program_are_counted(tmp_path, text, tally):
    program = script(tmp_path / 'test_x', text)
    done = run('build-aux/run-tests', 'unit', tmp_path / 'tally', program, TEST_TIMEOUT='2')
    assert (tmp_path / 'tally').read_text() == f'unit {tally}\n', done.stdout + done.stderr
    assert (done.returncode == 0) == (' 0 ' in f' {tally.split()[1]} ')


def test_several_programs_are_added_up(tmp_path):
    good = script(tmp_path / 'test_a', GOOD)
    bad = script(tmp_path / 'test_b', 'echo "not ok 1 - the reason"; exit 1')
    done = run('build-aux/run-tests', 'unit', '-', good, bad)
    assert done.returncode == 1
    assert 'unit: 2 passed, 1 failed' in done.stdout and 'the reason' in done.stderr
    assert f'failed test: {bad}: the reason\n' in done.stdout and str(good) not in done.stdout


def test_parts_of_a_program_are_told_apart(tmp_path):
    program = script(tmp_path / 'test_a', 'echo "ok 1 - part $TEST_PART"; [ $TEST_PART = 1of2 ] || echo "not ok 2 - late"')
    done = run('build-aux/run-tests', 'unit', tmp_path / 'tally', f'{program}@1of2', f'{program}@2of2')
    assert (tmp_path / 'tally').read_text() == 'unit 2 1 0\n', done.stdout + done.stderr
    assert f'failed test: {program}@2of2: late\n' in done.stdout
    assert (tmp_path / 'test_a@1of2.log').read_text() == 'ok 1 - part 1of2\n'


def test_a_missing_program_is_a_failure(tmp_path):
    done = run('build-aux/run-tests', 'unit', '-', tmp_path / 'nothing')
    assert done.returncode == 1 and '1 failed' in done.stdout
    assert f'failed test: {tmp_path}/nothing\n' in done.stdout


@pytest.fixture(name='gates')
def _gates(tmp_path):
    (tmp_path / 'build-aux').mkdir()
    for name in ('gates', 'totals'):
        (tmp_path / 'build-aux' / name).write_text(open(os.path.join(TOP, 'build-aux', name), encoding='utf-8').read())
    (tmp_path / 'Makefile').write_text(
        'good:\n\t@echo "good 5 0 1" >>$(TALLY)\n'
        'bad:\n\t@echo "bad 2 3 0" >>$(TALLY); echo the reason; echo "failed test: x::one"; exit 1\n'
        'silent:\n\t@:\n'
        'broken:\n\t@echo cannot build; exit 1\n')

    def call(*names, tally='-'):
        return run('sh', 'build-aux/gates', tally, *names, cwd=tmp_path)
    return call


@pytest.mark.parametrize('names,last,fails', [
    (['good'], '5 passed, 0 failed, 1 skipped', False),
    (['silent'], '1 passed, 0 failed', False),
    (['bad', 'good'], '7 passed, 3 failed, 1 skipped', True),
    (['broken', 'good'], '5 passed, 1 failed, 1 skipped', True),
    (['nothing-of-the-kind'], '0 passed, 1 failed', True),
    ([], '0 passed, 0 failed', True),
])
def test_gates_end_with_one_line_of_totals(gates, names, last, fails):
    done = gates(*names)
    assert done.stdout.rstrip('\n').split('\n')[-1] == last
    assert (done.returncode != 0) == fails


def test_a_gate_that_fails_shows_why_and_the_others_still_run(gates):
    done = gates('bad', 'broken', 'good')
    assert 'the reason' in done.stdout and 'cannot build' in done.stdout
    assert 'good' in done.stdout.rsplit('----', 1)[1]
    # at the end: one name per line
    assert done.stdout.split('\nfailed:\n')[1].split('\n')[:2] == ['    bad: x::one', '    broken: build/log/broken.log']
    assert 'failed:' not in gates('good').stdout


def test_gates_can_add_to_the_tally_of_others(gates, tmp_path):
    (tmp_path / 'tally').write_text('before 1 0 0\n')
    assert gates('good', tally='tally').returncode == 0
    assert gates('bad', tally='tally').returncode != 0
    assert (tmp_path / 'tally').read_text() == 'before 1 0 0\ngood 5 0 1\nbad 2 3 0\n'
    assert (tmp_path / 'tally.failed').read_text() == 'bad: x::one\n'


@pytest.mark.parametrize('make,last,failed', [
    ('echo "unit 5 0 0" >>"$tally"', '10 passed, 0 failed', []),
    ('[ $1 = check ] || { echo "E: no package" >&2; exit 2; }; echo "unit 5 0 0" >>"$tally"', '5 passed, 1 failed',
     ['make ci-gates, before its gates: see above']),
    ('exit 2', '0 passed, 2 failed', [f'make {part}, before its gates: see above' for part in ('check', 'ci-gates')]),
    ('echo "unit 4 1 0" >>"$tally"; echo "unit: x" >>"$tally.failed"; exit 2', '8 passed, 2 failed', ['unit: x', 'unit: x']),
], ids=['good', 'no-packages-for-ci', 'no-packages', 'bad'])
def test_a_part_of_ci_that_never_came_to_its_gates_has_failed(tmp_path, make, last, failed):
    for name in ('.ci/run', 'build-aux/run-parts', 'build-aux/totals'):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(open(os.path.join(TOP, name), encoding='utf-8').read())
    script(tmp_path / 'bin/make', 'tally=${2#TALLY=}; ' + make)
    done = run('sh', '.ci/run', cwd=tmp_path, PATH=f'{tmp_path}/bin:{os.environ["PATH"]}')
    lines = done.stdout.rstrip('\n').split('\n')
    assert lines[-1] == last and (done.returncode == 0) == (not failed), done.stdout + done.stderr
    assert lines[1:-1] == [f'    {name}' for name in failed]


@pytest.mark.parametrize('text,counts,named', [
    ('def test_a(): pass\n', '1 0 0', None),
    ('def test_a(): pass\ndef test_b(): assert 0\n', '1 1 0', 'test_x.py::test_b'),
    ('import pytest\ndef test_a(): pytest.skip("why")\ndef test_b(): pass\n', '1 0 1', None),
    ('import nothing_of_the_kind\n', '0 1 0', 'test_x.py'),
    ('', '0 1 0', '(there is none)'),
    ('import os\nos._exit(0)\n', '0 1 0', 'test_x.py (pytest: exit 0)'),
    ('import atexit\natexit.register(print, "a warning")\ndef test_a(): pass\n', '1 0 0', None),
], ids=['good', 'fail', 'skip', 'error', 'empty', 'dies', 'warns'])
def test_pytest_is_counted(tmp_path, text, counts, named):
    (tmp_path / 't').mkdir()
    (tmp_path / 't/test_x.py').write_text(text)
    done = run('build-aux/run-pytest', 'system', tmp_path / 'tally', os.path.relpath(tmp_path / 'b', TOP), tmp_path / 't')
    assert (tmp_path / 'tally').read_text() == f'system {counts}\n', done.stdout
    assert (done.returncode != 0) == bool(named)
    names = [line for line in done.stdout.split('\n') if line.startswith('failed test: ')]
    assert len(names) == bool(named) and all(line.endswith(named) for line in names)


def test_a_file_that_hangs_is_ended(tmp_path):
    (tmp_path / 't').mkdir()
    (tmp_path / 't/test_x.py').write_text('import signal\ndef test_a(): signal.pause()\n')
    done = run('build-aux/run-pytest', 'x', '-', os.path.relpath(tmp_path / 'b', TOP), tmp_path / 't', PYTEST_TIMEOUT='1')
    assert done.returncode == 1 and done.stdout.endswith('test_x.py (pytest: exit -15)\nx: 0 passed, 1 failed, 0 skipped\n')


def test_files_are_run_side_by_side_and_added_up(tmp_path):
    """Two files that wait for each other, and one without a test that matches -k."""
    (tmp_path / 't').mkdir()
    os.mkfifo(tmp_path / 't/pipe')
    for mine, mode in (('a', 'r'), ('b', 'w')):
        # Opening a pipe waits for its other end.
        (tmp_path / f't/test_{mine}.py').write_text(f'def test_one(): open({str(tmp_path / "t/pipe")!r}, {mode!r}).close()\n')
    (tmp_path / 't/test_c.py').write_text('def test_two(): assert 0\n')
    args = ('build-aux/run-pytest', 'x', '-', os.path.relpath(tmp_path / 'b', TOP), tmp_path / 't')
    assert 'x: 2 passed, 1 failed' in run(*args, PYTEST_JOBS='2').stdout
    done = run(*args, '-k', 'test_one', PYTEST_JOBS='2')
    assert done.returncode == 0 and 'x: 2 passed, 0 failed' in done.stdout
    assert run(*args, '-k', 'nothing').returncode == 1


def test_a_failed_script_is_named(tmp_path):
    for name in ('good', 'bad'):
        (tmp_path / f'{name}.vtc').write_text('# only: tacit\n')
    done, names = run_vtc(tmp_path, 'good', 'bad')
    assert names == [f'{tmp_path}/bad.vtc against tacit']
    assert done.returncode == 1 and '1 passed, 1 failed' in done.stdout


def run_vtc(tmp_path, *scripts, **env):
    """The process, and the failed tests that it names. Scripts whose name begins with bad fail."""
    script(tmp_path / 'bin/varnishtest', 'case "$*" in *bad*) exit 1;; esac; echo "$HAPROXY_PROGRAM" >>"$RAN"')
    tacit = script(tmp_path / 'tacit', 'true')
    haproxy = script(tmp_path / 'haproxy', 'echo "HAProxy version 2.6.0 a date"')
    done = run('sh', 'build-aux/run-vtc', 'vtc', '-', os.path.relpath(tacit, TOP), *(tmp_path / f'{s}.vtc' for s in scripts),
               PATH=f'{tmp_path}/bin:{os.environ["PATH"]}', HAPROXY=str(haproxy), ORACLE_DIR=str(tmp_path),
               RAN=str(tmp_path / 'ran'), **env)
    return done, [line[len('failed test: '):] for line in done.stdout.split('\n') if line.startswith('failed test: ')]


def test_scripts_pass_with_haproxy_when_they_are_recorded(tmp_path):
    """After a change of a script, or of what it runs, haproxy is to run it again; otherwise it is not started."""
    for name, text in (('own', '# only: tacit\n'), ('a', 'shell "x.py"\n'), ('b', ''), ('bad', '')):
        (tmp_path / f'{name}.vtc').write_text(text)
    (tmp_path / 'x.py').write_text('')
    done, names = run_vtc(tmp_path, 'own', 'a', 'b', 'bad', ORACLE='record')
    assert names == [f'{tmp_path}/bad.vtc against haproxy'] and '2 passed, 1 failed' in done.stdout
    text = (tmp_path / 'vtc.txt').read_text()
    assert text.startswith('# HAProxy version 2.6.0\n')
    assert [line.split()[1] for line in text.split('\n')[2:-1]] == ['a.vtc', 'b.vtc']
    assert (tmp_path / 'ran').read_text() == f'{tmp_path}/haproxy\n' * 2
    (tmp_path / 'ran').unlink()
    done, names = run_vtc(tmp_path, 'own', 'a', 'b')
    assert names == [] and done.returncode == 0 and '3 passed, 0 failed' in done.stdout
    assert all(line.endswith('/tacit') for line in (tmp_path / 'ran').read_text().split())
    (tmp_path / 'x.py').write_text('pass\n')
    (tmp_path / 'b.vtc').write_text('# another\n')
    done, names = run_vtc(tmp_path, 'own', 'a', 'b')
    assert done.returncode == 1
    assert names == [f'{tmp_path}/{s}.vtc is not in {tmp_path}/vtc.txt as it is now: run `make oracle`' for s in 'ab']


@pytest.mark.parametrize('uid,haproxy,says,rc,code,tally', [
    (0, 'sh', '# HAProxy version 2\nsame\n', 0, 0, '1 0 0'),
    (0, 'sh', '# HAProxy version 2\nother\n', 0, 1, '0 1 0'),
    (0, 'sh', None, 0, 1, '0 1 0'),
    (0, 'sh', '# HAProxy version 2\nsame\n', 1, 1, ''),
    (0, 'there-is-no-such-program', None, 0, 0, '0 0 1'),
    (1000, 'sh', None, 0, 0, '0 0 1'),
], ids=['same', 'different', 'missing', 'failed', 'no-haproxy', 'no-root'])
def test_recordings_are_compared(tmp_path, uid, haproxy, says, rc, code, tally):
    (tmp_path / 'tests/oracle').mkdir(parents=True)
    (tmp_path / 'tests/oracle/a.txt').write_text('# HAProxy version 1\nsame\n')
    if says:
        (tmp_path / 'says').write_text(says)
    script(tmp_path / 'bin/id', f'echo {uid}')
    make = script(tmp_path / 'make', 'for w; do case $w in ORACLE_DIR=*) d=${w#*=};; esac; done\n'
                                     f'mkdir -p "$d"; [ ! -e says ] || cp says "$d/a.txt"; exit {rc}')
    done = run('sh', f'{TOP}/build-aux/oracle-same', 'tally', cwd=tmp_path, MAKE=str(make), HAPROXY=haproxy,
               PATH=f'{tmp_path}/bin:{os.environ["PATH"]}')
    assert done.returncode == code, done.stdout + done.stderr
    assert ((tmp_path / 'tally').read_text() if tally else '') == (f'oracle-same {tally}\n' if tally else '')
    assert ('skipped' in done.stdout) == (tally == '0 0 1') and ('+other' in done.stdout) == ('other' in (says or ''))


@pytest.mark.parametrize('have,uid,code,says', [
    ('all', 1000, 0, ''),
    ('none', 1000, 1, 'apt-get update && apt-get install -y --no-install-recommends gcc binutils libc6-dev'),
    ('none', 0, 0, 'installing: gcc'),
])
def test_missing_packages_are_installed_or_named(tmp_path, have, uid, code, says):
    shown = 'for p; do case $p in -*|*Status*) ;; *) echo "installed:$p ";; esac; done' if have == 'all' else 'exit 1'
    script(tmp_path / 'bin/dpkg-query', shown)
    script(tmp_path / 'bin/id', f'echo {uid}')
    script(tmp_path / 'bin/apt-get', f'echo "$@" >>{tmp_path}/apt')
    (tmp_path / 'units').mkdir()
    done = run('sh', 'build-aux/install-deps', 'build', PATH=f'{tmp_path}/bin:{os.environ["PATH"]}',
               POLICY_RC_D=str(tmp_path / 'policy-rc.d'), UNITS=str(tmp_path / 'units'),
               INIT_SCRIPTS=str(tmp_path / 'init.d'))
    assert done.returncode == code and says in done.stdout + done.stderr
    assert not (tmp_path / 'policy-rc.d').exists()
    assert (tmp_path / 'apt').exists() == (have == 'none' and uid == 0)


@pytest.mark.parametrize('apt', ['true', 'exit 1'])
def test_a_daemon_is_disabled_only_if_it_was_not_there_before(tmp_path, apt):
    """The daemon is not started during the installation, and not when the machine boots."""
    units, scripts, policy = tmp_path / 'units', tmp_path / 'init.d', tmp_path / 'policy-rc.d'
    units.mkdir()
    scripts.mkdir()
    (units / 'nginx.service').touch()
    script(tmp_path / 'bin/dpkg-query', 'exit 1')
    script(tmp_path / 'bin/id', 'echo 0')
    script(tmp_path / 'bin/apt-get', f'{policy} && echo "may start"; touch {units}/haproxy.service '
                                         f'{scripts}/slapd; {apt}')
    script(tmp_path / 'bin/update-rc.d', f'echo "$@" >>{tmp_path}/said')
    done = run('sh', 'build-aux/install-deps', 'test', PATH=f'{tmp_path}/bin:{os.environ["PATH"]}', POLICY_RC_D=str(policy),
               UNITS=str(units), INIT_SCRIPTS=str(scripts))
    assert (done.returncode == 0) == (apt == 'true') and 'may start' not in done.stdout
    assert (tmp_path / 'said').read_text() == 'haproxy disable\nslapd disable\n'
    assert not policy.exists()
