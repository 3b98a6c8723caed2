"""The pages: what is to change, as a form of operations, what that will do, how far it has come."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.forms.formsets import formset_factory
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, override
from django.utils.translation import gettext_lazy as _

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.common.forms import show_refusal
from apps.projects.models import Project, SchemaChange
from apps.projects.pages import project_page, project_view
from apps.projects.selectors import current_schema
from apps.reviews.schema_changes.preview import preview_change
from apps.reviews.schema_changes.services import (
    begin_change,
    changes_of,
    draft_change,
    get_change,
    is_newest,
    resume_change,
)
from labelhub.core.errors import LabelhubError
from labelhub.core.schema import LabelDef, Schema, fold
from labelhub.core.schema.definition import number
from labelhub.core.schema.operations import (
    Add,
    Ask,
    InvalidChange,
    Merge,
    Operation,
    Rename,
    Reorder,
    Retire,
    Split,
)

FATES = {
    "": _("Keep it"),
    "rename": _("Rename it"),
    "merge": _("Merge it into another"),
    "split": _("Split it"),
    "retire": _("Retire it"),
}


class FateForm(forms.Form):
    """One label; only the fields of the chosen fate are read."""

    name = forms.CharField(widget=forms.HiddenInput, strip=False)
    fate = forms.ChoiceField(choices=list(FATES.items()), required=False, label=_("What to do"))
    to = forms.CharField(required=False, max_length=100, label=_("New name"))
    point = forms.FloatField(required=False, label=_("New number"), help_text=_("Empty: as it is."))
    into = forms.CharField(
        required=False, max_length=100, label=_("Merge into"),
        help_text=_("A label of this list, or a new name. Several may go into the same one."),
    )  # fmt: skip
    parts = forms.CharField(
        required=False, label=_("Into which labels"), widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("One name per line; on a scale with its number, as in: fair = 2."),
    )  # fmt: skip
    default = forms.CharField(
        required=False, max_length=100, label=_("What was labelled so far becomes"),
        help_text=_("One of them; empty: people are asked again."),
    )  # fmt: skip
    replacement = forms.CharField(
        required=False, max_length=100, label=_("What was labelled so becomes"),
        help_text=_("Another label. Empty: a set of labels loses it; otherwise people are asked."),
    )  # fmt: skip
    silent = forms.BooleanField(
        required=False, label=_("Take these labels back without asking anybody again")
    )

    @property
    def title(self) -> str:
        return str(self["name"].value())

    @property
    def for_fates(self) -> list[tuple[str, forms.BoundField]]:
        """Each field with the fate that it belongs to."""
        fates = {"to": "rename", "point": "rename", "into": "merge", "parts": "split",
                 "default": "split", "replacement": "retire", "silent": "retire"}  # fmt: skip
        return [(fate, self[name]) for name, fate in fates.items() if name in self.fields]

    def operation(self) -> Operation:
        """The label's rename, split or retirement.

        Raises:
            InvalidChange: a name is missing.
        """
        row = self.cleaned_data
        match row["fate"]:
            case "rename":
                return Rename(row["name"], row["to"].strip() or row["name"], row.get("point"))
            case "split":
                parts = tuple(_read_labels(_required_text(row, "parts")))
                return Split(row["name"], parts, row["default"].strip())
        return Retire(row["name"], row["replacement"].strip(), ask=not row["silent"])


FateRows = formset_factory(FateForm, extra=0, max_num=200, absolute_max=200)


class WholeForm(forms.Form):
    more = forms.CharField(
        required=False, label=_("New labels"), widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("One name per line; on a scale with its number, as in: great = 6."),
    )  # fmt: skip
    order = forms.CharField(
        required=False, label=_("New order"), widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("All labels after the change, one per line. Empty: as they are."),
    )  # fmt: skip
    question = forms.CharField(
        required=False, label=_("Question"), help_text=_("Asked above each text.")
    )
    reason = forms.CharField(
        required=False, max_length=2000, label=_("Why"), help_text=_("Kept with the change."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )  # fmt: skip


class ChangeForm:
    def __init__(self, schema: Schema, data: Mapping[str, Any] | None = None) -> None:
        self.schema = schema
        self.rows = FateRows(
            data, initial=[{"name": name} for name in schema.names], prefix="label"
        )
        self.whole = WholeForm(data, initial={"question": schema.question}, prefix="schema")
        if not schema.task.ordered:
            for row in self.rows:
                del row.fields["point"]

    def is_valid(self) -> bool:
        """Whether the fields are well formed; the plan checks whether they fit each other."""
        rows, whole = self.rows.is_valid(), self.whole.is_valid()
        return rows and whole

    def operations(self) -> list[Operation]:
        """The operations; empty if nothing changes.

        Raises:
            InvalidChange: a name is missing.
        """
        fated = [row.cleaned_data for row in self.rows if row.cleaned_data.get("fate")]
        found: list[Operation] = [
            row.operation()
            for row in self.rows
            if row.cleaned_data.get("fate", "") not in ("", "merge")
        ]
        found += self._merges(fated)
        cleaned = self.whole.cleaned_data
        found += [Add(label) for label in _read_labels(cleaned["more"])]
        if cleaned["question"].strip() != self.schema.question:
            found.append(Ask(cleaned["question"].strip()))
        if cleaned["order"].strip():
            found.append(Reorder(tuple(_read_lines(cleaned["order"]))))
        return found

    def _merges(self, fated: list[dict[str, Any]]) -> Iterator[Operation]:
        """One merge per target; a target that stays is part of it."""
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in fated:
            if row["fate"] == "merge":
                groups.setdefault(fold(_required_text(row, "into")), []).append(row)
        touched = {fold(row["name"]) for row in fated}
        for rows in groups.values():
            into, names = rows[0]["into"].strip(), [row["name"] for row in rows]
            target = self.schema.label(into)
            if target is not None and fold(target.name) not in touched:
                names.append(target.name)
            yield Merge(tuple(names), into) if len(names) > 1 else Rename(names[0], into)


def _required_text(row: Mapping[str, Any], name: str) -> str:
    given = str(row[name]).strip()
    if not given:
        raise InvalidChange(
            "Say what becomes of “%(row)s”: a field is empty.", row=str(row["name"])
        )
    return given


def _read_lines(text: str) -> list[str]:
    return [name for line in text.splitlines() if (name := line.strip())]


def _read_labels(text: str) -> Iterator[LabelDef]:
    for line in _read_lines(text):
        name, _, definition = line.rpartition("=")
        point = number(definition.strip()) if name.strip() else None
        yield LabelDef(line) if point is None else LabelDef(name.strip(), point=point)


Status = SchemaChange.Status


@project_view(Right.MANAGE, "GET", "HEAD", "POST")
def labels_change(request: SignedInRequest, project: Project) -> HttpResponse:
    """What is to become of each label; posting it leads to the preview."""
    editing = request.method == "POST"
    current = current_schema(project)
    form = ChangeForm(current.parsed, request.POST if editing else None)
    if editing and form.is_valid():
        try:
            reason = form.whole.cleaned_data["reason"]
            draft = draft_change(project, form.operations(), actor=request.user, reason=reason)
            change = _stored(draft)
        except LabelhubError as error:
            show_refusal(form.whole, error)
        else:
            return redirect("labels_change_detail", project.slug, change.pk)
    context = project_page(request, project, "labels") | {
        "form": form,
        "current": current,
        "changes": changes_of(project)[:20],
    }
    return render(request, "reviews/labels_change.html", context, status=422 if editing else 200)


@project_view(Right.MANAGE, "GET", "HEAD", "POST")
def labels_change_detail(
    request: SignedInRequest, project: Project, change_id: int
) -> HttpResponse:
    """One change: its preview, its progress, what it did; posting begins it, lets it go on, or
    works out how to take it back."""
    change = get_change(project, change_id)
    if request.method == "POST":
        try:
            return redirect(
                "labels_change_detail", project.slug, _done(request, project, change).pk
            )
        except LabelhubError as error:
            messages.error(request, error.message)
            return redirect("labels_change_detail", project.slug, change.pk)
    context = project_page(request, project, "labels") | {
        "change": change,
        "newest": is_newest(change),
    }
    return render(request, "reviews/labels_change_detail.html", context)


def _done(request: SignedInRequest, project: Project, change: SchemaChange) -> SchemaChange:
    match request.POST.get("do"):
        case "begin" if change.status == Status.PREVIEWED:
            begin_change(change)
        case "revert" if is_newest(change):
            return _stored(draft_change(project, [], actor=request.user, reverts=change))
        case "resume" if resume_change(change):
            pass  # a worker goes on
        case _:
            messages.info(request, gettext("That has been done already."))
    return change


def _stored(draft: SchemaChange) -> SchemaChange:
    """The change with its preview; earlier ones of the same person that were not begun go."""
    with override("en"):  # it is stored
        draft.preview = preview_change(draft)
    kept: dict[str, Any] = {"project": draft.project, "created_by": draft.created_by}
    with transaction.atomic():
        # One that begins at this moment must not go: all that it carries over would go with it.
        Project.objects.select_for_update().get(pk=draft.project_id)
        SchemaChange.objects.filter(**kept, status=Status.PREVIEWED).delete()
        draft.save()
    return draft
