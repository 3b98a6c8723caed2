"""The text of scripts with their literals lifted out: a number in quotes stands for each.

So nothing that is quoted, not even code in it, is ever taken for code, and a tool that knows
nothing of templates or regular expressions cannot damage them.
"""

import re
from collections.abc import Sequence

from rjsmin import jsmin  # type: ignore[import-untyped]

from labelhub.core.errors import InvalidInput

#: Ends the name of modules whose templates are style sheets: blanks mean little there.
STYLES = "styles.js"

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/\w*")
_TEMPLATE = re.compile(r"[`}](?:\\.|\$(?!\{)|[^`\\$])*(?:`|\$\{)", re.DOTALL)
_PLAIN = re.compile(r"[\w$]+|\s+|\+\+|--|.")
# After a closing bracket a slash is taken for a division.
_BEFORE_REGEX = re.compile(r"[(,=:\[!&|?{;>+*%~^<-]|return|typeof|case|of|in|.*\$\{", re.DOTALL)
_CONST = re.compile(r"(?<![.\w$])const(?=[\s\[{])")
_PLACE = re.compile(r"\"(\d+)\"")


def lifted(path: str, source: str, literals: list[str]) -> str:
    """``source`` without comments and literals; the literals go to the end of ``literals``.

    Raises:
        InvalidInput: a literal or comment that does not end.
    """
    out: list[str] = []
    braces: list[str] = []
    before, at = "", 0
    while at < len(source):
        kind = _kind(source, at, before, braces)
        found = kind.match(source, at)
        if found is None:
            line = source.count("\n", 0, at) + 1
            raise InvalidInput(f"{path}, line {line}: what begins here does not end.")
        piece, at = found[0], found.end()
        _follow(braces, kind, piece)
        if kind in {_PLAIN, _COMMENT}:
            out.append(" " if kind is _COMMENT else piece)
        else:
            out.append(f'"{len(literals)}"')
            literals.append(_pressed(piece) if path.endswith(STYLES) else piece)
        before = piece if kind is not _COMMENT and piece.strip() else before
    return "".join(out)


def shrunk(code: str, literals: Sequence[str]) -> str:
    """Lifted ``code`` as short as it gets without a parser, and with its literals back."""
    code = _CONST.sub("let", jsmin(code))
    return _PLACE.sub(lambda place: literals[int(place[1])], code)


def _kind(source: str, at: int, before: str, braces: Sequence[str]) -> re.Pattern[str]:
    """The pattern of what begins at ``at``, after the piece ``before``."""
    char = source[at]
    if source.startswith(("//", "/*"), at):
        return _COMMENT
    if char in "\"'":
        return _STRING
    if char == "`" or (char == "}" and braces and braces[-1] == "${"):
        return _TEMPLATE
    if char == "/" and (not before or _BEFORE_REGEX.fullmatch(before)):
        return _REGEX
    return _PLAIN


def _follow(braces: list[str], kind: re.Pattern[str], piece: str) -> None:
    """Keeps the open braces: one of them ends the ``${`` of a template."""
    if kind not in {_PLAIN, _TEMPLATE}:
        return
    if piece[0] == "}" and braces:
        braces.pop()
    if piece == "{" or (kind is _TEMPLATE and piece.endswith("${")):
        braces.append("${" if kind is _TEMPLATE else "{")


def _pressed(css: str) -> str:
    """A style sheet without the blanks that only people need."""
    return re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"\s+", " ", css)).replace(";}", "}")
