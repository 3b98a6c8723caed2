"""The page that creates a project, with the file or template that it starts from."""

import json
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.http import SignedInRequest
from apps.common.forms import show_refusal
from apps.exchange.columns import ColumnMap
from apps.exchange.file_head import FileHead, read_head
from apps.exchange.forms import ColumnsForm, UploadForm
from apps.exchange.new_project.proposal import OpenSchema, Proposal, propose_schema
from apps.exchange.new_project.services import (
    WaitingUpload,
    create_and_import,
    find_upload,
    keep_upload,
)
from apps.exchange.new_project.starters import Starter, starter_named, starters
from apps.exchange.readers import FORMATS
from apps.exchange.readers.base import RawRow
from apps.exchange.rows import ItemRow, read_row
from apps.exchange.selectors import PAGE_WAITS
from apps.exchange.services.imports import discard_file
from apps.exchange.values import ImportSchema
from apps.projects.forms import ConfigForm, ProjectForm
from apps.projects.models import ImportBatch, Item, Project
from apps.projects.schema_form import SchemaForm
from apps.reviews.queue.item_context import preview_task
from apps.reviews.queue.key_bindings import keys_of
from labelhub.core.errors import InvalidInput, LabelhubError, Unavailable
from labelhub.core.schema import TASKS, Schema

SAMPLE_ROWS = 3
COLUMNS = "column"
#: The value of ``again`` that keeps values apart which look like one label.
APART = "apart"
NOTHING = Proposal("single")


class NewProjectForm(ProjectForm):
    key = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)
    file = forms.CharField(required=False, widget=forms.HiddenInput)
    template = forms.CharField(required=False, widget=forms.HiddenInput)
    samples = forms.BooleanField(
        required=False, initial=True, label=_("Add the sample items, to try it at once")
    )

    def project_fields(self) -> dict[str, Any]:
        """The arguments of ``create_project`` without schema and actor."""
        ours = ("task", "file", "template", "samples", "key", "blind_percent")
        fields = {name: value for name, value in self.cleaned_data.items() if name not in ours}
        percent = self.cleaned_data["blind_percent"]
        return fields if percent is None else fields | {"blind_share": percent / 100}


@dataclass(frozen=True, slots=True)
class Start:
    """What a new project starts from: a file and what was read in it, a template, or neither."""

    upload: WaitingUpload | None = None
    head: FileHead | None = None
    starter: Starter | None = None
    proposal: Proposal = NOTHING

    @property
    def sample(self) -> dict[str, Any] | None:
        """The first item, in our own fields."""
        if self.head and self.head.items:
            item = self.head.items[0]
            names = ("text", "context", "question", "options")
            return {"id": item.external_id, **{name: getattr(item, name) for name in names}}
        return self.starter.items[0] if self.starter else None


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_create(request: SignedInRequest) -> HttpResponse:
    """One page: the file, what was recognised in it, the labels, and a preview of the review page.

    A sent file leads back to the page with its token; ``again`` reads it with other columns.
    """
    if request.FILES:
        return _receive(request)
    data = request.POST if request.method == "POST" else None
    given = data if data is not None else request.GET
    sent = {name: str(value) for name, value in given.items()}
    try:
        source = _read_start(request, sent)
    except InvalidInput as error:
        messages.error(request, error.message)
        return redirect("project_create")
    if data is None or "again" in data:
        return _render(request, source, *_filled_forms(source, sent))
    form, labels = NewProjectForm(data), SchemaForm(data)
    columns = ColumnsForm(source.head, data, prefix=COLUMNS) if source.head else None
    valid = [form.is_valid(), labels.is_valid(data.get("task", ""))]
    valid += [columns.is_valid()] if columns else []
    if all(valid) and (created := _create(request, source, form, labels, columns)):
        return created
    return _render(request, source, form, labels, columns, status=422)


def _receive(request: SignedInRequest) -> HttpResponse:
    form = UploadForm(request.POST, request.FILES)
    if form.is_valid():
        upload = None
        try:
            upload = keep_upload(request.user, form.cleaned_data["file"])
            with suppress(Unavailable):  # the page tries again, without another upload
                _read_file(upload, None, None)
        except InvalidInput as error:
            form.add_error("file", error.message)
            if upload:
                discard_file(upload.path)
        else:
            template = request.POST.get("template", "")
            query = {"file": upload.token} | ({"template": template} if template else {})
            return redirect(f"{reverse('project_create')}?{urlencode(query)}")
    source = Start()
    return _render(request, source, *_filled_forms(source, {}), status=422, upload=form)


def _read_start(request: SignedInRequest, sent: Mapping[str, str]) -> Start:
    starter = starter_named(sent["template"]) if sent.get("template") else None
    if not sent.get("file"):
        return Start(starter=starter)
    upload = find_upload(request.user, sent["file"])
    columns = None
    if f"{COLUMNS}-text" in sent:
        names = (name for name in sent if name.startswith(f"{COLUMNS}-"))
        columns = {name.removeprefix(f"{COLUMNS}-"): sent[name] for name in names}
        columns.pop("strict", None)
    head, proposal = _read_file(upload, columns, starter, apart=sent.get("again") == APART)
    return Start(upload, head, starter, proposal)


def _read_file(
    upload: WaitingUpload,
    columns: dict[str, str] | None,
    starter: Starter | None,
    *,
    apart: bool = False,
) -> tuple[FileHead, Proposal]:
    """The head of the file, and the labels that fit the values in it.

    A column of which the values cannot be labels is not proposed as the label.
    """
    opened = OpenSchema.new()
    schema = ImportSchema.of(starter.schema, {}, leave_out=True) if starter else opened
    head = read_head(
        upload.path, upload.format, schema, columns, patience=PAGE_WAITS, by_content=True
    )
    if starter:
        return head, Proposal(starter.schema.task.name)
    proposal = propose_schema(head, opened.cells, apart=apart)
    if proposal.too_many and columns is None:
        head.chosen["gold"] = ""
    return head, proposal


def _filled_forms(
    source: Start, sent: Mapping[str, str]
) -> tuple[NewProjectForm, SchemaForm, ColumnsForm | None]:
    """The forms with what was recognised, and with what a person had typed in other fields."""
    starter, proposal = source.starter, source.proposal
    asked = sent.get("task", "")
    initial: dict[str, Any] = {
        "task": asked if asked in TASKS and "again" not in sent else proposal.task,
        "name": source.upload.project_name if source.upload else starter.title if starter else "",
        "file": source.upload.token if source.upload else "",
        "template": starter.key if starter else "",
    }
    if starter:
        initial |= {"task": starter.schema.task.name, "guideline": starter.guideline}
    kept = ("name", "slug", "description", "guideline", "overlap", "blind_percent", "key")
    initial |= {name: sent[name] for name in kept if "again" in sent and name in sent}
    rows = [
        {"name": label.name, "source": json.dumps(label.values), "point": label.point}
        for label in proposal.labels
    ]
    labels = SchemaForm(shown=starter.schema) if starter else SchemaForm(proposed=rows)
    if starter:
        labels.rows.extra = 0
    columns = ColumnsForm(source.head, prefix=COLUMNS) if source.head else None
    return NewProjectForm(initial=initial), labels, columns


def _create(
    request: SignedInRequest,
    source: Start,
    form: NewProjectForm,
    labels: SchemaForm,
    columns: ColumnsForm | None,
) -> HttpResponse | None:
    """Create, and redirect; None with errors on the forms."""
    assert labels.schema is not None  # noqa: S101 - the form is valid
    starter = source.starter
    policy = ImportBatch.UnknownLabels
    sample = starter.rows if starter and form.cleaned_data["samples"] else b""
    choices: dict[str, Any] = {}
    if source.upload and columns:
        choices = {
            "columns": columns.columns(),
            "unknown_labels": policy.IGNORE if starter else policy.REFUSE,
            "label_map": labels.label_map(),
        }
    try:
        project, batch = create_and_import(
            actor=request.user,
            key=form.cleaned_data["key"] or uuid.uuid4(),
            schema=labels.schema,
            fields=form.project_fields(),
            upload=source.upload,
            sample_rows=sample if not source.upload else b"",
            **choices,
        )
    except LabelhubError as error:
        show_refusal(form, error)
        return None
    if batch:
        return redirect("import_detail", project.slug, batch.pk)
    words = gettext("The project “%(name)s” is ready for its texts.")
    messages.success(request, words % {"name": project.name})
    return redirect("project_overview", project.slug)


def _render(
    request: SignedInRequest,
    source: Start,
    form: NewProjectForm,
    labels: SchemaForm,
    columns: ColumnsForm | None,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    head = source.head
    context = {
        "form": form,
        "labels": labels,
        "columns": columns,
        "source": source,
        "sample_rows": head.rows[:SAMPLE_ROWS] if head else (),
        "sample": json.dumps(source.sample) if source.sample else "",
        "started": bool(source.upload or source.starter)
        or form.is_bound
        or not {"start", "task"}.isdisjoint(request.GET),
        "starters": starters().values(),
        "formats": FORMATS.values(),
        "upload": UploadForm(),
        **more,
    }
    schema = labels.schema or labels.shown
    context |= _preview(request, form["task"].value(), labels, schema, source.sample)
    return render(request, "projects/create.html", context, status=status)


@login_required
@require_POST
def project_preview(request: SignedInRequest) -> HttpResponse:
    """The review page with the labels as they are typed, as a part of the page; 204 while they make
    no schema."""
    labels = SchemaForm(request.POST)
    if not labels.is_valid(request.POST.get("task", "")):
        return HttpResponse(status=204)
    try:
        sample = json.loads(request.POST.get("sample") or "null")
    except (ValueError, RecursionError):
        sample = None
    context = _preview(request, "", labels, labels.schema, sample)
    return render(request, "projects/create.html#preview", context)


def _preview(
    request: SignedInRequest, task: str, labels: SchemaForm, schema: Schema | None, sample: Any
) -> dict[str, Any]:
    """The context of the review task; empty while there is no schema."""
    schema = schema or labels.proposed_schema(str(task))
    if schema is None:
        return {}
    example = {"text": gettext("Your texts appear here, one by one.")}
    raw = sample if isinstance(sample, dict) else example
    columns = ColumnMap({"gold": "", "labels": ""})
    row = read_row(RawRow(1, raw), columns, schema)
    if not isinstance(row, ItemRow):  # such as an item without the options that the type needs
        plain = {
            "text": str(raw.get("text") or "…"),
            "options": [gettext("One answer"), gettext("Another answer")],
        }
        row = read_row(RawRow(1, plain), columns, schema)
    if not isinstance(row, ItemRow):
        return {}
    names = ("external_id", "text", "context", "question", "options")
    item = Item(pk=0, **{name: getattr(row, name) for name in names})
    project = Project(pk=0, slug="preview", name="Preview")
    return {
        "project": project,
        "task": preview_task(project, schema, item),
        "keys": keys_of(request.user),
    }


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_from_config(request: SignedInRequest) -> HttpResponse:
    """Read question and labels from a configuration and show them on the page that creates a
    project."""
    form = ConfigForm(request.POST or None)
    if not form.is_valid():
        status = 422 if form.is_bound else 200
        return render(request, "projects/from_config.html", {"form": form}, status=status)
    schema = form.cleaned_data["schema"]
    project = NewProjectForm(initial={"task": schema.task.name})
    return _render(
        request, Start(), project, SchemaForm(shown=schema), None, taken=schema, started=True
    )
