"""Nothing of a project is silently left behind: each model and column is decided about."""

from typing import Any

from django.apps import apps
from django.contrib.contenttypes.fields import GenericForeignKey
from django.db import models

from apps.common.sealing import SealedField
from apps.exchange.archive.tables import (
    EVENT_NAMES,
    JSON_KEYS,
    KEYS,
    LEFT_OUT,
    MODEL,
    PROGRESS,
    PROJECT,
    SHARED,
    STAYS,
    STOPPED,
    shared_tables,
    tables,
)
from apps.exchange.archive.values import reader_of

TRAVEL = {table.name: table for table in tables()}
#: JSON columns that hold no key of a row.
NO_KEYS = {
    "agreement.Guarantee.bounds", "agreement.Guarantee.rule", "agreement.Guarantee.rule_before",
    "agreement.Guarantee.specs", "authors.Author.trust", "authors.ConsentText.texts",
    "authors.Erasure.removed", "authors.Event.data", "authors.Feature.definition",
    "authors.Message.stages", "authors.Question.options", "authors.Site.allowed_origins",
    "authors.Site.languages", "debates.Debate.failed_tries", "debates.Debate.flags",
    "debates.Debate.reasons", "debates.Debate.signals", "debates.Debate.value",
    "debates.RoutingRule.definition", "debates.Run.params", "debates.Run.protocol_settings",
    "debates.Turn.attempts", "debates.Turn.evidence", "debates.Turn.messages",
    "debates.Turn.params_asked", "debates.Turn.params_effective", "debates.Turn.probabilities",
    "debates.Turn.ranking", "debates.Turn.value", "echo.CatalogueItem.definition",
    "echo.Decision.offer", "echo.Decision.propensities", "echo.Decision.reasons",
    "echo.Experiment.design", "echo.LogEvent.data", "echo.Selection.asked",
    "echo.Selection.predicted", "echo.Selection.selected", "labels.Gold.evidence",
    "labels.Gold.value", "labels.ItemState.reasons", "labels.ItemState.signals",
    "labels.Label.evidence", "labels.Label.value", "learning.Score.value",
    "learning.TrainedModel.curve", "learning.TrainedModel.quality",
    "projects.ImportBatch.columns", "projects.ImportBatch.errors",
    "projects.ImportBatch.label_map", "projects.ImportBatch.unknown", "projects.Item.context",
    "projects.Item.meta", "projects.Item.options", "projects.LabelSchema.definition",
    "projects.SchemaChange.counts", "projects.SchemaChange.operations",
    "projects.SchemaChange.preview", "reviews.Draft.fields",
}  # fmt: skip
#: Large numbers that are no keys.
COUNTS = {
    "authors.Payout.cents", "authors.Question.cost_nanousd", "authors.Message.cost_nanousd",
    "authors.Site.daily_budget_nanousd", "authors.SiteUse.cost_nanousd",
    "debates.Run.budget_nanousd",
    "debates.Run.cost_nanousd", "debates.Run.other_cost_nanousd", "debates.Run.tokens_in",
    "debates.Run.tokens_out", "debates.Run.turns_count", "debates.Run.unpriced_turns",
    "debates.Run.unread_nanousd", "debates.Turn.cost_nanousd", "echo.Decision.cost_nanousd",
    "echo.Echo.logged", "echo.LogEvent.number", "echo.Scored.number", "echo.Selection.number",
    "labels.Label.cost_nanousd", "projects.ImportBatch.bytes_done",
    "projects.ImportBatch.bytes_total", "projects.ImportBatch.conflicts",
    "projects.ImportBatch.created", "projects.ImportBatch.failed", "projects.ImportBatch.filled",
    "projects.ImportBatch.gold_created", "projects.ImportBatch.items_created",
    "projects.ImportBatch.labels_created", "projects.ImportBatch.rows_done",
    "projects.ImportBatch.unchanged", "projects.ImportBatch.unlabelled",
}  # fmt: skip


def columns(*kinds: type[models.Field[Any, Any]]) -> set[str]:
    return {
        str(column)
        for table in tables()
        for column in table.fields
        if isinstance(column, kinds) and not column.primary_key
    }


def test_each_model_that_refers_to_a_project_travels_or_says_why_not() -> None:
    of_project = {
        model._meta.label
        for model in apps.get_models()
        for column in model._meta.concrete_fields
        if isinstance(column.related_model, type)
        and column.related_model._meta.label in {PROJECT, *TRAVEL}
    } | {PROJECT}
    beside = {"exchange.ProjectImport", "llm.Provider", *STAYS}
    assert of_project - set(TRAVEL) - beside == set(), "enter them in archive/tables.py"
    assert set(STAYS) & set(TRAVEL) == set()
    labels = {model._meta.label for model in apps.get_models()}
    assert set(STAYS) - labels == set(), "these are gone"
    assert not [
        field
        for table in tables()
        for field in (*table.model._meta.many_to_many, *table.model._meta.private_fields)
        if isinstance(field, GenericForeignKey) or field.many_to_many
    ]


def test_each_table_comes_after_those_that_it_refers_to() -> None:
    known = {*SHARED, MODEL}
    for table in tables():
        assert set(table.references.values()) <= known | {table.name}
        assert table.fields[0].primary_key
        known.add(table.name)


def test_each_column_of_json_or_large_numbers_is_known_to_hold_keys_or_none() -> None:
    assert columns(models.JSONField) - set(JSON_KEYS) == NO_KEYS
    large = columns(models.BigIntegerField, models.PositiveBigIntegerField)
    assert large - set(KEYS) - set(PROGRESS) == COUNTS


def test_what_is_declared_exists() -> None:
    every = {str(column) for model in apps.get_models() for column in model._meta.concrete_fields}
    declared = {*LEFT_OUT, *STOPPED, *KEYS, *PROGRESS, *JSON_KEYS, *EVENT_NAMES}
    assert declared - every == set()


def test_no_secret_travels_and_each_column_can_be_checked() -> None:
    for table in (*tables(), *shared_tables()):
        for column in table.fields:
            assert not isinstance(column, SealedField | models.BinaryField)
            reader_of(column)
