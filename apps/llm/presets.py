"""The kinds of providers that a person chooses from; the data is in ``presets.toml``."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_noop

from apps.llm.models import Provider
from labelhub.core.errors import InvalidInput

#: The preset of providers that were set up without one, and its title; others are names.
OTHER = "other"
gettext_noop("Another endpoint")


@dataclass(frozen=True, slots=True)
class Preset:
    """One kind of provider; the head of ``presets.toml`` explains the fields."""

    name: str
    title: str
    base_url: str
    key: str
    example: str
    kind: str = str(Provider.Kind.OPENAI)
    api_version: str = ""
    own_server: bool = False
    keys_at: str = ""
    lists: bool = True
    tried: bool = False
    model: Mapping[str, Any] = field(default_factory=dict)


@cache
def presets() -> Mapping[str, Preset]:
    """All presets by name, in the order in which they are offered."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {name: Preset(name=name, **row) for name, row in table.items()}


def preset_named(name: str) -> Preset:
    """The preset of that name.

    Raises:
        InvalidInput: there is none; the message lists the known ones.
    """
    if name not in presets():
        raise InvalidInput.at(
            "kind", "'%(name)s' is not one of %(value)s.", name=name, value=", ".join(presets())
        )
    return presets()[name]


def preset_of(provider: Provider) -> Preset:
    """The preset that ``provider`` was set up with."""
    usual = "azure" if provider.kind == Provider.Kind.AZURE else OTHER
    return presets().get(provider.preset) or presets()[usual]
