"""The prompt library: files in, messages out, and a content hash as version.

A prompt is ``prompts/<protocol>/<role>.md``: YAML front matter (``id``, ``role``, ``protocol``,
``inputs``, ``output``, ``source``, and ``fields`` where the answer may also be JSON) and the
bodies ``## system`` and ``## user``. A body may include a partial of ``prompts/_shared/`` with
``{% include "_shared/name.md" %}``; the library inserts partials when it reads the file, so the
text and hash of a prompt are complete without other files.

Templates are a small part of Jinja2 (``_LANGUAGE``) in an immutable sandbox without a loader:
values, conditions, loops over lists. All else (calls, filters, arithmetic, slices) is refused when
a prompt is read, before it runs: a template can neither remove delimiters nor exhaust time or
memory. Untrusted text is the delimited value of a variable (:func:`fence`), never a template.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from labelhub.core.errors import LabelhubError
from labelhub.core.llm.types import AnswerField, Message

SECTIONS = ("system", "user")
#: The input with the requested form of the answer.
FORM, AS_TEXT, AS_JSON = "form", "text", "json"
SHARED = "_shared"

_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
)
_FRONT_MATTER = re.compile(r"\A---\n(?P<head>.*?)\n---\n(?P<rest>.*)\Z", re.DOTALL)
_SECTION = re.compile(r"^## (\w+)[ \t]*$", re.MULTILINE)
_INCLUDE = re.compile(r'\{% include "_shared/(?P<name>[a-z_]+)\.md" %\}\n?')
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TAG = re.compile(r"<(?=\s*/?\s*text\b)", re.IGNORECASE)
_LANGUAGE = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Name),
    *(nodes.Getattr, nodes.Const, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not),
)
#: The most characters of a template, nested loops, pieces and characters of its rendered text.
MOST_BODY, MOST_LOOPS, MOST_PIECES, MOST_RENDERED = 60_000, 3, 200_000, 5_000_000
#: All errors of a template of ``_LANGUAGE``, when it is read and when it is rendered.
_FAULTS = (TemplateError, SyntaxError, ValueError, TypeError, RecursionError, MemoryError)


class PromptError(LabelhubError):
    """A prompt file is missing or malformed; the message names it."""

    code = "invalid_prompt"


class PromptVariables(PromptError):
    """A variable is missing when a prompt is rendered, or there is one too many."""

    code = "prompt_variables"


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt of one role. ``body`` is its complete text, ``hash`` the version (sha256, hex).

    ``fields`` are the parts of the answer, in order, if it may also be requested as JSON.

    ``parse_prompt(prompt.name, prompt.body)`` returns the same prompt, so a stored body can be
    rendered after the file has changed.
    """

    name: str
    role: str
    protocol: str
    inputs: tuple[str, ...]
    output: str
    fields: tuple[str, ...]
    source: str
    body: str
    hash: str
    sections: tuple[tuple[str, str], ...]
    _templates: tuple[tuple[str, Template], ...] = field(repr=False, compare=False)

    def __hash__(self) -> int:
        return hash(self.hash)

    def render(self, **variables: Any) -> tuple[Message, ...]:
        """The messages for these variables.

        Raises:
            PromptVariables: a declared variable is missing, or a given one is not declared.
        """
        self._check(variables)
        try:
            return tuple(
                Message(section, "".join(_check_size(template.generate(variables))).strip())
                for section, template in self._templates
            )
        except _FAULTS as error:
            raise PromptError(f"The prompt '{self.name}' cannot be rendered: {error}") from error

    def _check(self, given: Mapping[str, Any]) -> None:
        missing = [name for name in self.inputs if name not in given]
        if missing:
            raise PromptVariables(f"The prompt '{self.name}' needs {_join_quoted(missing)}.")
        surplus = sorted(set(given) - set(self.inputs))
        if surplus:
            raise PromptVariables(
                f"The prompt '{self.name}' does not declare {_join_quoted(surplus)}; "
                "add it to 'inputs' or remove it."
            )


class PromptLibrary:
    """The prompts below one folder, each read once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[str, Prompt] = {}

    def get(self, protocol: str, role: str) -> Prompt:
        """The prompt of that protocol and role.

        Raises:
            PromptError: there is no such prompt, or it is malformed.
        """
        name = f"{protocol}/{role}"
        if name not in self._read:
            self._read[name] = self._load(protocol, role, name)
        return self._read[name]

    def names(self) -> list[str]:
        """All prompts as ``protocol/role``, sorted."""
        files = self._root.glob("*/*.md")
        names = ((file.parent.name, file.stem) for file in files)
        return sorted(f"{folder}/{role}" for folder, role in names if folder != SHARED)

    def _load(self, protocol: str, role: str, name: str) -> Prompt:
        path = self._root / protocol / f"{role}.md"
        # Names become a path: only plain words may pass.
        if not (_NAME.fullmatch(protocol) and _NAME.fullmatch(role) and path.is_file()):
            known = ", ".join(self.names()) or "none"
            raise PromptError(f"There is no prompt '{name}'; the prompts are: {known}.")
        return parse_prompt(name, self._expand(path.read_text(encoding="utf-8"), name))

    def _expand(self, text: str, name: str) -> str:
        return _INCLUDE.sub(lambda match: self.shared(match["name"], name) + "\n", _normalise(text))

    def shared(self, partial: str, name: str = "") -> str:
        """The text of a partial, to be inserted into the prompt ``name``."""
        path = self._root / SHARED / f"{partial}.md"
        if not path.is_file():
            raise PromptError(f"The prompt '{name}' includes '{path.name}', which is missing.")
        return _normalise(path.read_text(encoding="utf-8"))


def parse_prompt(name: str, body: str) -> Prompt:
    """Read a prompt from its complete text (with its partials inserted).

    Raises:
        PromptError: the message names the fault.
    """
    body = _normalise(body)
    match = _FRONT_MATTER.match(body)
    if match is None:
        raise PromptError(f"The prompt '{name}' does not begin with front matter between '---'.")
    head = _read_head(match["head"], name)
    inputs = tuple(head["inputs"])
    sections = _read_sections(match["rest"], name)
    content = json.dumps([name, sorted(inputs), sections], ensure_ascii=False)
    return Prompt(
        name=name,
        role=str(head["role"]),
        protocol=str(head["protocol"]),
        inputs=inputs,
        output=str(head["output"]),
        fields=_read_fields(head, name),
        source=str(head["source"]),
        body=body,
        hash=hashlib.sha256(content.encode()).hexdigest(),
        sections=sections,
        _templates=_compile_sections(name, inputs, sections),
    )


def fence(text: str, salt: str) -> str:
    """Untrusted ``text`` between delimiters that it cannot forge.

    The id is the first 8 hex digits of sha256(salt + text): unknown to the author of the text, but
    always the same, so that equal prompts stay equal. Tags inside the text lose their bracket.
    """
    digest = hashlib.sha256((salt + text).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f'<text id="{digest}">\n{_TAG.sub("‹", text)}\n</text id="{digest}">'


def _normalise(text: str) -> str:
    text = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def _read_head(text: str, name: str) -> dict[str, Any]:
    try:
        head = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise PromptError(f"The front matter of the prompt '{name}' is not YAML: {error}") from None
    wanted = {"id", "role", "protocol", "inputs", "output", "source"}
    if not isinstance(head, dict) or set(head) - {"fields"} != wanted:
        raise PromptError(f"The front matter of '{name}' must have exactly {_join_quoted(wanted)}.")
    if head["id"] != name:
        raise PromptError(f"The prompt '{name}' has the 'id' '{head['id']}', not its name.")
    inputs = head["inputs"]
    if not isinstance(inputs, list) or not all(isinstance(key, str) for key in inputs):
        raise PromptError(f"The prompt '{name}': 'inputs' must be a list of variable names.")
    return head


def _read_fields(head: Mapping[str, Any], name: str) -> tuple[str, ...]:
    fields = head.get("fields", [])
    if not isinstance(fields, list) or not set(fields) <= set(AnswerField):
        raise PromptError(f"The prompt '{name}': 'fields' must be of {_join_quoted(AnswerField)}.")
    if bool(fields) != (FORM in head["inputs"]):
        raise PromptError(f"The prompt '{name}' must have both 'fields' and the input '{FORM}'.")
    return tuple(fields)


def _read_sections(text: str, name: str) -> tuple[tuple[str, str], ...]:
    before, *parts = _SECTION.split(text)
    found = tuple(
        (role, body.strip("\n")) for role, body in zip(parts[::2], parts[1::2], strict=True)
    )
    if before.strip() or tuple(role for role, _ in found) != SECTIONS:
        raise PromptError(f"The prompt '{name}' must consist of '## system' and then '## user'.")
    return found


def _compile_sections(
    name: str, inputs: tuple[str, ...], sections: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, Template], ...]:
    """The compiled sections; an error has its section and line in its data."""
    used: set[str] = set()
    made = []
    for section, text in sections:
        try:
            tree = _parse_template(text, inputs)
            used |= meta.find_undeclared_variables(tree)
            made.append((section, _compile(tree)))
        except _FAULTS as error:
            place = {"section": section, "line": getattr(error, "lineno", None) or 1}
            words = error.message if isinstance(error, TemplateError) else error
            problem = f"The prompt '{name}' is not a valid template: {words}"
            raise PromptError(problem, data=place) from None
    if set(inputs) - used:
        raise PromptError(
            f"The prompt '{name}' declares {_join_quoted(set(inputs) - used)} but does not use it."
        )
    return tuple(made)


def _parse_template(text: str, inputs: tuple[str, ...]) -> nodes.Template:
    if len(text) > MOST_BODY:
        raise ValueError(f"it is longer than {MOST_BODY:,} characters.")
    tree = _ENVIRONMENT.parse(text)
    _check_language(tree)
    strange = meta.find_undeclared_variables(tree) - set(inputs)
    for node in tree.find_all(nodes.Name):
        if node.name in strange:
            words = f"it uses {_join_quoted(strange)}, which it does not declare."
            raise TemplateSyntaxError(words, node.lineno)
    return tree


def _check_language(node: nodes.Node, loops: int = 0) -> None:
    if not isinstance(node, _LANGUAGE):
        words = f"'{type(node).__name__.lower()}' is not allowed in a prompt"
        raise TemplateSyntaxError(f"{words}: show values, use 'if' and 'for'.", node.lineno)
    loops += isinstance(node, nodes.For)
    if loops > MOST_LOOPS or getattr(node, "recursive", False):
        words = f"at most {MOST_LOOPS} loops may be nested, and none may be recursive."
        raise TemplateSyntaxError(words, node.lineno)
    for child in node.iter_child_nodes():
        _check_language(child, loops)


def _compile(tree: nodes.Template) -> Template:
    """Loops go over lists only, and each turn counts as a piece."""
    for loop in tree.find_all(nodes.For):
        loop.iter = nodes.Filter(loop.iter, "only_list", [], [], None, None, lineno=loop.lineno)
        loop.body.insert(0, nodes.Output([nodes.TemplateData("")]))
    return _ENVIRONMENT.from_string(tree)


def _only_list(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return value
    raise TypeError("'for' accepts lists only, not text")


_ENVIRONMENT.filters["only_list"] = _only_list


def _check_size(pieces: Iterable[str]) -> Iterator[str]:
    length = 0
    for count, piece in enumerate(pieces):
        length += len(piece)
        if count > MOST_PIECES or length > MOST_RENDERED:
            raise ValueError("the result is too long")
        yield piece


def _join_quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names))
