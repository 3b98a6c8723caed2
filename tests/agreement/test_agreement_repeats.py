"""Who was asked twice: the latest answer counts between annotators, all for the same again."""

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from apps.agreement.models import StoredReport
from apps.agreement.report.label_matrix import read_label_matrix
from apps.agreement.report.repeats import self_agreement
from apps.agreement.report.services import agreement_report
from apps.agreement.report.slices import Slice
from apps.debates.models import Debate, Turn
from apps.labels.models import Annotator, ItemState, Label
from apps.labels.services import annotator_for, import_labels, withdraw_label
from apps.llm.services import ensure_builtin
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from tests.factories.agreement import propose, run_of
from tests.factories.labels import draft, machine, open_item, person
from tests.factories.ledger import ABSTAINS, ledger
from tests.factories.llm import PromptVersionFactory
from tests.factories.projects import MOODS, ProjectFactory
from tests.factories.reviews import reviewer

pytestmark = pytest.mark.django_db

G, B = "good", "bad"
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(definition=MOODS, slug="moods", overlap=20)


def found(project: Project, *, reader: int | None = None, **asked: Any) -> dict[str, Any]:
    """The part of the report that is about repeats."""
    part = Slice(**asked)
    schema = current_schema(project)
    sheet = read_label_matrix(project, part, reader=reader)
    return self_agreement(project, sheet, part, schema=schema, reader=reader)


def say(item: Item, by: Annotator, *values: Any, hours: float = 24, **fields: Any) -> None:
    """Answers of one to an item; each revises the one before, so many hours later."""
    for number, value in enumerate(values):
        answer = {"value": None, "abstained": True} if value is ABSTAINS else {"value": value}
        answer |= {"created_at": NOON + number * timedelta(hours=hours), "action": "new"} | fields
        made = draft(item, by, answer.pop("value"), supersedes_own=True, **answer)
        import_labels(item.project, [made])


def counted(repeats: dict[str, Any]) -> tuple[int, int, int]:
    """Annotators, items, repeats."""
    return repeats["annotators"], repeats["items"], repeats["repeats"]


def test_without_repeats_there_is_nothing_and_it_costs_few_queries(
    project: Project, django_assert_num_queries: Any
) -> None:
    ledger(project, {"crowd:ann": [G, B], "crowd:bob": [G, G], "llm:m": [B, B]})
    sheet, schema = read_label_matrix(project), current_schema(project)

    with django_assert_num_queries(2):
        assert self_agreement(project, sheet, Slice(), schema=schema) == {}


def test_all_answers_count_for_the_same_again_and_the_latest_between_people(
    project: Project,
) -> None:
    items, by = ledger(project, {"crowd:ann": [G, B, G], "crowd:bob": [B, B, G]})
    for item in items[:2]:
        say(item, by["crowd:ann"], B, action="imported")

    report = agreement_report(project)

    repeats = report["intra"]["crowd"]
    assert (repeats["percent"]["value"], repeats["percent"]["n"]) == (0.5, 2)
    assert counted(repeats) == (1, 2, 2)
    assert repeats["alpha_nominal"]["n"] == 2
    (ann,) = repeats["by_annotator"]
    assert (ann["annotator"], ann["items"], ann["percent"]["value"]) == ("ann", 2, 0.5)
    assert report["within"]["crowd"]["percent"]["value"] == 1.0
    assert report["sources"]["crowd"]["labels"] == 6


def test_of_a_slip_and_a_later_answer_what_was_meant_and_the_later_are_compared(
    project: Project,
) -> None:
    item, ann = open_item(project), person(project)
    say(item, ann, G, B, hours=0.1)
    import_labels(
        project,
        [
            draft(
                item, ann, B, supersedes_own=True, action="new", created_at=NOON + timedelta(days=9)
            )
        ],
    )

    repeats = found(project)["crowd"]
    assert (counted(repeats), repeats["percent"]["value"]) == ((1, 1, 1), 1.0)


def test_what_was_taken_back_does_not_count(project: Project) -> None:
    item, ann = open_item(project), person(project)
    say(item, ann, G)
    withdraw_label(label=Label.objects.get())
    say(item, ann, B)
    assert found(project) == {}

    say(item, ann, G)
    withdraw_label(label=Label.objects.current().get())
    assert found(project) == {}


def replicated(project: Project, answers: Sequence[Sequence[str]]) -> Any:
    """A run with a replicate for each column of ``answers``, an item for each row."""
    run = run_of(project, replicates=len(answers[0]))
    for values in answers:
        item = open_item(project)
        for replicate, value in enumerate(values, start=1):
            by = machine(project, "ecj: a" if replicate == 1 else f"ecj: a #{replicate}")
            propose(run, item, value, by=by, replicate=replicate)
    return run


def test_replicates_of_a_run_are_one_machine_that_answers_again(project: Project) -> None:
    replicated(project, [(G, G, G), (G, B, B)])

    repeats = found(project)["llm"]

    assert counted(repeats) == (1, 2, 4)
    assert repeats["percent"]["value"] == pytest.approx((1 + 1 / 3) / 2)
    assert [row["annotator"] for row in repeats["by_annotator"]] == ["ecj: a"]


def test_a_run_that_took_over_stored_answers_did_not_ask_again(project: Project) -> None:
    item = open_item(project)
    for _ in range(2):
        propose(run_of(project), item, G)
    Turn.objects.create(
        debate=Debate.objects.latest("pk"),
        step="annotator",
        role="annotator",
        model=ensure_builtin(),
        prompt=PromptVersionFactory.create(),
        messages=[],
        reused=True,
    )

    assert found(project) == {}


def test_with_a_run_chosen_all_its_replicates_count_and_no_other_run(project: Project) -> None:
    run = replicated(project, [(G, B)])
    item = project.items.get()
    propose(run_of(project), item, G, by=machine(project, "ecj: a"))

    assert counted(found(project)["llm"]) == (1, 1, 2)
    repeats = found(project, run=run.pk)["llm"]
    assert (counted(repeats), repeats["percent"]["value"]) == ((1, 1, 1), 0.0)


def test_a_part_of_the_labels_is_about_that_part(project: Project) -> None:
    urgent, other = open_item(project, meta={"tag": "urgent"}), open_item(project)
    ann, bob = person(project), annotator_for(project, kind="expert", name="eve")
    say(urgent, ann, G, B)
    say(other, ann, G, G)
    say(other, bob, B, G)

    assert set(found(project)) == {"crowd", "expert"}
    assert set(found(project, kind="expert")) == {"expert"}
    assert found(project, annotator=bob.pk)["expert"]["percent"]["value"] == 0.0
    assert set(found(project, annotator=bob.pk)) == {"expert"}
    assert counted(found(project, tag="urgent")["crowd"]) == (1, 1, 1)
    assert found(project, until=date(2026, 11, 2)) == {}
    assert counted(found(project, since=date(2026, 11, 2))["crowd"]) == (1, 2, 2)


def test_a_reviewer_does_not_learn_how_machines_answered_items_to_audit_blind(
    project: Project,
) -> None:
    replicated(project, [(G, B)])
    user = reviewer(project)
    assert "llm" in found(project, reader=user.pk)

    ItemState.objects.filter(item=project.items.get()).update(reasons=["audit"])

    assert found(project, reader=user.pk) == {}
    assert "llm" in found(project)


def test_stored_reports_name_no_author_who_was_asked_twice(project: Project) -> None:
    say(open_item(project), annotator_for(project, kind="author", name="writer"), G, B)

    agreement_report(project)

    body = StoredReport.objects.get().body
    assert body["intra"]["author"]["annotators"] == 1
    assert "writer" not in json.dumps(body)
