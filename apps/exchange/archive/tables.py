"""What of a project travels: its tables, in the order in which they are loaded, and their columns.

Both follow from the models, so that a new model or column travels by itself. What does not travel
is listed here with its reason, and so is what refers to other rows without being a foreign key.
``tests/exchange/archive/test_tables.py`` fails for a model, a JSON column or a column of large
numbers that nobody has decided about.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.apps import apps
from django.db import models

PROJECT, USER = "projects.Project", "accounts.User"
PROVIDER, MODEL, PROMPT = "llm.Provider", "llm.ModelSpec", "llm.PromptVersion"
ITEM, LABEL, GOLD, RUN = "projects.Item", "labels.Label", "labels.Gold", "debates.Run"
STATE = "labels.ItemState"
LOG = "echo.LogEvent"

_RIGHTS = "Rights are given by people, never by a file."
_REBUILT = "Echo makes it anew from its log."
_SEALED = "It is a secret of one server."
_KEYED = "It counts under keyed hashes that only one server can compute."
_HERE = "It is about work on one server."
#: Models whose rows belong to a project and stay behind → why.
STAYS: dict[str, str] = {
    "accounts.ApiKey": _SEALED,
    "agreement.StoredReport": "It is a cache.",
    "authors.CarriedLimits": _KEYED,
    "authors.DailyUse": _KEYED,
    "authors.SiteKey": _SEALED,
    "echo.AuthorTrust": _REBUILT,
    "echo.ModelState": _REBUILT,
    "echo.Snapshot": _REBUILT,
    "exchange.Delivery": _HERE,
    "exchange.SavedExport": _HERE,
    "exchange.Webhook": _SEALED,
    "projects.GroupRole": _RIGHTS,
    "projects.Invitation": _RIGHTS,
    "projects.Membership": _RIGHTS,
    "projects.Notification": _HERE,
}

#: Rows that projects share: they are found again by name or content, and not loaded.
SHARED = {
    USER: ("username",),
    PROVIDER: ("name", "preset", "kind"),
    PROMPT: ("hash", "name", "body"),
}

#: Columns that stay behind; they get their default, or NULL.
LEFT_OUT = {
    "authors.Author.carried", "authors.Author.judge_due", "authors.Author.network",
    "authors.Message.fingerprint", "authors.Message.lease_until", "authors.Message.queued_until",
    "authors.Message.sealed", "authors.Site.enabled",
    "debates.Debate.lease_token", "debates.Debate.lease_until", "debates.Run.pulse",
    "debates.Run.resume_at",
    "echo.Decision.lease_until", "echo.Echo.erased", "echo.Echo.learnt", "echo.Echo.state",
    "echo.Experiment.sealed_key", "labels.ItemState.updated_at", "llm.ModelSpec.learnt",
    "projects.ImportBatch.stored_path", "projects.Project.creation_key",
    "projects.Project.loading",
    "reviews.Slot.lease_token",
}  # fmt: skip

#: Unfinished work does not go on by itself on another server.
STOPPED: dict[str, dict[str, str]] = {
    "authors.Message.status": {"received": "dropped"},
    "debates.Run.status": {"queued": "paused", "running": "paused"},
    "echo.Decision.status": {"pending": "nothing", "waiting": "expired"},
    "learning.TrainedModel.status": dict.fromkeys(("queued", "learning", "applying"), "cancelled"),
    "projects.ImportBatch.status": dict.fromkeys(("uploaded", "queued", "running"), "failed"),
    "projects.SchemaChange.status": {"running": "failed"},
    "reviews.BulkJob.status": dict.fromkeys(("queued", "running", "undoing"), "failed"),
    "reviews.Requeue.status": {"queued": "failed", "running": "failed"},
}

#: Columns of numbers that are keys: of a row, which may be gone, or of the last row of a progress.
KEYS = {"projects.ItemChange.item_id": ITEM}
PROGRESS = {
    "learning.TrainedModel.applied_to": ITEM,
    "learning.TrainedModel.gold_until": GOLD,
    "projects.SchemaChange.cursor": ITEM,
    "reviews.BulkJob.after": ITEM,
    "reviews.BulkJob.upto": ITEM,
    "reviews.Requeue.after": LABEL,
    "reviews.Requeue.upto": LABEL,
    "reviews.ReviewSettings.first_upto": ITEM,
}

_SEARCH = {
    "annotator": "labels.Annotator", "not_by": "labels.Annotator", "assigned": USER,
    "skipped_by": USER, "comment_by": USER, "batch": "projects.ImportBatch", "items[]": ITEM,
}  # fmt: skip
#: Keys in JSON columns: ``name``, ``name[]`` for a list, ``name{}`` for the keys of an object,
#: ``name=`` for its values; without a name, of the column itself.
JSON_KEYS: dict[str, dict[str, str]] = {
    "agreement.Guarantee.golds": {"=": GOLD, "{}": ITEM},
    "agreement.Guarantee.sample": {"[]": ITEM},
    "agreement.Guarantee.verdict": {"items{}": ITEM, "led[]": ITEM, "gone[]": ITEM},
    "labels.ItemState.assignees": {"[]": USER},
    "labels.Label.provenance": {"bulk": "reviews.BulkJob", "undone_by": USER},
    "reviews.BulkChange.before": {
        "added[]": USER, "labels[]": LABEL, "skips[]": "reviews.Decision",
    },
    "reviews.BulkJob.counts": {"undone_by": USER},
    "reviews.BulkJob.options": {"users[]": USER},
    "reviews.BulkJob.query": _SEARCH,
    "reviews.Intervention.data": {
        "bulk": "reviews.BulkJob", "comment": "reviews.Comment", "item": ITEM, "users[]": USER,
    },
    "reviews.SavedFilter.query": _SEARCH,
}  # fmt: skip

#: Texts that begin with a word and the key of a row.
_EVENT_OF = {
    "answer": "authors.Answer", "helpful": "echo.Decision", "named": "echo.Decision",
    "outcome": "echo.Selection", "reward": "echo.Decision",
}  # fmt: skip
_EVENT = re.compile(rf"({'|'.join(_EVENT_OF)})-(\d{{1,19}})(?![\da-f])")
EVENT_NAMES = {f"{LOG}.about", f"{LOG}.ref"}

#: Loaded after another one to which it has no foreign key, or last, as workers act on it.
_AFTER = {LABEL: {RUN}}
_LAST = ("agreement.Guarantee", "learning.LearningSwitch", "reviews.ReviewSettings")

#: Of a key in an archive: what becomes of it. ``None``: it means nothing here.
Translate = Callable[[str, int], int | None]
#: Stands for a row that is not here where a search or a record names it: no row has this key.
NOBODY = 2**63 - 1

_Field = models.Field[Any, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A table that travels.

    Attributes:
        name: ``app.Model``.
        path: from its rows to their project, as in a filter.
        fields: the columns that travel.
    """

    name: str
    model: type[models.Model]
    path: str
    fields: tuple[_Field, ...]
    references: Mapping[int, str] = field(default_factory=dict)

    @property
    def member(self) -> str:
        """Its file in the archive."""
        return f"{self.name}.jsonl"

    @property
    def rows(self) -> "models.QuerySet[Any]":
        """Its rows of all projects."""
        return models.QuerySet(self.model)

    @property
    def counted(self) -> bool:
        """Whether it has a key of its own, and not that of another row."""
        return not self.model._meta.pk.is_relation

    def named(self, attribute: str) -> int:
        """The place of a column in a row."""
        return [column.name for column in self.fields].index(attribute)


def _table(name: str, path: str, names: tuple[str, ...] = ()) -> Table:
    model = next(model for model in apps.get_models() if model._meta.label == name)
    fields = tuple(
        column
        for column in model._meta.concrete_fields
        if str(column) not in LEFT_OUT and (not names or column.primary_key or column.name in names)
    )
    references = {
        place: column.related_model._meta.label
        for place, column in enumerate(fields)
        if isinstance(column.related_model, type)
    }
    return Table(name, model, path, fields, references)


@cache
def _paths() -> dict[str, str]:
    """Model → the shortest way to its project by foreign keys that are always set."""
    found, news = {PROJECT: "pk"}, [PROJECT]
    while news:
        reached, news = news, []
        for model in apps.get_models():
            if model._meta.label in found:
                continue
            for column in model._meta.concrete_fields:
                target = column.related_model
                if column.null or not isinstance(target, type) or target._meta.label not in reached:
                    continue
                way = found[target._meta.label]
                found[model._meta.label] = column.name if way == "pk" else f"{column.name}__{way}"
                news.append(model._meta.label)
                break
    return found


@cache
def tables() -> tuple[Table, ...]:
    """All that travel, each after those that it refers to."""
    todo = {name: _table(name, path) for name, path in _paths().items() if name not in STAYS}
    ordered: list[Table] = []
    while todo:
        early = {name: table for name, table in todo.items() if name not in _LAST} or todo
        ready = sorted(
            name
            for name, table in early.items()
            if not ({*table.references.values(), *_AFTER.get(name, ())} & set(todo)) - {name}
        )
        ordered += [todo.pop(name) for name in ready]
    return tuple(ordered)


@cache
def shared_tables() -> tuple[Table, ...]:
    """Those of :data:`SHARED`, and the models of providers."""
    found = [_table(name, "", names) for name, names in SHARED.items()]
    return (*found, _table(MODEL, ""))


def translate_json(value: Any, spec: Mapping[str, str], translate: Translate) -> Any:
    """``value`` with other keys; see :data:`JSON_KEYS`. What has another form stays as it is."""
    for place, target in spec.items():
        name, form = re.fullmatch(r"(\w*)(.*)", place).groups()  # type: ignore[union-attr]  # matches all
        if not name:
            value = _translate_part(value, form, target, translate)
        elif isinstance(value, dict) and name in value:
            value = value | {name: _translate_part(value[name], form, target, translate)}
    return value


def _translate_part(part: Any, form: str, target: str, translate: Translate) -> Any:
    if form == "[]":
        if not isinstance(part, list):
            return part
        found = [translate(target, key) if _is_key(key) else key for key in part]
        return [key for key in found if key is not None]
    if form and not isinstance(part, dict):
        return part
    if form == "=":
        return {name: _translate_part(key, "", target, translate) for name, key in part.items()}
    if form == "{}":
        keys = {name: translate(target, int(name)) for name in part if name.isdecimal()}
        return {str(key): part[name] for name, key in keys.items() if key is not None}
    if not _is_key(part):
        return part
    key = translate(target, part)
    return NOBODY if key is None else key


def _is_key(value: Any) -> bool:
    # 0 is nobody, where a search asks for what has nobody.
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def translate_event(name: str, translate: Translate) -> str:
    """The name of an event of Echo's log with another key."""
    found = _EVENT.match(name)
    if found is None:
        return name
    key = translate(_EVENT_OF[found[1]], int(found[2]))
    return f"{found[1]}-{NOBODY if key is None else key}{name[found.end() :]}"
