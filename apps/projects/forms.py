"""Forms of projects and members; ``schema_form`` has that of the label schema."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from django import forms
from django.forms.boundfield import BoundWidget
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.accounts.roles import ReviewerKind, Role
from apps.common.forms import show_refusal
from apps.projects.invitations import MOST_DAYS, MOST_USES
from apps.projects.selectors import free_slug
from labelhub.core.schema import (
    TASKS,
    LabelType,
    SchemaError,
    parse_schema,
    schema_from_studio,
)


class TaskCard(NamedTuple):
    radio: BoundWidget
    words: LabelType


class ProjectForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=200)
    slug = forms.SlugField(
        label=_("Short name"),
        max_length=60,
        required=False,
        help_text=_("Part of every address and command, for good. Made from the name if empty."),
    )
    description = forms.CharField(
        label=_("Description"), required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    task = forms.ChoiceField(
        label=_("What do you ask about each text?"),
        choices=lambda: [(task.name, gettext(task.title)) for task in TASKS.values()],
        initial="single",
        widget=forms.RadioSelect,
    )
    overlap = forms.IntegerField(
        label=_("Annotators per item"),
        min_value=1,
        max_value=20,
        initial=2,
        help_text=_("Overlap: how many people label each text. Agreement needs at least two."),
    )
    blind_percent = forms.IntegerField(
        label=_("Share without suggestion, in %"),
        required=False,
        min_value=0,
        max_value=100,
        initial=10,
        help_text=_("Shows whether people merely accept what a model suggests."),
    )
    guideline = forms.CharField(
        label=_("Guideline"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text=_("How to label. People see it beside the text, models see it in the prompt."),
    )

    def clean(self) -> dict[str, Any]:
        """Make the short name from the name if it is empty."""
        cleaned: dict[str, Any] = super().clean() or {}
        if not cleaned.get("slug") and cleaned.get("name"):
            cleaned["slug"] = free_slug(cleaned["name"])
            if not cleaned["slug"]:
                self.add_error(
                    "slug", gettext("Give a short name of Latin letters, digits and hyphens.")
                )
        return cleaned

    def task_cards(self) -> Iterator[TaskCard]:
        for radio, words in zip(self["task"], TASKS.values(), strict=True):
            yield TaskCard(radio, words)


class ConfigForm(forms.Form):
    """A question and its labels as exported by Label Studio or LabelHub."""

    config = forms.CharField(
        label=_("The configuration"),
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "false", "class": "mono"}),
        help_text=_("Label Studio: Settings, Labeling Interface, Code. Or a schema as JSON."),
    )
    answer = forms.CharField(
        label=_("Which question"),
        required=False,
        max_length=200,
        help_text=_(
            "If the configuration asks several: the name of the one to use, as in its code."
        ),
    )

    def clean(self) -> dict[str, Any]:
        """Add the ``schema`` that the configuration describes."""
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        config, answer = cleaned["config"], cleaned["answer"]
        try:
            if config.startswith("<"):
                cleaned["schema"] = schema_from_studio(config, answer)
            else:
                cleaned["schema"] = parse_schema(json.loads(config))
        except (json.JSONDecodeError, RecursionError):
            self.add_error("config", gettext("Is neither Label Studio's XML nor JSON."))
        except SchemaError as error:
            show_refusal(self, error)
        return cleaned


class SettingsForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=200)
    description = forms.CharField(
        label=_("Description"), required=False, widget=forms.Textarea(attrs={"rows": 3})
    )


class GuidelineForm(forms.Form):
    text = forms.CharField(
        label=_("Guideline"),
        widget=forms.Textarea(attrs={"rows": 18}),
        help_text=_(
            "Shown as written. Saving makes a new version; runs and labels keep the old one."
        ),
    )


class TypedForm(forms.Form):
    """A confirmation by typing the given words, for actions that cannot be undone."""

    typed = forms.CharField()

    def __init__(self, *args: Any, words: str, label: StrOrPromise, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.words = words
        self.fields["typed"].label = label

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"].strip()
        if typed != self.words:
            raise forms.ValidationError(
                gettext("Type exactly “%(words)s”.") % {"words": self.words}
            )
        return typed


class PlaceForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.REVIEWER)
    kind = forms.ChoiceField(
        label=_("Labels as"), choices=ReviewerKind.choices, initial=ReviewerKind.CROWD
    )


class InviteForm(PlaceForm):
    """Whom to invite: somebody by name, an e-mail address, or nobody yet: then a link."""

    to = forms.CharField(
        label=_("User name or email"),
        required=False,
        max_length=254,
        help_text=_("Empty: you get a link to hand over."),
    )
    uses = forms.IntegerField(
        label=_("People per link"), min_value=1, max_value=MOST_USES, initial=1
    )
    days = forms.IntegerField(
        label=_("Valid for days"), min_value=1, max_value=MOST_DAYS, initial=7
    )
    field_order = ["to", "role", "kind", "uses", "days"]


class GroupRoleForm(PlaceForm):
    """What everybody in a group of the company's provider is."""

    group = forms.CharField(
        label=_("Group"),
        max_length=255,
        help_text=_("By the name or id that your company's sign-in sends, letter by letter."),
    )
    field_order = ["group", "role", "kind"]


class JoinForm(forms.Form):
    """A new account of a person who was invited."""

    username = forms.CharField(
        label=_("User name"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        help_text=_("At least ten characters."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
