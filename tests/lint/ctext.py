"""Parsing of C for the checks: code without comments and strings, and the extent of functions. Several rules read each file:
what takes long is kept."""
import functools
import re

_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def _blank(match):
    text = match.group(0)
    if text[0] in '"\'':
        return text[0] + ' ' * (len(text) - 2) + text[-1]
    return re.sub(r'[^\n]', ' ', text)


@functools.cache
def code_of(text):
    """The text with comments and the insides of strings blanked out; line numbers stay."""
    return _TOKEN.sub(_blank, text)


def functions_of(text):
    """[(name, first line, last line)] of each function body, found by the style: braces at column 0."""
    found = []
    lines = code_of(text).split('\n')
    name = start = None
    head = ''
    opened = None
    for number, line in enumerate(lines, 1):
        if opened is None:
            if line.startswith('{') and name:
                opened = start
            elif line and not line[0].isspace() and not line.startswith(('#', '}', '{')):
                match = re.match(r'(?:[\w\s*]*?[\s*])?(\w+)\(', line)
                if match and not line.rstrip().endswith(';'):
                    name, start, head = match.group(1), number, line
                    if line.rstrip().endswith('{') and '=' not in line:
                        opened = start
                elif line.rstrip().endswith(';') or '=' in line:
                    name = None
            elif line.rstrip().endswith(';') and head:
                name = None
        elif line.startswith('}'):
            found.append((name, opened, number))
            name = opened = None
    return found


_DEFINITION = re.compile(
    r'^(?P<kind>[A-Za-z_][\w \t*()]*?)\n(?P<name>\w+)\((?P<params>[^{};]*?)\)(?P<attr>[^{};]*)\n\{', re.MULTILINE)


class Function:
    """One function definition: its name, whether it is static, its parameters and its body."""

    def __init__(self, match, code):
        self.name = match.group('name')
        self.kind = match.group('kind')
        self.static = bool(re.search(r'\bstatic\b', self.kind))
        self.line = code.count('\n', 0, match.start('name')) + 1
        end = code.find('\n}', match.end())
        self.body = code[match.end():end if end >= 0 else len(code)]
        self.length = code.count('\n', match.start('name'), match.end() + len(self.body)) + 2
        self.params = [' '.join(p.split()) for p in _split(match.group('params'))]


def _split(text):
    """Splits parameters at the commas outside of parentheses."""
    depth, part, found = 0, '', []
    for char in text:
        depth += (char == '(') - (char == ')')
        if char == ',' and not depth:
            found.append(part)
            part = ''
        else:
            part += char
    return found + [part]


@functools.cache
def definitions_of(text):
    """[Function] of a .c or a header, by the style: type, name at column 0, brace at column 0."""
    code = code_of(text)
    return [Function(m, code) for m in _DEFINITION.finditer(code)]


def includes_of(text):
    """[(line, name, quoted)] of each #include."""
    found = []
    for number, line in enumerate(text.split('\n'), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            found.append((number, match.group(2), match.group(1) == '"'))
    return found


def calls_of(text, names):
    """[(line, name)] of each call of one of these functions; members (x->close(), x.close()) do not count."""
    code = code_of(text)
    found = []
    for match in re.finditer(r'(?<![\w.>])(' + '|'.join(names) + r')[ \t]*\(', code):
        line = code[code.rfind('\n', 0, match.start()) + 1:code.find('\n', match.start())].lstrip()
        if not line.startswith('#') or 'define' in line:
            found.append((code.count('\n', 0, match.start()) + 1, match.group(1)))
    return found


def comments_of(text):
    """[(line, words)] of each comment of a C file, its lines joined."""
    found = []
    for match in _TOKEN.finditer(text):
        if match.group(0)[0] in '"\'':
            continue
        lines = (re.sub(r'^\s*(?:/\*+|\*/|\*|//)\s?', '', line) for line in match.group(0).split('\n'))
        words = ' '.join(' '.join(lines).split())
        found.append((text.count('\n', 0, match.start()) + 1, words.removesuffix('*/').strip()))
    return found


def strings_of(text):
    """[(line, contents)] of each string of a C file; strings that follow each other are one."""
    found = []
    end = None
    for match in _TOKEN.finditer(text):
        string = match.group(0)
        if string[0] != '"':
            if string[0] == "'":
                end = None
            continue
        if end is not None and not text[end:match.start()].strip(' \t\n\\'):
            found[-1] = (found[-1][0], found[-1][1] + string[1:-1])
        else:
            found.append((text.count('\n', 0, match.start()) + 1, string[1:-1]))
        end = match.end()
    return found
