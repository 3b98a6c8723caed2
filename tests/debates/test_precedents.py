"""Precedents: from what people verified, never from what the text under debate gives away."""

from collections.abc import Sequence
from typing import Any

import pytest

from apps.debates.models import Run
from apps.debates.services import precedents as module
from apps.debates.services.precedents import PrecedentBook
from apps.labels.models import Gold, Label
from apps.labels.services import annotator_for
from apps.projects.models import Item, Project
from labelhub.core.debate.outcome import Precedent
from tests.factories.labels import machine, person
from tests.factories.projects import ItemFactory, LabelSchemaFactory, ProjectFactory

pytestmark = pytest.mark.django_db

SCALE = {"task": "ordinal", "labels": [{"name": "poor"}, {"name": "fair"}, {"name": "fine"}]}
CHOICE = {"task": "per_item", "question": ""}


def run_of(project: Project, **fields: Any) -> Run:
    """A run that is created now."""
    schema = project.schemas.order_by("-version")[0]
    return Run.objects.create(project=project, protocol="courtroom", schema=schema, **fields)


def verified(
    project: Project, text: str, value: Any, *, item: Item | None = None, **fields: Any
) -> Item:
    """An item with gold; ``fields`` of the gold, or ``item__...`` of the item."""
    of_item = {name[6:]: fields.pop(name) for name in list(fields) if name.startswith("item__")}
    item = item or ItemFactory.create(project=project, text=text, **of_item)
    schema = project.schemas.order_by("version")[0]
    last = Gold.objects.filter(item=item).order_by("-pk").first()
    given = {"basis": Gold.Basis.REVIEW, "schema": schema, "supersedes": last, **fields}
    Gold.objects.create(item=item, value=value, **given)
    return item


def asked(project: Project, text: str = "The soup was good", **fields: Any) -> Item:
    return ItemFactory.create(project=project, text=text, **fields)


def told(found: Sequence[Precedent]) -> list[tuple[str, str]]:
    return [(precedent.label, precedent.text) for precedent in found]


def found_for(project: Project, item: Item, run: Run | None = None) -> list[tuple[str, str]]:
    return told(PrecedentBook.of_run(run or run_of(project)).for_item(item))


def test_by_label_as_the_schema_lists_them_the_most_similar_first() -> None:
    project = ProjectFactory.create()
    for text, value in [
        ("The soup was cold", "bad"),
        ("Parking is easy", "good"),
        ("The soup was very good", "good"),
        ("The waiter was good", "good"),
        ("Rude waiter", "bad"),
    ]:
        verified(project, text, value)
    found = PrecedentBook.of_run(run_of(project)).for_item(asked(project))
    assert told(found) == [
        ("good", "The soup was very good"),
        ("good", "The waiter was good"),
        ("good", "Parking is easy"),
        ("bad", "The soup was cold"),
        ("bad", "Rude waiter"),
    ]
    likeness = [precedent.similarity for precedent in found]
    assert likeness[0] > likeness[1] > likeness[2] == 0.0 < likeness[3] <= 1.0
    assert found[0].key == Item.objects.get(text="The soup was very good").external_id


def test_never_the_item_itself() -> None:
    project = ProjectFactory.create()
    item = verified(project, "The soup was good", "good")
    verified(project, "The rice was good", "good")
    assert found_for(project, item) == [("good", "The rice was good")]


@pytest.mark.parametrize(
    "copy", ["The soup was good", "  the SOUP\n was  good ", "The so\u200bup was good\ufeff"]
)
def test_never_a_text_that_reads_the_same_under_another_id(copy: str) -> None:
    """A precedent that is the text under debate would give its label away."""
    project = ProjectFactory.create()
    for value in ("good", "bad"):
        verified(project, copy, value)
    assert found_for(project, asked(project)) == []


def test_only_items_of_the_same_project() -> None:
    verified(ProjectFactory.create(), "The soup was very good", "good")
    project = ProjectFactory.create()
    assert found_for(project, asked(project)) == []


def test_what_only_an_llm_said_is_no_precedent() -> None:
    project = ProjectFactory.create()
    item = ItemFactory.create(project=project, text="Good soup")
    Label.objects.create(
        item=item,
        annotator=machine(project),
        schema=project.schemas.get(),
        value="good",
        action=Label.Action.PROPOSED,
    )
    assert found_for(project, asked(project)) == []


@pytest.mark.parametrize("kind", ["llm", "model"])
def test_a_decision_that_a_file_says_a_machine_made_is_no_precedent(kind: str) -> None:
    project = ProjectFactory.create()
    by = annotator_for(project, kind=kind, name="gpt")
    verified(project, "Good soup", "good", decided_by=by, basis="imported")
    verified(project, "Good rice", "good", decided_by=person(project))
    assert found_for(project, asked(project)) == [("good", "Good rice")]


def test_withdrawn_and_superseded_decisions_do_not_count() -> None:
    project = ProjectFactory.create()
    gone = verified(project, "Good soup", "good")
    verified(project, "", None, item=gone, withdrawn=True, basis=Gold.Basis.WITHDRAWN)
    revised = verified(project, "Good rice", "good")
    verified(project, "", "bad", item=revised)
    assert found_for(project, asked(project)) == [("bad", "Good rice")]


def test_a_resumed_run_finds_what_it_found_at_first() -> None:
    project = ProjectFactory.create()
    kept = verified(project, "Good soup", "good")
    again = verified(project, "Good rice", "good")
    run, item = run_of(project), asked(project)
    before = found_for(project, item, run)
    assert len(before) == 2
    verified(project, "", "bad", item=kept)
    verified(project, "", None, item=again, withdrawn=True, basis=Gold.Basis.WITHDRAWN)
    verified(project, "Good bread", "good")
    assert found_for(project, item, run) == before
    assert found_for(project, item) == [("good", "Good bread"), ("bad", "Good soup")]


def test_decisions_of_an_older_schema_count_where_the_new_one_offers_them() -> None:
    project = ProjectFactory.create()
    for value in ("good", "bad", ["good"], 3, None):
        verified(project, f"Soup {value}", value)
    names = [{"name": "GOOD"}, {"name": "mixed"}]
    LabelSchemaFactory(project=project, version=2, definition={"task": "single", "labels": names})
    assert found_for(project, asked(project)) == [("GOOD", "Soup good")]


def test_options_of_an_item_have_the_precedents_of_the_same_options() -> None:
    project = ProjectFactory.create(definition=CHOICE)
    for text, options, value in [
        ("Good soup", ["Yes", "No"], "Yes"),
        ("Bad soup", ["yes", "no"], "no"),
        ("Soup of the day", ["Monday", "Tuesday"], "Monday"),
        ("Soup with yes", ["Maybe"], "yes"),
    ]:
        verified(project, text, value, item__options=options)
    run = run_of(project)
    assert found_for(project, asked(project, options=["no", "YES", "yes"]), run) == [
        ("no", "Bad soup"),
        ("YES", "Good soup"),
    ]
    assert found_for(project, asked(project, options=["a", "b"]), run) == []
    assert found_for(project, asked(project, options=[]), run) == []


@pytest.mark.parametrize(
    "definition", [{"task": "multi", "labels": ["a", "b"]}, {"task": "text"}], ids=["multi", "text"]
)
def test_sets_and_free_text_have_no_precedents(
    definition: Any, django_assert_num_queries: Any
) -> None:
    project = ProjectFactory.create(definition=definition)
    verified(project, "Soup", "a")
    run, item = run_of(project), asked(project)
    with django_assert_num_queries(0):
        assert PrecedentBook.of_run(run).for_item(item) == ()


def test_the_book_takes_as_many_queries_for_many_items_as_for_few(
    django_assert_num_queries: Any,
) -> None:
    project = ProjectFactory.create()
    run_before = run_of(project)
    for number in range(20):
        verified(project, f"Soup {number}", "good")
    run, items = run_of(project), [asked(project, f"Soup or {number}") for number in range(3)]
    with django_assert_num_queries(1):
        assert len(PrecedentBook.of_run(run_before)) == 0
    with django_assert_num_queries(2):
        book = PrecedentBook.of_run(run)
    with django_assert_num_queries(0):
        assert all(len(book.for_item(item)) == 3 for item in items)


def test_of_many_examples_the_latest_of_each_label_are_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST", 4)
    project = ProjectFactory.create()
    verified(project, "Rare soup", "bad")
    for number in range(9):
        verified(project, f"Soup {number}", "good")
    book = PrecedentBook.of_run(run_of(project))
    assert len(book) == 4
    assert book.note == "Precedents are chosen from the latest 4 verified items."
    assert told(book.for_item(asked(project, "Soup")))[-1] == ("bad", "Rare soup")
    monkeypatch.setattr(module, "MOST", 10)
    assert PrecedentBook.of_run(run_of(project)).note == ""
