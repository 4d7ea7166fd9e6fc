#!/usr/bin/env python3
"""The links between files, from the symbols of the objects: an undefined symbol leads to the object that defines
it. Links go down only (layers.py has the order), and a component, a set of files that all need each other, has a
maximum size. Headers do not include each other in a cycle.

graph.py --objects build/obj [--root DIR] [--layout FILE]   print components, upward links with their symbols, upward
    includes; FILE simulates another layout: lines of `path<TAB>path it would have`"""
import argparse
import os
import re
import subprocess
import sys

import layers
from ctext import code_of, includes_of

COMPONENT_MAX = 3


def object_of(objects, source):
    return os.path.join(objects, source[:-2] + '.o')


def symbols_of(objects, sources):
    """{source: (defined, undefined)} of the sources that were compiled."""
    found = {s: (set(), set()) for s in sources if os.path.exists(object_of(objects, s))}
    if not found:
        return found
    by_object = {object_of(objects, s): s for s in found}
    rows = subprocess.run(['nm', '-P', '-A', '-g', *by_object], check=True, capture_output=True, text=True).stdout
    for row in rows.split('\n'):
        match = re.match(r'(.*): (\S+) (\w)', row)
        if match:
            defined, undefined = found[by_object[match.group(1)]]
            (undefined if match.group(3) in 'Uw' else defined).add(match.group(2))
    return found


def links_of(symbols):
    """{source: {source: [symbol]}}: for each file the files that it needs, with the symbols."""
    owner = {name: source for source, (defined, _) in symbols.items() for name in defined}
    links = {source: {} for source in symbols}
    for source, (_, undefined) in symbols.items():
        for name in sorted(undefined):
            if owner.get(name, source) != source:
                links[source].setdefault(owner[name], []).append(name)
    return links


def components_of(links):
    """The sets of nodes that all reach each other, largest first (Tarjan)."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in links.get(node, ()):
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            at = stack.index(node)
            if len(stack) - at > 1 or node in links.get(node, ()):
                found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for node in sorted(links):
        if node not in order:
            visit(node)
    return sorted(found, key=lambda c: (-len(c), c))


def upward(links, at=lambda path: path):
    """[(source, target, symbols)] of the links that layers.py does not allow."""
    return [(source, target, names) for source, targets in sorted(links.items())
            for target, names in sorted(targets.items()) if not layers.may_link(at(source), at(target))]


def line_of(text, names):
    """The first line with one of these names; 1 if they come from a header."""
    pattern = re.compile(r'\b(?:' + '|'.join(map(re.escape, names)) + r')\b')
    return next((n for n, line in enumerate(code_of(text).split('\n'), 1) if pattern.search(line)), 1)


def included_by(tree, path):
    """[(line, path)] of the project's own headers that a file includes."""
    near = path.rsplit('/', 1)[0] + '/'
    return [(line, p) for line, name, quoted in includes_of(tree.text(path)) if quoted
            for p in (near + name, 'include/' + name, 'src/' + name) if tree.exists(p)]


def headers_of(tree):
    """{header: {header that it includes}}"""
    return {path: {p for _, p in included_by(tree, path)}
            for path in tree.files('include', '.h') + tree.files('src', '.h')}


def upward_includes(tree, at=lambda path: path):
    """[(source, line, header)] of the includes that layers.py does not allow."""
    for source in tree.c_files('src', 'include'):
        for line, header in included_by(tree, source):
            name = at(header).split('/', 1)[1]
            if not layers.may_use(layers.room_of(at(source)), layers.room_of(at(header)), name):
                yield source, line, header


def check_links(tree):
    if not tree.objects:
        return
    for source, target, names in upward(tree.links()):
        yield source, line_of(tree.text(source), names), f'needs {target}, which is not in a lower folder: {" ".join(names)}', target


def check_knots(tree):
    for circle in components_of(headers_of(tree)):
        yield circle[0], 1, f'headers include each other: {" ".join(circle)}'
    if not tree.objects:
        return
    for knot in components_of(tree.links()):
        if len(knot) > COMPONENT_MAX:
            for path in knot:
                yield path, 1, f'is one of {len(knot)} files that all need each other, the most is {COMPONENT_MAX}'


def main():
    from lint import HERE, Tree
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--objects', required=True)
    parser.add_argument('--root', default=os.path.dirname(os.path.dirname(HERE)))
    parser.add_argument('--layout')
    args = parser.parse_args()
    tree = Tree(args.root, args.objects)
    moved = {}
    if args.layout:
        with open(args.layout, encoding='utf-8') as file:
            moved = dict(line.rstrip('\n').split('\t') for line in file if line.strip())

    def at(path):
        return moved.get(path, path)

    links = tree.links()
    for number, knot in enumerate(components_of(links), 1):
        inside = sum(1 for s in knot for t in links[s] if t in knot)
        print(f'component {number}: {len(knot)} files, {inside} links')
        for source in knot:
            print('  ' + at(source))
            for target in knot:
                if target in links[source]:
                    print(f'    -> {at(target)}: {" ".join(links[source][target])}')
    found = upward(links, at)
    print(f'upward links: {len(found)}, symbols: {sum(len(names) for _, _, names in found)}')
    for source, target, names in found:
        print(f'  {at(source)}:{line_of(tree.text(source), names)}: -> {at(target)}: {" ".join(names)}')
    found = list(upward_includes(tree, at))
    print(f'upward includes: {len(found)}')
    for source, line, header in found:
        print(f'  {at(source)}:{line}: {at(header)}')


if __name__ == '__main__':
    main()
