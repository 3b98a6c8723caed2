"""The ledger as arrays: what is read, how answers are numbered, and which part is asked for."""

from typing import Any

import pytest

from apps.agreement.report.label_matrix import read_label_matrix
from apps.agreement.report.slices import Slice
from apps.labels.models import ItemState, Label
from apps.labels.services import NewGold, import_gold, import_labels
from apps.projects.models import Project
from labelhub.core.agreement.reports.label_matrix import LabelMatrix
from labelhub.core.agreement.reports.report import build_report
from labelhub.core.errors import NotFound
from tests.factories.agreement import decide, propose, run_of
from tests.factories.labels import draft, open_item, queued_items
from tests.factories.ledger import ledger
from tests.factories.projects import MOODS, ProjectFactory
from tests.factories.reviews import reviewer

pytestmark = pytest.mark.django_db


@pytest.fixture
def single() -> Project:
    """Single choice between Yes and No."""
    return ProjectFactory.create(definition=MOODS)


def told(sheet: LabelMatrix) -> dict[str, list[Any]]:
    """Annotator → the category it gives each item, None where nothing."""
    rows: dict[str, list[Any]] = {
        rater.name: [None] * sheet.ratings.n_items for rater in sheet.raters
    }
    ratings = sheet.ratings
    for item, rater, code in zip(ratings.items, ratings.raters, ratings.codes, strict=True):
        rows[sheet.raters[rater].name][item] = sheet.categories[code]
    return rows


def test_every_current_label_is_there_under_its_category(single: Project) -> None:
    names = single.schemas.get().parsed.names
    a, b = names
    ledger(single, {"crowd:ann": [a, b, None], "expert:eve": [a, a, b]})

    sheet = read_label_matrix(single)

    assert told(sheet) == {"ann": [a, b, None], "eve": [a, a, b]}
    assert sheet.kinds == ["crowd", "expert"]
    assert sheet.ratings.n_categories == len(names)


def test_a_label_that_was_superseded_or_withdrawn_does_not_count(single: Project) -> None:
    a, b = single.schemas.get().parsed.names[:2]
    (item, other), by = ledger(single, {"crowd:ann": [a, a]})
    for labelled, fields in ((item, {}), (other, {"withdrawn": True})):
        before = Label.objects.get(item=labelled)
        value = None if fields else b
        import_labels(
            single, [draft(labelled, by["crowd:ann"], value, supersedes_uid=before.uid, **fields)]
        )

    assert told(read_label_matrix(single)) == {"ann": [b]}


def test_a_label_that_the_schema_no_longer_has_is_left_out_and_counted(single: Project) -> None:
    a = single.schemas.get().parsed.names[0]
    _, by = ledger(single, {"crowd:ann": [a]})
    import_labels(single, [draft(open_item(single), by["crowd:ann"], "Gone")])

    sheet = read_label_matrix(single)

    assert len(sheet.ratings) == 1
    assert sheet.left_out == {"not_in_schema": 1}


def test_names_beyond_ascii_and_quotes_are_found_in_the_database() -> None:
    names = ["größer", 'say "no"', "日本", "back\\slash"]
    project = ProjectFactory.create(definition={"task": "single", "labels": names})
    ledger(project, {"crowd:ann": names})

    assert told(read_label_matrix(project)) == {"ann": names}


def test_a_scale_that_is_listed_from_its_top_is_numbered_from_its_bottom() -> None:
    labels = [
        {"name": "Great", "point": 5},
        {"name": "Poor", "point": 1},
        {"name": "Ok", "point": 3},
    ]
    project = ProjectFactory.create(
        definition={"task": "ordinal", "question": "", "labels": labels}
    )
    ledger(project, {"crowd:a": [5, 1, 3], "crowd:b": [5, 3, 3]})
    decide(project.items.order_by("pk")[0], 5)

    sheet = read_label_matrix(project)

    assert sheet.categories == ("Poor", "Ok", "Great")
    assert sheet.scores == (1.0, 3.0, 5.0)
    assert build_report(sheet).to_json()["within"]["crowd"]["alpha_ordinal"]["value"] is not None


def test_options_of_an_item_are_numbered_by_their_place_there() -> None:
    project = ProjectFactory.create(definition={"task": "per_item", "question": ""})
    items = [
        open_item(project, options=["red", "blue"]),
        open_item(project, options=["blue", "green", "red"]),
    ]
    ledger(project, {"author:a": ["blue", "blue"], "crowd:b": ["red", "red"]}, items)

    sheet = read_label_matrix(project)

    assert sheet.author.tolist() == [1, 0]
    assert sheet.options is not None
    assert sheet.options.tolist() == [2, 3]
    assert not sheet.shares_categories


def test_gold_knows_who_decided_it(single: Project) -> None:
    a = single.schemas.get().parsed.names[0]
    (item, _), _ = ledger(single, {"llm:one": [a, a]})
    decide(item, a)

    sheet = read_label_matrix(single)

    assert sheet.gold.tolist() == [0, -1]
    assert sheet.gold_kind.tolist() == [-1, -1]


def test_who_audits_blind_is_not_told_what_a_machine_decided() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    (item,), by = ledger(made, {"llm:one": ["good"], "crowd:ann": ["good"]})
    decided = NewGold(
        item_id=item.pk, schema=made.schemas.get(), value="good", decided_by=by["llm:one"]
    )
    import_gold(made, [decided])
    ItemState.objects.filter(item=item).update(reasons=["audit"])

    assert read_label_matrix(made).gold.tolist() == [0]
    assert read_label_matrix(made, reader=reviewer(made).pk).gold.tolist() == [-1]


def test_items_of_one_user_belong_together(single: Project) -> None:
    a = single.schemas.get().parsed.names[0]
    items = [
        *queued_items(single, 2, meta={"user_id": "u1"}),
        open_item(single, meta={"user_id": "u2"}),
    ]
    ledger(single, {"crowd:ann": [a, a, a]}, items)

    sheet = read_label_matrix(single)

    assert sheet.clusters is not None
    assert sheet.clusters.tolist() == [0, 0, 1]
    assert sheet.unit == "users"


def test_items_of_one_author_belong_together(single: Project) -> None:
    a = single.schemas.get().parsed.names[0]
    ledger(
        single,
        {"author:u1": [a, a, None], "author:u2": [None, None, a], "crowd:ann": [a, a, a]},
    )

    sheet = read_label_matrix(single)

    assert sheet.clusters is not None
    assert sheet.clusters.tolist() == [0, 0, 1]
    assert sheet.unit == "authors"


def test_a_slice_by_kind_and_by_annotator(single: Project) -> None:
    a, b = single.schemas.get().parsed.names[:2]
    _, by = ledger(single, {"crowd:ann": [a], "crowd:bob": [b], "expert:eve": [a]})

    assert len(read_label_matrix(single, Slice(kind="crowd")).ratings) == 2
    only = read_label_matrix(single, Slice(annotator=by["crowd:bob"].pk))
    assert told(only)["bob"] == [b]
    assert len(only.ratings) == 1


def test_a_slice_by_run_keeps_people_and_takes_that_run_of_the_machines(single: Project) -> None:
    a, b = single.schemas.get().parsed.names[:2]
    (item,), _ = ledger(single, {"crowd:ann": [a]})
    first, second = run_of(single), run_of(single)
    propose(first, item, a)
    propose(second, item, b)

    assert told(read_label_matrix(single, Slice(run=first.pk))) == {"ann": [a], "ecj offline": [a]}
    assert told(read_label_matrix(single)) == {"ann": [a], "ecj offline": [b]}


def test_an_annotator_or_run_of_another_project_is_not_found(single: Project) -> None:
    other = ProjectFactory.create(definition=MOODS)
    _, by = ledger(other, {"crowd:ann": [other.schemas.get().parsed.names[0]]})

    with pytest.raises(NotFound):
        read_label_matrix(single, Slice(annotator=by["crowd:ann"].pk))
    with pytest.raises(NotFound):
        read_label_matrix(single, Slice(run=run_of(other).pk))


def test_other_projects_labels_are_not_read(single: Project) -> None:
    a = single.schemas.get().parsed.names[0]
    other = ProjectFactory.create(definition=MOODS)
    ledger(other, {"crowd:ann": [a, a]})
    ledger(single, {"crowd:bob": [a]})

    assert told(read_label_matrix(single)) == {"bob": [a]}


def test_of_several_authors_the_first_counts_however_the_labels_come() -> None:
    made = ProjectFactory.create(definition=MOODS)
    items, people = ledger(made, {"author:v": [None, "good"], "author:w": ["bad", "bad"]})
    import_labels(made, [draft(items[0], people["author:v"], "good")])

    sheet = read_label_matrix(made)

    assert [sheet.categories[code] for code in sheet.author] == ["good", "good"]
