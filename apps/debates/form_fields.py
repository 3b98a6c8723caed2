"""Form fields of what is data elsewhere: a protocol's settings, an amount of money, a prompt."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django import forms

from apps.debates.models import PromptVariant
from apps.debates.naming import protocol_title
from apps.llm.models import ModelSpec
from labelhub.core.debate import PROTOCOLS
from labelhub.core.debate.info import Setting
from labelhub.core.schema import LabelType

#: More than any project has; a database counts no further than it can.
MOST_ITEMS = 10**9


def dollars_field(words: str, label: str, *, required: bool) -> forms.DecimalField:
    """An amount in USD."""
    return forms.DecimalField(
        min_value=0,
        max_digits=12,
        decimal_places=6,
        required=required,
        label=label,
        help_text=words,
    )


def suited(setting: Setting, task: LabelType) -> Setting:
    """The setting without the protocols that cannot answer the question."""
    choices = tuple(
        each for each in setting.choices if each not in PROTOCOLS or PROTOCOLS[each].answers(task)
    )
    if choices == setting.choices:
        return setting
    usual = setting.default if setting.default in choices else choices[0]
    return replace(setting, choices=choices, default=usual)


def model_words(model: ModelSpec) -> str:
    """How a model is offered: the offline model's provider says that it is no LLM."""
    return f"{model.name} · {model.provider.name}"


def setting_form_field(setting: Setting) -> forms.Field:
    """The field of a protocol's setting."""
    wrong = f"Give {setting.menu}."
    codes = ("required", "invalid", "invalid_choice", "min_value", "max_value")
    about: dict[str, Any] = {
        "initial": setting.default,
        "label": setting.title,
        "help_text": setting.help,
        "error_messages": dict.fromkeys(codes, wrong),
    }
    if setting.choices:
        choices = [(choice, _choice_words(choice)) for choice in setting.choices]
        return forms.TypedChoiceField(choices=choices, coerce=type(setting.default), **about)
    if isinstance(setting.default, float):
        return forms.FloatField(min_value=setting.low, max_value=setting.high, **about)
    return forms.IntegerField(min_value=int(setting.low), max_value=int(setting.high), **about)


def prompt_field(name: str, variants: Iterable[PromptVariant]) -> forms.ChoiceField:
    """Which text of the prompt ``name`` to use: the present one, or one of ``variants``."""
    protocol, _, role = name.partition("/")
    return forms.ChoiceField(
        choices=[
            ("", "Present text"),
            *((variant.version.hash, variant.title) for variant in variants),
        ],
        required=False,
        label=f"{PROTOCOLS[protocol].title}: {role.replace('_', ' ')}",
    )


def _choice_words(choice: int | str) -> str:
    said = str(choice)
    return protocol_title(said) if said in PROTOCOLS else said.capitalize()
