"""Joins the widget's modules into the few files a page loads, when the server starts.

The sources are plain ES modules that a browser can run as they are. Joined, the modules of a file
stand one after the other in one scope, so what they declare must be unique among them: that is
checked, and what this joiner does not know is refused. It knows default and named imports of
relative files, and exports where something is declared; no classes and no re-exports.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from posixpath import basename, dirname, join, normpath
from string import ascii_letters, digits

from apps.authors.bundle.literals import lifted, shrunk
from labelhub.core.errors import InvalidInput

_IMPORT = re.compile(r"(?<![.\w$])import\b\s*(?:([\w$\s{},*]+?)\s*from\s*)?\"(\d+)\"\s*;?")
_NAMED = re.compile(r"([\w$]+)(?:\s+as\s+([\w$]+))?")
_PART = re.compile(r"(?<![.\w$])import\(\s*\"(\d+)\"\s*\)")
_LATER = re.compile(r"(?<![.\w$])import\(")
_EXPORT = re.compile(
    r"(?<![.\w$])export\s+(?:(default)\s+|(?=(?:async\s+)?(?:const|let|function)\s+([\w$]+)))"
)
_UNKNOWN = re.compile(r"(?<![.\w$])(?:(?:export|import)\b(?:\s*[*{]|\s+\w)|class\s+[\w{])")
_STEP = re.compile(
    r"([({\[])|([)}\]])|(,)|(?<![.\w$])(?:const|let|var|function)\b[\s*]*(?:([\w$]+)|(?=[\[{]))"
)
_VALUE = re.compile(r"(?<![.\w$])const\s+([A-Z][A-Z\d_]*)\s*=\s*(\d[\d_]*|\"\d+\")\s*;")
_OWN = re.compile(r"(?<![.\w$])(?:const|let|function)\s+([\w$]{2,})")
_WORD = re.compile(r"(?<![\w$])(?<!(?<!\.\.)\.)[A-Za-z_$][\w$]*")

#: Short names for what is declared outside functions and, never the same, inside them.
_OUTER = tuple(map("".join, product(ascii_letters, digits)))
_INNER = (*ascii_letters, *(f"{letter}_" for letter in ascii_letters))


@dataclass(frozen=True, slots=True)
class _Module:
    """A source with its literals lifted; ``imports``: local name -> path and name over there."""

    path: str
    code: str
    needs: tuple[str, ...]
    parts: tuple[str, ...]
    imports: Mapping[str, tuple[str, str]]
    exports: frozenset[str]
    declared: frozenset[str]

    @property
    def words(self) -> frozenset[str]:
        """All names in it but those behind a dot."""
        return frozenset(_WORD.findall(self.code))


def joined(sources: Mapping[str, str]) -> dict[str, str]:
    """The files to serve, by path, from the sources by path.

    A module that no other imports is an entry and keeps its path. What ``entry.js`` loads later by
    ``import("./part.js")`` becomes ``entry.part.js`` beside it, without what the entry has already.

    Raises:
        InvalidInput: a cycle, a name declared twice, an import of nothing, or unknown syntax.
    """
    literals: list[str] = []
    modules = {path: _parsed(path, text, literals) for path, text in sources.items()}
    for module in modules.values():
        _check_imports(module, modules)
    for path in modules:
        _order(path, modules)  # refuses cycles, of modules that no entry needs too
    needed = {path for module in modules.values() for path in (*module.needs, *module.parts)}
    files: dict[str, str] = {}
    for entry in sorted(modules.keys() - needed):
        files |= _family(entry, modules, literals)
    return {path: shrunk(code, literals) for path, code in files.items()}


def _parsed(path: str, text: str, literals: list[str]) -> _Module:
    needs: list[str] = []
    imports: dict[str, tuple[str, str]] = {}

    def target(number: str) -> str:
        return normpath(join(dirname(path), literals[int(number)][1:-1]))

    def take(found: re.Match[str]) -> str:
        needs.append(target(found[2]))
        for name, local in _imported(path, found[1] or ""):
            imports[local] = (needs[-1], name)
        return ""

    code = _IMPORT.sub(take, lifted(path, text, literals))
    if unknown := _UNKNOWN.search(_EXPORT.sub("", code)):
        raise InvalidInput(f"{path}: this cannot be joined: {unknown[0]}…")
    parts = tuple(target(number) for number in _PART.findall(code))
    exports = frozenset(found[2] or "default" for found in _EXPORT.finditer(code))
    return _Module(path, code, tuple(needs), parts, imports, exports, _declared(path, code))


def _imported(path: str, names: str) -> Iterator[tuple[str, str]]:
    """Pairs of the name over there and the name here of ``a, { b, c as d }``."""
    default, _, rest = names.partition("{")
    given = [
        (default.strip(" \n,"), "default"),
        *((each.strip(" \n}"), "") for each in rest.split(",")),
    ]
    for each, name in given:
        if found := _NAMED.fullmatch(each):
            yield name or found[1], found[2] or found[1]
        elif each:
            raise InvalidInput(f"{path}: import names one by one, not {each}.")


def _declared(path: str, code: str) -> frozenset[str]:
    """The names declared outside all brackets."""
    found: set[str] = set()
    depth = 0
    for opens, closes, comma, name in _STEP.findall(code):
        if not (depth or opens or closes):
            if comma or not name:
                raise InvalidInput(f"{path}: outside functions, declare one name at a time.")
            found.add(name)
        depth += bool(opens) - bool(closes)
    return frozenset(found)


def _check_imports(module: _Module, modules: Mapping[str, _Module]) -> None:
    for path in (*module.needs, *module.parts):
        if path not in modules:
            raise InvalidInput(f"{module.path}: there is no {path} to import.")
    for path, name in module.imports.values():
        if name not in modules[path].exports:
            raise InvalidInput(f"{module.path}: {path} does not export {name}.")


def _order(path: str, modules: Mapping[str, _Module], trail: tuple[str, ...] = ()) -> list[str]:
    """``path`` and all it imports, what is imported first."""
    if path in trail:
        raise InvalidInput(f"Modules import each other: {' → '.join((*trail, path))}.")
    order: list[str] = []
    for need in modules[path].needs:
        order += [each for each in _order(need, modules, (*trail, path)) if each not in order]
    return [*order, path]


def _family(entry: str, sources: Mapping[str, _Module], literals: list[str]) -> dict[str, str]:
    """The joined code of an entry and of its parts, by path."""
    groups = _groups(entry, sources)
    used = {word for group in groups.values() for path in group for word in sources[path].words}
    outer = (name for name in _OUTER if name not in used)
    modules = {
        path: _short(sources[path], used, outer) for group in groups.values() for path in group
    }
    names = {part: _address(entry, part) for part in groups}
    files: dict[str, str] = {}
    lent: set[str] = set()
    for part, group in groups.items():
        own = [modules[path] for path in group]
        _check_unique(own)
        borrowed = _borrowed(own, group)
        lent |= set(borrowed.values()) - modules[entry].exports
        lines = [
            f"import{{{known} as {local}}}from{_quoted(entry, literals)};"
            for local, known in borrowed.items()
        ]
        lines += _bodies(own, part, names, literals)
        files[names[part]] = "\n".join(lines)
    files[entry] += "".join(f"\nexport{{{known}}};" for known in sorted(lent))
    return files


def _groups(entry: str, modules: Mapping[str, _Module]) -> dict[str, list[str]]:
    """What each file holds: the entry's, then those of its parts."""
    own = _order(entry, modules)
    groups = {entry: own}
    waiting = [part for path in own for part in modules[path].parts]
    while waiting:
        part = waiting.pop()
        if part not in groups:
            groups[part] = [path for path in _order(part, modules) if path not in own]
            waiting += [more for path in groups[part] for more in modules[path].parts]
    paths = [path for group in groups.values() for path in group]
    if twice := {path for path in (*paths, *groups) if paths.count(path) != 1}:
        raise InvalidInput(f"{min(twice)}: two files of {entry} would have to hold it.")
    for path in paths:
        computes = len(_LATER.findall(modules[path].code)) > len(modules[path].parts)
        if computes and dirname(path) != dirname(entry):
            raise InvalidInput(f"{path}: a computed import() belongs beside {entry}.")
    return groups


def _borrowed(own: Iterable[_Module], group: Iterable[str]) -> dict[str, str]:
    """What these modules take from other files: the name here -> the name there."""
    return {
        local: _known(path, name)
        for module in own
        for local, (path, name) in module.imports.items()
        if path not in group
    }


def _bodies(
    own: Iterable[_Module], root: str, names: Mapping[str, str], literals: list[str]
) -> Iterator[str]:
    """The code of the modules of a file; only its ``root`` goes on exporting."""
    paths = {module.path for module in own}
    done: set[str] = set()
    for module in own:
        for local, (path, name) in module.imports.items():
            if path in paths and local not in {_known(path, name), *done}:
                done.add(local)
                yield f"const {local}={_known(path, name)};"
        yield _body(module, names, literals, inner=module.path != root)


def _body(module: _Module, names: Mapping[str, str], literals: list[str], *, inner: bool) -> str:
    """The code of a module, its parts named as they are served, without exports if ``inner``."""
    parts = iter(module.parts)
    code = _PART.sub(lambda _: f"import({_quoted(names[next(parts)], literals)})", module.code)
    if not inner:
        return code
    default = f"const {_known(module.path, 'default')}="
    return _EXPORT.sub(lambda found: default if found[1] else "", code)


def _quoted(address: str, literals: list[str]) -> str:
    literals.append(f'"./{basename(address)}"')
    return f'"{len(literals) - 1}"'


def _address(entry: str, part: str) -> str:
    stem = entry.removesuffix(".js")
    return entry if part == entry else f"{stem}.{part.replace('/', '-')}"


def _short(module: _Module, used: Collection[str], outer: Iterator[str]) -> _Module:
    """The module with its constants of one number or text told by their value, and other names of
    its own by short ones, each the same throughout: so no scopes need to be known. A name that is
    a key somewhere stays. A name that is declared anywhere must not mean a global elsewhere."""
    code = module.code
    kept = {*_keys(code), *module.exports, *module.imports}
    values = {name: value for name, value in _VALUE.findall(code) if name not in kept}
    code = _VALUE.sub(lambda found: "" if found[1] in values else found[0], code)
    inner = (name for name in _INNER if name not in used)
    count = Counter(_WORD.findall(code))
    own = sorted(set(_OWN.findall(code)) - kept, key=lambda name: (-count[name], name))
    names = {name: next(outer if name in module.declared else inner) for name in own}
    told = values | names
    code = _WORD.sub(lambda found: told.get(found[0], found[0]), code)
    declared = frozenset(names.get(name, name) for name in module.declared - values.keys())
    return replace(module, code=code, declared=declared)


def _keys(code: str) -> set[str]:
    """The words that may be keys of object literals or of patterns."""
    found: set[str] = set()
    brackets: list[str] = []
    before = ""
    for piece in re.findall(r"[\w$]+|\S", code):
        if piece in "([{":
            brackets.append(piece)
        elif piece in ")]}":
            brackets.pop()
        elif before in {"{", ","} and brackets[-1:] == ["{"]:
            found.add(piece)
        before = before if piece in {"async", "get", "set"} else piece
    return found


def _known(path: str, name: str) -> str:
    """What a joined file calls an export of a module."""
    return name if name != "default" else "default_" + re.sub(r"\W", "_", path)


def _check_unique(modules: Iterable[_Module]) -> None:
    """A name outside functions means one thing, in all modules that use it."""
    meanings: dict[str, tuple[str, str]] = {}
    for module in modules:
        own = {name: (module.path, name) for name in module.declared}
        for name, meaning in (own | dict(module.imports)).items():
            first = meanings.setdefault(name, meaning)
            if first != meaning:
                raise InvalidInput(f"{module.path}: {name} is declared in {first[0]} too.")
    for module in modules:
        strange = module.words & meanings.keys() - module.declared - module.imports.keys()
        if strange:
            name = min(strange)
            raise InvalidInput(
                f"{module.path}: {name} is declared in {meanings[name][0]}; import or rename it."
            )
