"""The prompt library: files in, messages out, and a content hash as version.

A prompt is ``prompts/<protocol>/<role>.md``: YAML front matter (``id``, ``role``, ``protocol``,
``inputs``, ``output``, ``source``) and the bodies ``## system`` and ``## user``. A body may include
a partial of ``prompts/_shared/`` with ``{% include "_shared/name.md" %}``; partials are pasted in
when the file is read, so that a prompt's text and hash are complete without any file beside it.

Templates are Jinja2 in an immutable sandbox without a loader. Untrusted text reaches a prompt as
the value of a variable, delimited by :func:`fence`; it is never a template.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from jinja2 import StrictUndefined, Template, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from labelhub.core.errors import LabelhubError
from labelhub.core.llm.types import Message

SECTIONS = ("system", "user")
SHARED = "_shared"

_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
)
_FRONT_MATTER = re.compile(r"\A---\n(?P<head>.*?)\n---\n(?P<rest>.*)\Z", re.DOTALL)
_SECTION = re.compile(r"^## (\w+)[ \t]*$", re.MULTILINE)
_INCLUDE = re.compile(r'\{% include "_shared/(?P<name>[a-z_]+)\.md" %\}\n?')
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TAG = re.compile(r"<(?=\s*/?\s*text\b)", re.IGNORECASE)


class PromptError(LabelhubError):
    """A prompt file is missing or not well formed; the message names it."""

    code = "invalid_prompt"


class PromptVariables(PromptError):
    """A prompt was rendered with a variable missing or one too many."""

    code = "prompt_variables"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One role's prompt. ``body`` is its complete text, ``hash`` the version (sha256, hex).

    ``parse_prompt(prompt.name, prompt.body)`` gives the same prompt back, so a stored body can be
    rendered long after the file has changed.
    """

    name: str
    role: str
    protocol: str
    inputs: tuple[str, ...]
    output: str
    source: str
    body: str
    hash: str
    _templates: tuple[tuple[str, Template], ...] = field(repr=False, compare=False)

    def render(self, **variables: Any) -> tuple[Message, ...]:
        """The messages for these variables.

        Raises:
            PromptVariables: a declared variable is missing, or one is given that is not declared.
        """
        self._check(variables)
        try:
            return tuple(
                Message(section, template.render(variables).strip())
                for section, template in self._templates
            )
        except TemplateError as error:
            raise PromptError(f"The prompt '{self.name}' cannot be rendered: {error}") from error

    def _check(self, given: Mapping[str, Any]) -> None:
        missing = [name for name in self.inputs if name not in given]
        if missing:
            raise PromptVariables(f"The prompt '{self.name}' needs {_listed(missing)}.")
        surplus = sorted(set(given) - set(self.inputs))
        if surplus:
            raise PromptVariables(
                f"The prompt '{self.name}' does not declare {_listed(surplus)}; "
                "add it to 'inputs' or do not pass it."
            )


class PromptLibrary:
    """The prompts below one folder, each read once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[str, Prompt] = {}

    def get(self, protocol: str, role: str) -> Prompt:
        """The prompt of that protocol and role.

        Raises:
            PromptError: there is none, or it is not well formed.
        """
        name = f"{protocol}/{role}"
        if name not in self._read:
            self._read[name] = self._load(protocol, role, name)
        return self._read[name]

    def names(self) -> list[str]:
        """All prompts as ``protocol/role``, sorted."""
        files = self._root.glob("*/*.md")
        return sorted(f"{file.parent.name}/{file.stem}" for file in files if _is_prompt(file))

    def _load(self, protocol: str, role: str, name: str) -> Prompt:
        path = self._root / protocol / f"{role}.md"
        # Names become a path: nothing but plain words may pass.
        if not (_NAME.fullmatch(protocol) and _NAME.fullmatch(role) and path.is_file()):
            known = ", ".join(self.names()) or "none"
            raise PromptError(f"There is no prompt '{name}'; there are: {known}.")
        return parse_prompt(name, self._expand(path.read_text(encoding="utf-8"), name))

    def _expand(self, text: str, name: str) -> str:
        def partial(match: re.Match[str]) -> str:
            path = self._root / SHARED / f"{match['name']}.md"
            if not path.is_file():
                raise PromptError(f"The prompt '{name}' includes '{path.name}', which is missing.")
            return _normalised(path.read_text(encoding="utf-8")) + "\n"

        return _INCLUDE.sub(partial, _normalised(text))


def parse_prompt(name: str, body: str) -> Prompt:
    """Read a prompt from its complete text (partials already pasted in).

    Raises:
        PromptError: naming what is wrong with it.
    """
    body = _normalised(body)
    match = _FRONT_MATTER.match(body)
    if match is None:
        raise PromptError(f"The prompt '{name}' does not begin with front matter between '---'.")
    head = _head(match["head"], name)
    inputs = tuple(head["inputs"])
    sections = _sections(match["rest"], name)
    _check_declared(name, inputs, (text for _, text in sections))
    return Prompt(
        name=name,
        role=str(head["role"]),
        protocol=str(head["protocol"]),
        inputs=inputs,
        output=str(head["output"]),
        source=str(head["source"]),
        body=body,
        hash=_content_hash(name, inputs, sections),
        _templates=tuple((role, _ENVIRONMENT.from_string(text)) for role, text in sections),
    )


def fence(text: str, salt: str) -> str:
    """Untrusted ``text`` between delimiters it cannot forge.

    The id is the first 8 hex digits of sha256(salt + text): unknown to whoever wrote the text, yet
    the same each time, so that equal prompts stay equal. Tags inside the text lose their bracket.
    """
    digest = hashlib.sha256((salt + text).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f'<text id="{digest}">\n{_TAG.sub("‹", text)}\n</text id="{digest}">'


def _is_prompt(file: Path) -> bool:
    return file.parent.name != SHARED


def _normalised(text: str) -> str:
    text = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def _head(text: str, name: str) -> dict[str, Any]:
    try:
        head = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise PromptError(f"The front matter of the prompt '{name}' is not YAML: {error}") from None
    wanted = {"id", "role", "protocol", "inputs", "output", "source"}
    if not isinstance(head, dict) or set(head) != wanted:
        raise PromptError(f"The front matter of '{name}' must have exactly {_listed(wanted)}.")
    if head["id"] != name:
        raise PromptError(f"The prompt '{name}' calls itself '{head['id']}' in 'id'.")
    inputs = head["inputs"]
    if not isinstance(inputs, list) or not all(isinstance(each, str) for each in inputs):
        raise PromptError(f"The prompt '{name}': 'inputs' must be a list of variable names.")
    return head


def _sections(text: str, name: str) -> tuple[tuple[str, str], ...]:
    before, *parts = _SECTION.split(text)
    found = tuple(
        (role, body.strip("\n")) for role, body in zip(parts[::2], parts[1::2], strict=True)
    )
    if before.strip() or tuple(role for role, _ in found) != SECTIONS:
        raise PromptError(f"The prompt '{name}' must consist of '## system' and then '## user'.")
    return found


def _check_declared(name: str, inputs: tuple[str, ...], texts: Iterable[str]) -> None:
    try:
        used = set().union(
            *(meta.find_undeclared_variables(_ENVIRONMENT.parse(text)) for text in texts)
        )
    except TemplateError as error:
        raise PromptError(f"The prompt '{name}' is not a valid template: {error}") from None
    if used - set(inputs):
        raise PromptError(
            f"The prompt '{name}' uses {_listed(used - set(inputs))} without declaring it."
        )
    if set(inputs) - used:
        raise PromptError(f"The prompt '{name}' declares {_listed(set(inputs) - used)} in vain.")


def _content_hash(name: str, inputs: tuple[str, ...], sections: tuple[tuple[str, str], ...]) -> str:
    content = json.dumps([name, sorted(inputs), sections], ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names))
