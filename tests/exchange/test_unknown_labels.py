"""Values of a file that are no labels: refused in one summary, added, mapped or left out."""

import json
from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.exchange.selectors import result_of
from apps.exchange.services.imports import queue_import, run_import
from apps.projects.models import ImportBatch, LabelSchema, Project
from apps.projects.selectors import current_schema
from apps.projects.services import add_labels
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases
from tests.exchange.helpers import counts, imported, ledger, lines, queued
from tests.exchange.test_pages import upload
from tests.factories.projects import ProjectFactory, member_browser

pytestmark = pytest.mark.django_db
SINGLE = {"task": "single", "labels": ["good", "bad"]}
MULTI = {"task": "multi", "labels": ["food", "staff"]}
SCALE = {"task": "ordinal", "labels": ["1", "2", "3"]}
FILE = b"text,gold\na,good\nb,awful\nc,so-so\nd,awful\ne,\n"


def gold(project: Project) -> list[Any]:
    return [row["gold"] for row in ledger(project)]


def test_refused_rows_are_told_in_one_summary_with_values_and_counts() -> None:
    project = ProjectFactory.create(definition=SINGLE)
    batch = imported(project, FILE, "x.csv")
    result = result_of(batch)
    assert counts(batch) == (2, 0, 0, 3)
    (error,) = result["errors"]
    assert (error["row"], error["field"]) == (3, "gold")
    assert "3 rows have values not among the labels: 'awful' (2), 'so-so' (1)" in error["message"]
    assert "good, bad" in error["message"]
    assert result["unknown_values"] == [
        {"value": "awful", "count": 2}, {"value": "so-so", "count": 1},
    ]  # fmt: skip
    again = imported(project, FILE, "x.csv", label_map={"awful": "bad", "so-so": ""})
    assert counts(again) == (3, 2, 0, 0)  # what was refused can be imported later


def test_rows_with_unknown_values_are_not_counted_again_among_the_other_faults() -> None:
    project = ProjectFactory.create(definition=SINGLE)
    batch = imported(project, FILE + b'" ",good\n', "x.csv")
    page = member_browser(project).get(f"/p/{project.slug}/import/{batch.pk}/").content.decode()
    assert "3 rows with these values were not imported" in page
    assert "Rows with faults: 1" in page


def test_a_thousand_unknown_values_make_one_short_summary() -> None:
    project = ProjectFactory.create(definition=SINGLE)
    rows = "".join(f"t{number},value {number}\n" for number in range(3000))
    batch = imported(project, f"text,gold\n{rows}".encode(), "x.csv")
    (error,) = result_of(batch)["errors"]
    assert error["message"].startswith("3,000 rows have values")
    assert len(error["message"]) < 2500
    assert len(batch.unknown["values"]) == 1000


def test_a_strict_import_writes_nothing_and_tells_the_same() -> None:
    project = ProjectFactory.create(definition=SINGLE)
    batch = imported(project, FILE, "x.csv", strict=True)
    assert (batch.status, counts(batch)) == ("failed", (0, 0, 0, 3))
    assert "'awful' (2)" in result_of(batch)["errors"][0]["message"]


def test_labels_are_added_as_one_new_version() -> None:
    project = ProjectFactory.create(definition=SINGLE)
    batch = imported(project, FILE, "x.csv", unknown_labels="add")
    assert counts(batch) == (5, 0, 0, 0)
    assert gold(project) == ["good", "awful", "so-so", "awful", None]
    schema = current_schema(project)
    assert (schema.version, schema.parsed.names) == (2, ("good", "bad", "awful", "so-so"))


@all_cases(
    ("definition", "content", "how", "wanted"),
    [
        (SINGLE, FILE, {"unknown_labels": "ignore"}, ["good", None, None, None, None]),
        (SINGLE, FILE, {"label_map": {"AWFUL ": "bad"}, "unknown_labels": "ignore"},
         ["good", "bad", None, "bad", None]),
        (MULTI, b'text,gold\na,"food, view"\nb,view\nc,[]\n', {"unknown_labels": "ignore"},
         [["food"], None, []]),
        (MULTI, b'text,gold\na,"food, view"\nb,view\n', {"label_map": {"view": "staff"}},
         [["food", "staff"], ["staff"]]),
        (MULTI, b'text,gold\na,"food, view"\nb,view\n', {"unknown_labels": "add"},
         [["food", "view"], ["view"]]),
        (MULTI, lines({"text": "a", "gold": {"food": True, "staff": False, "view": True}},
                      {"text": "b", "gold": {"food": False, "staff": False, "view": True}}),
         {"unknown_labels": "ignore"}, [["food"], None]),
        (SCALE, b"text,gold\na,2\nb,5\n", {"unknown_labels": "add"}, [2, 5]),
        (SCALE, b"text,gold\na,2\nb,five\n", {"label_map": {"five": "3"}}, [2, 3]),
        (SCALE, b"text,gold\na,2\nb,5\n", {"unknown_labels": "ignore"}, [2, None]),
    ],
)  # fmt: skip
def test_values_are_mapped_added_or_left_out(
    definition: Any, content: bytes, how: Any, wanted: list[Any]
) -> None:
    project = ProjectFactory.create(definition=definition)
    name = "x.jsonl" if content.startswith(b"{") else "x.csv"
    batch = imported(project, content, name, **how)
    assert (batch.failed, gold(project)) == (0, wanted)


@pytest.mark.parametrize("there", [[True, False], [False, True], [True, True]])
def test_a_label_is_there_if_one_of_its_values_is(there: list[bool]) -> None:
    project = ProjectFactory.create(definition=MULTI)
    cell = dict(zip(("view", "sight"), there, strict=True)) | {"food": False}
    label_map = {"view": "staff", "sight": "staff"}
    imported(project, lines({"text": "a", "gold": cell}), label_map=label_map)
    assert gold(project) == [["staff"]]


def test_labels_of_annotators_follow_the_same_choice() -> None:
    project = ProjectFactory.create(definition=SINGLE)
    rows = lines(
        {"text": "a", "labels": [{"annotator": "ann", "value": "awful"},
                                 {"annotator": "bob", "value": "good"}]},
        {"text": "Ann came.", "id": 9, "label": [[0, 3, "PER"]], "Comments": []},
    )  # fmt: skip
    batch = imported(project, rows, unknown_labels="ignore")
    assert batch.failed == 0
    values = [label["value"] for row in ledger(project) for label in row["labels"]]
    assert values == ["good"]


@all_cases(
    ("definition", "how", "words"),
    [
        (SINGLE, {"label_map": {"awful": "nope"}}, "'nope', which is no label"),
        (SCALE, {"new_labels": ["five"]}, "scale point"),
        (SINGLE, {"new_labels": ["a|b"]}, "must not contain"),
        (SINGLE, {"new_labels": [f"n{number}" for number in range(200)]}, "at most 200"),
    ],
)
def test_an_impossible_choice_starts_nothing(definition: Any, how: Any, words: str) -> None:
    project = ProjectFactory.create(definition=definition)
    with pytest.raises(InvalidInput, match=words):
        queued(project, FILE, "x.csv", **how)
    assert project.imports.get().status == "uploaded"
    assert project.schemas.count() == 1


def test_too_many_new_labels_end_the_import_before_its_first_row() -> None:
    project = ProjectFactory.create(definition=SINGLE)
    rows = "".join(f"t{number},value {number}\n" for number in range(300))
    batch = imported(project, f"text,gold\n{rows}".encode(), "x.csv", unknown_labels="add")
    assert (batch.status, batch.created) == ("failed", 0)
    assert "more than 200 values" in batch.message
    assert LabelSchema.objects.count() == 1


def test_a_label_that_was_added_meanwhile_is_not_added_twice() -> None:
    project = ProjectFactory.create(definition=SINGLE)
    first = queued(project, FILE, "x.csv", unknown_labels="add")
    second = imported(project, b"text,gold\nz,AWFUL\n", "y.csv", unknown_labels="add")
    run_import(first.pk)
    assert second.created == 1
    assert current_schema(project).parsed.names == ("good", "bad", "AWFUL", "so-so")
    add_labels(project=project, names=["Awful", "so-so"], actor=None)
    assert current_schema(project).version == 3


def page_of(project: Project, content: bytes = FILE) -> tuple[Client, str]:
    client = member_browser(project)
    return client, upload(client, project, content)["Location"]


def test_the_page_lists_the_values_before_the_import_and_takes_a_choice_for_each() -> None:
    project = ProjectFactory.create(definition=SINGLE)
    client, address = page_of(project)
    page = client.get(address)
    rows = [(value, count) for value, count, _, _ in page.context["unknown"].rows()]
    assert rows == [("awful", 2), ("so-so", 1)]
    assert "Values that are no labels yet" in page.content.decode()

    sent = {"text": "text", "gold": "gold", "unknown-v0": "awful", "unknown-do0": "as:bad",
            "unknown-v1": "so-so", "unknown-do1": "add"}  # fmt: skip
    assert client.post(address, sent).status_code == 302

    run_import(ImportBatch.objects.get().pk)
    assert gold(project) == ["good", "bad", "so-so", "bad", None]
    assert current_schema(project).parsed.names == ("good", "bad", "so-so")


def test_a_change_of_labels_between_preview_and_import_adds_nothing_twice() -> None:
    project = ProjectFactory.create(definition=SINGLE)
    client, address = page_of(project)
    client.get(address)
    add_labels(project=project, names=["awful"], actor=None)

    # The page has a choice for "awful", which is a label by now.
    sent = {"text": "text", "gold": "gold", "unknown-v0": "awful", "unknown-do0": "add",
            "unknown-v1": "so-so", "unknown-do1": "ignore"}  # fmt: skip
    answer = client.post(address, sent)

    assert answer.status_code == 302
    run_import(ImportBatch.objects.get().pk)
    assert current_schema(project).parsed.names == ("good", "bad", "awful")
    assert gold(project) == ["good", "awful", None, "awful", None]


def test_another_column_has_other_values() -> None:
    project = ProjectFactory.create(definition=SINGLE)
    client, address = page_of(project, b"text,gold,mood\na,good,glad\n")
    assert not client.get(address).context["head"].unknown
    page = client.post(address, {"text": "text", "gold": "mood", "again": "1"})
    assert (page.status_code, page.context["head"].unknown) == (200, [("glad", 1)])


def test_the_result_groups_faults_by_kind() -> None:
    project = ProjectFactory.create(definition=SINGLE)
    client = member_browser(project)
    batch = imported(project, lines(*({"text": ""} for _ in range(4)), {"text": 5.5}, {"text": []},
                                    {"text": "x", "gold": "odd"}))  # fmt: skip
    page = client.get(f"/p/{project.slug}/import/{batch.pk}/")
    (_, groups, total), _ = page.context["tables"]
    assert [group["count"] for group in groups] == [4, 1]
    assert total == 5
    assert "not imported. Import the file again" in page.content.decode()
    assert "'odd' (1)" not in page.content.decode()


def test_rest_takes_the_same_choices() -> None:
    project = ProjectFactory.create(definition=SINGLE)
    client = member_browser(project, Role.MANAGER)
    address = f"/api/v1/projects/{project.slug}/import/"

    def send(query: str, rows: Any) -> Any:
        return client.post(f"{address}?{query}", json.dumps(rows), "application/json")

    refused = send("", [{"text": "a", "gold": "awful"}])
    assert refused.json()["unknown_values"] == [{"value": "awful", "count": 1}]
    mapped = send('label_map={"awful":"bad"}', [{"text": "a", "gold": "awful"}])
    names = ("created", "gold_created", "unlabelled", "mapped_values", "left_out_values")
    assert [mapped.json()[name] for name in names] == [1, 1, 0, 1, 0]
    ignored = send("unknown_labels=ignore", [{"text": "b", "gold": "odd"}])
    assert [ignored.json()[name] for name in names] == [1, 0, 1, 0, 1]
    assert send("unknown_labels=add", [{"text": "c", "gold": "new"}]).json()["failed"] == 0
    assert gold(project) == ["bad", None, "new"]
    for query in ("unknown_labels=guess", "label_map=[1]", "label_map={", 'label_map={"a":1}'):
        assert send(query, []).status_code == 400, query
    assert send('label_map={"x":"nope"}', [{"text": "d"}]).status_code == 422


def test_a_batch_cannot_be_started_with_a_label_map_twice() -> None:
    project = ProjectFactory.create(definition=SINGLE)
    batch = queued(project, FILE, "x.csv", new_labels=["awful"])
    with pytest.raises(Exception, match="started already"):
        queue_import(batch, new_labels=["other"])
    assert current_schema(project).parsed.names == ("good", "bad", "awful")
