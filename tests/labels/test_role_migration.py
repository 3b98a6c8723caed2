"""Labels whose provenance said how they count get roles, and the keys back."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from apps.labels.models import Annotator, Label
from apps.projects.selectors import current_schema
from tests.factories.projects import ItemFactory, ProjectFactory

BEFORE, AFTER = [("labels", "0001_initial")], [("labels", "0002_label_role")]
VALUE = {"value": "a"}
UNSURE = {"abstained": True}
GONE = {"withdrawn": True}
ASIDE = GONE | {"action": "imported"}
#: Kind, keys as services wrote them, the rest of the row, role.
WRITTEN: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("crowd", {}, VALUE, "vote"),
    ("crowd", {"unasked": True}, VALUE, "extra"),
    ("crowd", {"check": True}, VALUE, "gold_question"),
    ("expert", {"unasked": True}, VALUE, "extra"),
    ("expert", {"check": True}, UNSURE, "gold_question"),
    ("expert", {"adjudicates": True}, VALUE, "adjudication"),
    ("expert", {"adjudicates": True}, UNSURE, "adjudication"),
    ("expert", {"adjudicates": True, "unclear": True}, UNSURE, "unclear"),
    ("author", {}, VALUE, "vote"),
    ("author", {"advisory": True}, VALUE, "advisory"),
    ("llm", {}, VALUE, "vote"),
    ("model", {"learned": 3}, VALUE, "trained"),
    ("crowd", {"aside": "skip"}, ASIDE, "skip"),
    ("crowd", {"aside": "draft"}, ASIDE, "draft"),
    ("crowd", {"aside": "empty"}, ASIDE, "empty"),
]
#: Keys that a file may have brought where they mean little, or nothing.
ODD: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("crowd", {"unasked": True, "adjudicates": True}, VALUE, "extra"),
    ("crowd", {"adjudicates": True, "unclear": True}, UNSURE, "vote"),
    ("expert", {"check": True, "adjudicates": True}, VALUE, "gold_question"),
    ("expert", {"adjudicates": True, "unclear": True}, VALUE, "adjudication"),
    ("expert", {"unclear": True}, UNSURE, "vote"),
    ("expert", {"check": False}, VALUE, "vote"),
    ("crowd", {"unasked": 0, "advisory": "x"}, VALUE, "vote"),
    ("author", {"advisory": True, "unasked": True, "learned": 1}, VALUE, "advisory"),
    ("llm", {"check": True}, VALUE, "vote"),
    ("model", {"learned": None}, VALUE, "trained"),
    ("crowd", {"aside": 7, "check": 1}, ASIDE, "empty"),
    ("crowd", {"aside": {"a": 1}}, ASIDE, "empty"),
    ("crowd", {"unasked": True}, GONE | {"action": "withdrawn", "supersedes_id": 1}, "vote"),
]


def migrate(targets: Sequence[tuple[str, str]]) -> Any:
    """Bring the app's tables there; the models as they are then."""
    executor = MigrationExecutor(connection)
    leaves = [leaf for leaf in executor.loader.graph.leaf_nodes() if leaf[0] != "labels"]
    executor.migrate(list(targets))
    return MigrationExecutor(connection).loader.project_state([*leaves, *targets]).apps


@pytest.fixture
def before(transactional_db: None) -> Iterator[Any]:
    """The models of before, with the tables to them; later tests have those of today."""
    yield migrate(BEFORE)
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def described(pk: int) -> dict[str, Any]:
    """What else the provenance tells."""
    return {"comment": f"No. {pk}", "spans": [{"start": 0, "end": 1}]} if pk % 3 else {}


def provenances(apps: Any) -> dict[int, dict[str, Any]]:
    return dict(apps.get_model("labels", "Label").objects.values_list("pk", "provenance"))


def assert_append_only() -> None:
    """The database refuses to change a label."""
    with pytest.raises(DatabaseError, match="append-only"), connection.cursor() as cursor:
        cursor.execute("UPDATE labels_label SET value = %s", ['"x"'])


def store(apps: Any) -> None:
    """Each case as the version before stored it, with its number as the id."""
    project = ProjectFactory.create()
    schema, label = current_schema(project), apps.get_model("labels", "Label")
    for pk, (kind, keys, fields, _) in enumerate([*WRITTEN, *ODD], 1):
        annotator = Annotator.objects.create(project=project, kind=kind, name=f"{kind}-{pk}")
        label.objects.create(
            id=pk, item_id=ItemFactory.create(project=project).pk, annotator_id=annotator.pk,
            schema_id=schema.pk, provenance=described(pk) | keys, **{"action": "new"} | fields,
        )  # fmt: skip


def test_roles_take_the_place_of_the_keys(before: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("apps.labels.migrations.0002_label_role"), "CHUNK", 5)
    store(before)

    after = migrate(AFTER)

    roles = after.get_model("labels", "Label").objects.order_by("pk").values_list("role", flat=True)
    assert list(roles) == [role for *_, role in [*WRITTEN, *ODD]]
    assert set(roles) == set(Label.Role)
    for pk, found in provenances(after).items():
        keys = [*WRITTEN, *ODD][pk - 1][1]
        version = {"model_version": keys["learned"]} if roles[pk - 1] == "trained" else {}
        assert found == described(pk) | version, pk
    assert_append_only()

    again = provenances(migrate(BEFORE))

    for pk, (_, keys, _, _) in enumerate(WRITTEN, 1):
        assert again[pk] == described(pk) | keys, pk
    assert_append_only()
