"""A project with rows in every table that travels, and what an archive says without its keys."""

import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from django.db import models

from apps.common.bulk import insert_rows
from apps.common.phrases import PhraseField
from apps.exchange.archive.export import ProjectArchive
from apps.exchange.archive.file import ArchiveFile
from apps.exchange.archive.services import request_import, run_import
from apps.exchange.archive.tables import (
    EVENT_NAMES,
    JSON_KEYS,
    KEYS,
    MODEL,
    PROGRESS,
    PROJECT,
    PROMPT,
    PROVIDER,
    RUN,
    USER,
    Table,
    tables,
    translate_event,
    translate_json,
)
from apps.exchange.models import ProjectImport
from apps.exchange.services.imports import store_upload
from apps.llm.models import ModelSpec, PromptVersion, Provider
from apps.projects.models import Project
from labelhub.core.debate.routing import Rule
from labelhub.core.phrases import Phrase
from labelhub.core.prompts import PromptLibrary
from labelhub.settings.base import ROOT  # type: ignore[attr-defined]  # where prompts/ is
from tests.factories.accounts import UserFactory

SINCE = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
SCHEMA = {"task": "multi", "question": "What?", "labels": [{"name": "Räume"}, {"name": "Preis"}]}
FEATURE = {"name": "Mood", "definition": "How they feel.", "values": ["a", "b"]}
#: Values that follow from more than the type of their column; ``n`` is the number of the row.
FIXED: dict[str, Callable[[int], Any]] = {
    "agreement.Guarantee.state": lambda n: ["on", "off"][n],
    "authors.Feature.definition": lambda n: {**FEATURE, "key": f"mood_{n}"},
    "authors.Feature.key": lambda n: f"mood_{n}",
    "authors.Message.status": lambda _: "asked",
    "authors.Site.allowed_origins": lambda _: ["https://shop.example"],
    "authors.Site.languages": lambda _: ["de", "en"],
    "debates.Run.status": lambda n: ["paused", "done"][n],
    "debates.RoutingRule.definition": lambda _: Rule(audit=0.2).to_json(),
    "echo.CatalogueItem.definition": lambda n: {
        "id": f"tea-{n}",
        "title": "Teapot",
        "text": "Of stoneware.",
        "link": "/shop/#tea",
    },
    "echo.Decision.status": lambda _: "shown",
    "echo.Echo.logged": lambda _: 2,
    "echo.Experiment.ended_at": lambda n: SINCE + timedelta(days=n),
    "echo.LogEvent.about": lambda _: "",
    "echo.LogEvent.data": lambda n: {"feature": f"mood_{n}", "prior": 0.5},
    "echo.LogEvent.feature": lambda n: f"mood_{n}",
    "echo.LogEvent.kind": lambda _: "expected",
    "echo.LogEvent.ref": lambda n: ["expected-1f", "shared-2e"][n],
    "labels.Gold.value": lambda _: ["Preis"],
    "labels.Label.rejected": lambda _: False,
    "labels.Label.role": lambda n: ["vote", "extra"][n],
    "labels.Label.value": lambda n: [["Räume"], ["Räume", "Preis"]][n],
    "labels.Label.withdrawn": lambda _: False,
    "learning.TrainedModel.status": lambda _: "done",
    "llm.Provider.api_key_env": lambda _: "",
    "llm.Provider.removed_at": lambda _: None,
    "projects.ImportBatch.status": lambda _: "done",
    "projects.LabelSchema.definition": lambda _: SCHEMA,
    "projects.SchemaChange.operations": lambda _: [],
    "projects.SchemaChange.status": lambda _: "done",
    "reviews.BulkJob.status": lambda _: "done",
    "reviews.Requeue.status": lambda _: "done",
}


class FilledProject:
    """Two rows in each table, every column filled, with everything that refers to other rows.

    Attributes:
        rows: by table.
    """

    def __init__(self, slug: str = "filled") -> None:
        self.rows: dict[str, list[Any]] = {
            USER: [UserFactory.create(username=f"{slug}-{n}") for n in range(2)]
        }
        self._slug = slug
        library = PromptLibrary(Path(ROOT) / "prompts")
        found = [library.get("single", "annotator"), library.get("vote", "annotator")]
        self.rows[PROMPT] = [
            PromptVersion.objects.get_or_create(
                hash=prompt.hash, defaults={"name": prompt.name, "body": prompt.body}
            )[0]
            for prompt in found
        ]
        for table in tables():
            single = table.name == PROJECT or any(
                column.unique and column.related_model is Project for column in table.fields
            )
            made = [self._row(table, n) for n in range(1 if single else 2)]
            self.rows[table.name] = list(insert_rows(made))
            if table.name == PROJECT:
                self._add_models()

    @property
    def project(self) -> Project:
        found: Project = self.rows[PROJECT][0]
        return found

    def _add_models(self) -> None:
        own = Provider.objects.create(name="Ours", project=self.project)
        shared, _ = Provider.objects.get_or_create(name="Everybody's", project=None)
        self.rows[MODEL] = [
            ModelSpec.objects.create(
                provider=own, name=f"{self._slug} small", price_in=Decimal("0.5")
            ),
            ModelSpec.objects.get_or_create(provider=shared, name="large")[0],
        ]

    def _row(self, table: Table, n: int) -> Any:
        row = table.model()
        once = table.model._meta.pk.is_relation
        for column in table.model._meta.concrete_fields:
            if column.primary_key and not once:
                continue
            if column.is_relation:
                target = cast(type[models.Model], column.related_model)._meta.label
                chosen = self.rows.get(target, [])
                if target == table.name:  # to an earlier row
                    chosen = []
                row_there = chosen[n % len(chosen)] if chosen else None
                setattr(row, column.attname, row_there and row_there.pk)
            elif str(column) in FIXED:
                setattr(row, column.attname, FIXED[str(column)](n))
            else:
                setattr(row, column.attname, self._value(table, column, n))
        return row

    def _value(self, table: Table, column: Any, n: int) -> Any:
        if spec := JSON_KEYS.get(str(column)):
            return self._keys(spec)
        if target := KEYS.get(str(column)) or PROGRESS.get(str(column)):
            rows = self.rows.get(target)
            return rows[n].pk if rows else 0
        if str(column) == "labels.Label.run_uid":
            return self.rows[RUN][n].uid
        return _plain(column, f"{self._slug}-{n}", n)

    def _keys(self, spec: dict[str, str]) -> Any:
        """A column that refers to a row of each kind."""
        whole: Any = {"also": "ß"}
        for place, target in spec.items():
            if not self.rows.get(target):
                continue  # a table that comes later
            key = self.rows[target][0].pk
            name = place.rstrip("[]{}=")
            part: Any = key
            if place.endswith("[]"):
                part = [key]
            elif place.endswith(("{}", "=")):
                part = {str(self.rows["projects.Item"][0].pk): key}
            if not name:
                whole = part
            else:
                whole[name] = part
        return whole


def _plain(column: Any, name: str, n: int) -> Any:
    if column.choices:
        return [value for value, _ in column.flatchoices][n % len(column.flatchoices)]
    if isinstance(column, models.CharField) and "url" in column.name:
        return "https://example.org/privacy"
    return next(make for kind, make in _PLAIN if isinstance(column, kind))(column, name, n)


#: Kind of field → a value; the first that fits.
_PLAIN: tuple[tuple[Any, Callable[[Any, str, int], Any]], ...] = (
    (
        models.JSONField,
        lambda column, _, n: (
            [f"wörter {n}", None] if column.default is list else {"n": n, "x": [1.5, "é"]}
        ),
    ),
    (PhraseField, lambda _, __, n: Phrase("%(count)s row", "%(count)s rows", count=n)),
    (models.EmailField, lambda *_: "a@example.org"),
    (
        models.CharField,
        lambda column, name, _: name[: column.max_length] if column.max_length > 4 else "EN",
    ),
    (models.TextField, lambda _, name, __: f"Text {name} with “quotes”,\nlines and 漢字"),
    (models.BooleanField, lambda column, _, n: bool(n) is not bool(column.default)),
    (models.FloatField, lambda _, __, n: [0.5, 0.1 + 0.2][n]),
    (models.IntegerField, lambda _, __, n: 1 + n),
    (models.DateTimeField, lambda _, __, n: SINCE + timedelta(hours=n)),
    (models.DateField, lambda _, __, n: date(2026, 3, 1 + n)),
    (models.DecimalField, lambda *_: Decimal("1.250000")),
    (models.UUIDField, lambda *_: uuid.uuid4()),
    (models.BinaryField, lambda *_: b"sealed or packed"),
)


def written_archive(project: Project, path: Path) -> Path:
    """The project's archive at ``path``."""
    with path.open("wb") as file:
        file.writelines(ProjectArchive(project).pieces())
    return path


def loaded(path: Path, **options: Any) -> ProjectImport:
    """The import of the archive, ended."""
    stored = store_upload([path.read_bytes()])
    return run_import(
        request_import(path=stored, file_name=path.name, actor=None, send=False, **options)
    )


def content_of(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of an archive by table, with places instead of keys, and names of people, models and
    prompts."""
    archive = ArchiveFile(path)
    rows = {name: list(archive.rows(name)) for name in archive.members}
    places = {
        name: {row[0]: place for place, row in enumerate(sorted(found))}
        for name, found in rows.items()
    }
    people = {row[0]: row[1] for row in rows[USER]}
    providers = {row[0]: row[1] for row in rows[PROVIDER]}
    models_ = {row[0]: f"{providers[row[1]]}/{row[2]}" for row in rows[MODEL]}
    prompts = {row[0]: row[1] for row in rows[PROMPT]}
    shared = {USER: people, PROVIDER: providers, MODEL: models_, PROMPT: prompts}

    def place_of(target: str, key: int) -> Any:
        return shared[target][key] if target in shared else places[target].get(key, -1)

    for name, member in archive.members.items():
        for place, column in enumerate(member.table.fields):
            change = _place_change(member.table, place, str(column), place_of)
            for row in rows[name] if change else ():
                if row[place] is not None:
                    row[place] = change(row[place])
    archive.close()
    return {
        name: [
            {
                column.name: value
                for column, value in zip(archive.members[name].table.fields, row, strict=True)
            }
            for row in found
        ]
        for name, found in rows.items()
        if name not in shared
    }


def _place_change(table: Table, place: int, name: str, place_of: Any) -> Any:
    if target := table.references.get(place) or KEYS.get(name):
        return lambda key: place_of(target, key)
    if table.fields[place].primary_key:
        return lambda key: place_of(table.name, key)
    if target := PROGRESS.get(name):
        return lambda key: place_of(target, key) if key else 0
    if spec := JSON_KEYS.get(name):
        return lambda value: translate_json(value, spec, place_of)
    if name in EVENT_NAMES:
        return lambda text: translate_event(text, place_of)
    return None
