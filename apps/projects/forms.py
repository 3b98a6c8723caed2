"""Forms of projects and their people. The label schema's form is in ``schema_form``."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from django import forms
from django.forms.boundfield import BoundWidget
from django.utils.text import slugify

from apps.accounts.roles import ReviewerKind, Role
from apps.projects.models import Project
from labelhub.core.schema import (
    TASKS,
    LabelType,
    Schema,
    SchemaError,
    parse_schema,
    schema_from_studio,
)


class TaskCard(NamedTuple):
    """One choice of the task, ready to draw."""

    radio: BoundWidget
    words: LabelType


class ProjectForm(forms.Form):
    """What a new project needs beside its labels."""

    name = forms.CharField(max_length=200)
    slug = forms.SlugField(
        label="Short name",
        max_length=60,
        required=False,
        help_text="Part of every address and command; it stays. Left empty, the name makes it.",
    )
    description = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))
    task = forms.ChoiceField(
        label="What is asked of each text?",
        choices=lambda: [(task.name, task.title) for task in TASKS.values()],
        initial="single",
        widget=forms.RadioSelect,
    )
    overlap = forms.IntegerField(
        label="People per item",
        min_value=1,
        max_value=20,
        initial=1,
        help_text="How many people label each text. From two on, agreement between people shows.",
    )
    guideline = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="How to label. People see it beside the text, models in the prompt, as it is.",
    )

    def clean(self) -> dict[str, Any]:
        """Derive the short name where none was given."""
        cleaned: dict[str, Any] = super().clean() or {}
        if not cleaned.get("slug") and cleaned.get("name"):
            cleaned["slug"] = slugify(cleaned["name"])[:60].strip("-_")
            if not cleaned["slug"]:
                self.add_error("slug", "Give a short name of Latin letters, digits and hyphens.")
        return cleaned

    def task_cards(self) -> Iterator[TaskCard]:
        """The choices of the task with their explanations."""
        for radio, words in zip(self["task"], TASKS.values(), strict=True):
            yield TaskCard(radio, words)


class ConfigForm(forms.Form):
    """A question and its labels as another tool, or this one, has written them down."""

    config = forms.CharField(
        label="The configuration",
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "false", "class": "mono"}),
        help_text="Label Studio: Settings, Labeling Interface, Code. Or a schema as JSON.",
    )
    answer = forms.CharField(
        label="Which question",
        required=False,
        max_length=200,
        help_text="Only where it asks several: the name of the one to take, as in its code.",
    )

    def schema(self) -> Schema:
        """What the configuration asks; the form is valid.

        Raises:
            SchemaError: it cannot be read, or asks what cannot be asked here.
        """
        config = self.cleaned_data["config"].strip()
        if config.startswith("<"):
            return schema_from_studio(config, self.cleaned_data["answer"].strip())
        try:
            return parse_schema(json.loads(config))
        except (json.JSONDecodeError, RecursionError):
            raise SchemaError("config: is neither Label Studio's XML nor JSON.") from None


class SettingsForm(forms.Form):
    """What can be changed of a project by hand."""

    name = forms.CharField(max_length=200)
    description = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))


class GuidelineForm(forms.Form):
    """The guideline's text."""

    text = forms.CharField(
        label="Guideline",
        widget=forms.Textarea(attrs={"rows": 18}),
        help_text="Shown as written. Saving makes a new version; runs and labels keep theirs.",
    )


class DeleteForm(forms.Form):
    """Deleting takes the typed short name."""

    typed = forms.CharField(label="Type the short name of the project")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project

    def clean_typed(self) -> str:
        """Exactly the slug."""
        typed: str = self.cleaned_data["typed"].strip()
        if typed != self.project.slug:
            raise forms.ValidationError(f"That is not “{self.project.slug}”.")
        return typed


class PlaceForm(forms.Form):
    """Somebody's place in a project."""

    role = forms.ChoiceField(choices=Role.choices, initial=Role.REVIEWER)
    kind = forms.ChoiceField(
        label="Labels as", choices=ReviewerKind.choices, initial=ReviewerKind.CROWD
    )


class AddMemberForm(PlaceForm):
    """Somebody who has an account."""

    person = forms.CharField(label="User name or e-mail", max_length=254)
    field_order = ["person", "role", "kind"]


class NewAccountForm(PlaceForm):
    """Somebody who has none yet."""

    username = forms.CharField(label="User name", max_length=150)
    email = forms.EmailField(label="E-mail", required=False)
    field_order = ["username", "email", "role", "kind"]
