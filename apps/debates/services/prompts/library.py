"""The prompts of the installation, and their versions in a project."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from django.utils.translation import gettext

from apps.debates.models import PromptVariant
from apps.debates.selectors.prompts import (
    runs_by_prompt,
    runs_by_version,
    variants_of,
    versions_of,
)
from apps.debates.services.role_assignment import prompt_library
from apps.projects.models import Project
from labelhub.core.debate import PROTOCOLS, ProtocolInfo, protocol
from labelhub.core.errors import NotFound
from labelhub.core.prompts import Prompt, parse_prompt

#: The number of digits of a hash on pages; shorter hashes find no version.
SHORT = 12


@dataclass(frozen=True, slots=True)
class PromptRow:
    """A prompt in a list; ``variants``: without retired ones."""

    prompt: Prompt
    variants: Sequence[PromptVariant]
    runs: int

    @property
    def key(self) -> str:
        """Its key in addresses."""
        return key_of(self.prompt.name)


@dataclass(frozen=True, slots=True)
class PromptGroup:
    """The prompts of a protocol."""

    info: ProtocolInfo
    prompts: list[PromptRow] = field(default_factory=list)


@dataclass(frozen=True)
class Version:
    """A text of a prompt: the present file, a variant of the project, or an earlier file."""

    name: str
    hash: str
    body: str
    present: bool = False
    variant: PromptVariant | None = None
    created_at: datetime | None = None
    runs: int = 0

    @property
    def title(self) -> str:
        """Its title on pages."""
        if self.present:
            return gettext("Present text")
        return self.variant.title if self.variant else gettext("Earlier text")

    @property
    def short(self) -> str:
        """The first digits of the hash."""
        return self.hash[:SHORT]

    @cached_property
    def prompt(self) -> Prompt:
        """The parsed text."""
        return parse_prompt(self.name, self.body)

    @property
    def offered(self) -> bool:
        """Whether new runs may use it."""
        return self.variant is not None and not self.variant.retired


def key_of(name: str) -> str:
    """``ecj/critic`` in the form of addresses: ``ecj-critic``."""
    return name.replace("/", "-")


def find_prompt(key: str) -> Prompt:
    """The prompt with this key, from its file.

    Raises:
        NotFound: there is no such file.
    """
    library = prompt_library()
    name = next((name for name in _debate_prompts() if key_of(name) == key), None)
    if name is None:
        raise NotFound("There is no prompt '%(key)s'.", key=key)
    return library.get(*name.split("/"))


def protocol_of(name: str) -> tuple[ProtocolInfo, dict[str, Any]]:
    """A protocol that uses the prompt, with settings under which it does, if possible the
    defaults.

    Raises:
        NotFound: none does.
    """
    info = protocol(name.partition("/")[0])
    once = [{setting.name: 1} for setting in info.settings if isinstance(setting.default, int)]
    chosen = [{setting.name: choice} for setting in info.settings for choice in setting.choices]
    attempts: list[dict[str, Any]] = [{}, *once, *chosen]
    for given in attempts:
        settings = info.read_settings(given)
        if any(part.prompt == name for part in info.parts(settings)):
            return info, settings
    raise NotFound("No protocol uses the prompt '%(name)s'.", name=name)


def list_prompts(project: Project) -> list[PromptGroup]:
    """All prompts by protocol, in the order of protocols in forms and of roles in debates."""
    variants: dict[str, list[PromptVariant]] = {}
    for variant in variants_of(project).filter(retired=False):
        variants.setdefault(variant.name, []).append(variant)
    runs = runs_by_prompt(project)
    groups = {name: PromptGroup(info) for name, info in PROTOCOLS.items()}

    def speaking_order(name: str) -> tuple[str, int]:
        info, settings = protocol_of(name)
        return info.name, [part.prompt for part in info.parts(settings)].index(name)

    for name in sorted(_debate_prompts(), key=speaking_order):
        prompt = prompt_library().get(*name.split("/"))
        row = PromptRow(prompt, variants.get(name, []), runs.get(name, 0))
        groups[prompt.protocol].prompts.append(row)
    return [group for group in groups.values() if group.prompts]


def list_versions(project: Project, prompt: Prompt) -> list[Version]:
    """The present text, the project's variants, then earlier texts, the newest first."""
    runs = runs_by_version(project, prompt.name)
    variants = {variant.version_id: variant for variant in variants_of(project, prompt.name)}
    stored = [
        Version(
            name=version.name,
            hash=version.hash,
            body=version.body,
            variant=variants.get(version.pk),
            created_at=version.created_at,
            runs=runs.get(version.hash, 0),
        )
        for version in versions_of(project, prompt.name)
        if version.hash != prompt.hash
    ]
    present = Version(
        prompt.name, prompt.hash, prompt.body, present=True, runs=runs.get(prompt.hash, 0)
    )
    stored.sort(key=lambda version: version.variant is None)
    return [present, *stored]


def find_version(known: Sequence[Version], given: str) -> Version:
    """The version whose hash begins with ``given``; the present one if that is empty.

    Raises:
        NotFound: none of those known.
    """
    if not given:
        return known[0]
    found = next((version for version in known if version.hash.startswith(given)), None)
    if found is None or len(given) < SHORT:
        raise NotFound("There is no version %(given)s of this prompt here.", given=given[:SHORT])
    return found


def _debate_prompts() -> list[str]:
    """The names of the prompts of debates, without those for questions to authors."""
    return [name for name in prompt_library().names() if name.partition("/")[0] in PROTOCOLS]
