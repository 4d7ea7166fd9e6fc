"""Tests wait for facts. A pause, a poll, a loop that tries again and a look at elapsed time are errors, but for those of the file
`pauses`: each of its at most 20 lines is a list of kinds, a pattern of paths, how many the files that match have together at
most, and why. What is found belongs to the first line that fits. A number that is too high is reported, so that it falls."""
import ast
import fnmatch
import re

import ctext

LINES_MAX = 20
ALLOWED = 'tests/lint/pauses'
POLLS = {'wait_for', 'becomes'}
CLOCKS = {'time.monotonic', 'time.monotonic_ns', 'time.perf_counter', 'time.perf_counter_ns', 'time.time', 'time.time_ns'}
KINDS = {
    'sleep': 'a pause: wait for the fact (tests/system/facts.py)',
    'poll': 'a poll: wait for what reports the fact (tests/system/facts.py)',
    'retry': 'a loop that tries again: wait for what it needs',
    'elapsed': 'elapsed time: assert what was done, not how long it took',
    'delay': 'a delay: wait for the fact',
    'timeout': 'a timeout that a busy machine reaches: 1m, or make its end what is tested',
    'limit': 'a limit that a busy machine reaches: WAIT or a multiple of it (tests/system/conftest.py)',
}
# A minute: what facts.LIMIT has.
LIMIT_MIN = 60
# Where calls have a limit in seconds, its names, and the names of lists whose wait() is for so many items.
LIMITED = {'settimeout': 0, 'wait': 0, 'join': 0, 'create_connection': 1, 'select': 3}
LIMITS = {'timeout', 'limit'}
LISTS = {'done', 'held', 'lines', 'log', 'met', 'outcomes', 'requests', 'seen'}


def name_of(call):
    """The name of a called function: "f", "time.sleep", or "?.f" of anything else."""
    f = call.func
    if isinstance(f, ast.Attribute):
        return f'{f.value.id if isinstance(f.value, ast.Name) else "?"}.{f.attr}'
    return getattr(f, 'id', '')


def is_left_early(loop):
    """True if the loop has a `break` or `return` of its own."""
    todo = [(n, False) for n in loop.body]
    while todo:
        node, is_inner = todo.pop()
        if isinstance(node, ast.Return) or isinstance(node, ast.Break) and not is_inner:
            return True
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            is_inner = is_inner or isinstance(node, (ast.For, ast.While))
            todo += [(n, is_inner) for n in ast.iter_child_nodes(node)]
    return False


def counts_tries(loop):
    """True for `for _ in range(...)`."""
    return (isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and loop.target.id.startswith('_') and
            isinstance(loop.iter, ast.Call) and name_of(loop.iter) == 'range')


def is_short(node):
    """True for a number of seconds that is less than a minute."""
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and 0 < node.value < LIMIT_MIN


def given_limits(call):
    """Values that a call may have as its limit: `timeout=5`, s.settimeout(5), process.wait(5), select.select(..., 5)."""
    name, of = getattr(call.func, 'attr', ''), getattr(call.func, 'value', None)
    is_limited = name in LIMITED and not (name == 'wait' and getattr(of, 'attr', getattr(of, 'id', '')) in LISTS)
    return [k.value for k in call.keywords if k.arg in LIMITS] + ([*call.args[LIMITED[name]:][:1]] if is_limited else [])


def default_limits(args):
    """Defaults of the limits among the parameters of a function."""
    named = [*args.posonlyargs, *args.args]
    defaults = [*zip(named[len(named) - len(args.defaults):], args.defaults), *zip(args.kwonlyargs, args.kw_defaults)]
    return [default for arg, default in defaults if arg.arg in LIMITS]


def of_python(text):
    """(kind, line)"""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            name = name_of(node)
            if name in ('time.sleep', 'asyncio.sleep', 'sleep'):
                yield 'sleep', node.lineno
            elif name in POLLS or name.removeprefix('facts.') in POLLS:
                yield 'poll', node.lineno
            elif name in CLOCKS:
                yield 'elapsed', node.lineno
            for _ in filter(is_short, given_limits(node)):
                yield 'limit', node.lineno
        elif isinstance(node, ast.FunctionDef):
            for _ in filter(is_short, default_limits(node.args)):
                yield 'limit', node.lineno
        elif counts_tries(node) and is_left_early(node):
            yield 'retry', node.lineno


SECONDS = {'us': 1e-6, 'ms': 1e-3, '': 1e-3, 's': 1}
TIMEOUT = re.compile(r'\btimeout +(?:check|client|connect|http|mail|queue|resolve|retry|server|tarpit|tunnel|hello|idle|processing)(?:-[a-z-]+)?'
                     r' +([1-9][0-9]*)(us|ms|s|)(?![0-9a-z.%{-])')


def of_configuration(text):
    """(kind, line) of the configurations in a test."""
    for number, line in enumerate(text.split('\n'), 1):
        for n, unit in TIMEOUT.findall(line):
            if int(n) * SECONDS[unit] < LIMIT_MIN:
                yield 'timeout', number


def of_script(text):
    """The same of a vtc script, with what its shell and peer.py do."""
    for number, line in enumerate(text.split('\n'), 1):
        for _ in re.findall(r'(?<!\S)delay\s+[0-9.]|\bsleep[ :][0-9.]', line.split('#')[0]):
            yield 'delay', number


def of_c(text):
    """The same of C: calls that let time pass."""
    for number, line in enumerate(ctext.code_of(text).split('\n'), 1):
        for _ in re.findall(r'\b(?:u|nano|clock_nano)?sleep *\(|\bp?poll *\((?:NULL|0),|\bselect *\(0,', line):
            yield 'sleep', number


# Tests that play in real time, and have configurations.
PLAYED = ('tests/packages/', 'tests/system/', 'tests/vtc/')
FORMS = {'.py': of_python, '.vtc': of_script, '.c': of_c, '.h': of_c}


def pauses(tree):
    """(kind, path, line)"""
    for path in tree.files('tests', tuple(FORMS)):
        text = tree.text(path)
        found = [*FORMS[path[path.rindex('.'):]](text)]
        if path.startswith(PLAYED) and path.endswith(('.py', '.vtc')):
            found += of_configuration(text)
        for kind, line in sorted(found, key=lambda p: p[1]):
            yield kind, path, line


def read_allowed(tree):
    """[(kinds, pattern, number, line)]"""
    rows = []
    for number, line in enumerate((tree.text(ALLOWED) if tree.exists(ALLOWED) else '').split('\n'), 1):
        if line and not line.startswith('#'):
            kinds, pattern, most, reason = line.split('\t')
            if not reason.strip() or set(kinds.split(',')) - set(KINDS):
                raise SystemExit(f'{ALLOWED}:{number}: expects kinds, a pattern, a number and a reason')
            rows.append((kinds, pattern, int(most), number))
    return rows


def check(tree):
    allowed = read_allowed(tree)
    if len(allowed) > LINES_MAX:
        yield ALLOWED, allowed[-1][3], f'{len(allowed)} lines, the most is {LINES_MAX}'
    found = {row: [] for row in allowed}
    for kind, path, line in pauses(tree):
        row = next((r for r in allowed if kind in r[0].split(',') and fnmatch.fnmatch(path, r[1])), None)
        if row:
            found[row].append((kind, path, line))
        else:
            yield path, line, KINDS[kind]
    for (kinds, pattern, most, number), places in found.items():
        if len(places) > most:
            kind, path, line = places[-1]
            yield path, line, f'{KINDS[kind]}; {pattern} has {len(places)} of {kinds}, the most is {most}'
        elif len(places) < most:
            tree.note(f'{ALLOWED}:{number}: {pattern} has {len(places)} of {kinds}: the number {most} can fall')
