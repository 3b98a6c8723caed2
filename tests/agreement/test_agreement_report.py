"""The agreement report over REST and on the command line: one shape, honest numbers."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.agreement.report.label_matrix import read_label_matrix
from apps.agreement.report.sentences import sentences
from apps.agreement.report.services import agreement_report
from apps.debates.models import Run
from apps.labels.services import import_labels
from apps.projects.models import Project
from apps.reviews.queue.answers import Answer
from apps.reviews.queue.submission import submit_label
from labelhub.core.schema import TASKS
from tests.agreement.page_help import moods, page
from tests.agreement.report_help import B, G, get, six_moods
from tests.cases import all_cases
from tests.factories.agreement import propose, run_of
from tests.factories.labels import draft, open_item, queued_items
from tests.factories.ledger import ledger
from tests.factories.projects import MOODS, ProjectFactory
from tests.factories.reviews import new_project, reviewer, suggest

pytestmark = pytest.mark.django_db

FIGURE = {"value", "low", "high", "n", "method"}


@pytest.fixture
def project() -> Project:
    return six_moods()


def figures(found: Any) -> list[dict[str, Any]]:
    """Every figure anywhere in a report."""
    if isinstance(found, dict):
        own = [found] if "value" in found and ("method" in found or "reason" in found) else []
        return own + [figure for value in found.values() for figure in figures(value)]
    return (
        [figure for value in found for figure in figures(value)] if isinstance(found, list) else []
    )


def test_it_has_the_shape_of_the_contract(project: Project) -> None:
    body = get(project).json()

    assert body["items"] == 6
    crowd = body["sources"]["crowd"]
    assert (crowd["annotators"], crowd["labels"], crowd["abstentions"]) == (2, 11, 1)
    assert crowd["abstention_rate"]["value"] == pytest.approx(1 / 12)
    assert list(body["sources"]) == ["llm", "crowd", "expert", "author"]
    for name in ("percent", "alpha_nominal", "fleiss_kappa", "gwet_ac1", "brennan_prediger"):
        assert set(body["within"]["crowd"][name]) >= FIGURE
    pair = next(pair for pair in body["between"] if {pair["a"], pair["b"]} == {"llm", "expert"})
    assert {"percent", "cohen_kappa"} <= set(pair)
    assert {"accuracy", "majority_accuracy", "dawid_skene_accuracy"} <= set(
        body["against_gold"]["crowd"]
    )
    assert {"accuracy", "by_agreeing"} <= set(body["against_author"]["expert"])
    assert {"winning_rate", "advantage", "passes"} <= set(body["alt_test"]["model-1"])
    assert {"per_label", "seconds"} <= set(body["cost"].get("crowd", {"per_label", "seconds"}))


@pytest.mark.thorough
def test_every_figure_is_a_number_with_its_doubt_or_null_with_its_reason(project: Project) -> None:
    body = get(project).json()

    found = figures(body)
    assert len(found) > 50
    for figure in found:
        if figure["value"] is None:
            assert figure["reason"]
        else:
            assert set(figure) >= FIGURE
    assert "NaN" not in json.dumps(body)


@pytest.mark.thorough
def test_the_numbers_are_those_of_hand(project: Project) -> None:
    body = get(project).json()

    # Crowd: items 1, 3, 5 agree, 2 and 4 differ; the sixth has one label.
    percent = body["within"]["crowd"]["percent"]
    assert (percent["value"], percent["n"]) == (0.6, 5)
    author = [G, G, B, B, G, B]
    crowd = [(0, G), (1, G), (2, B), (3, B), (4, B), (0, G), (1, B), (2, B), (3, G), (4, B), (5, G)]
    right = sum(author[item] == value for item, value in crowd)
    assert body["against_author"]["crowd"]["accuracy"]["value"] == pytest.approx(right / 11)
    # Two ties share their weight: 1 + ½ + 1 + ½ + 0 + 0 of six items.
    assert body["against_gold"]["crowd"]["majority_accuracy"]["value"] == pytest.approx(3 / 6)


def test_gold_of_which_nobody_knows_what_was_in_view_is_counted_apart() -> None:
    project = new_project()
    first, second, third = queued_items(project, 3)
    people = reviewer(project)
    for item in (first, second, third):
        suggest(item, G)
    submit_label(project=project, user=people, item_id=first.pk, answer=Answer(value=G))
    report = agreement_report(project)
    assert (report["gold_in_view"]["value"], report["gold_view_unknown"]) == (None, 1)
    assert sentences(report)[-1].text.startswith("Whether a suggestion was in view when the gold")

    for item, shown in ((second, 0), (third, None)):
        answer = Answer(value=G, shown=shown)
        submit_label(project=project, user=people, item_id=item.pk, answer=answer)
    report = agreement_report(project)
    # The labels themselves are counted alike.
    assert (report["labels_in_view"]["value"], report["labels_in_view"]["n"]) == (0, 1)
    assert (report["gold_in_view"]["n"], report["gold_view_unknown"]) == (1, 2)
    assert sentences(report)[-1].text.endswith("(0 of 1). Of 2 more it is not known.")


@all_cases(
    ("query", "status"),
    [
        ({"kind": "robot"}, 422),
        ({"annotator": "x"}, 422),
        ({"annotator": "writer"}, 422),
        ({"annotator": ""}, 422),
        ({"annotator": "9" * 30}, 422),
        ({"annotator": "999999"}, 404),
        ({"since": "yesterday"}, 400),
        ({"label": "nowhere"}, 422),
        ({"since": "2026-02-01", "until": "2026-01-01"}, 422),
        ({"tag": "x" * 300}, 422),
        ({"tag": "-1=x"}, 422),
        ({"replicate": 2}, 422),
        ({"intervals": "items"}, 400),
    ],
)
def test_wrong_slices_are_refused(project: Project, query: dict[str, Any], status: int) -> None:
    answer = get(project, **query)

    assert answer.status_code == status
    assert answer["Content-Type"].startswith("application/problem+json")


@pytest.mark.thorough
@all_cases("how", ["{key}", "Ann", "ann, Crowd #{key}"])
def test_an_annotator_is_meant_by_number_or_by_a_name_that_only_one_has(
    project: Project, how: str
) -> None:
    address = how.format(key=project.annotators.get(name="ann").pk)
    out = StringIO()
    call_command("agreement", project.slug, "--json", "--annotator", address, stdout=out)

    body = get(project, annotator=address).json()
    assert list(body["sources"]) == ["crowd"]
    assert body["sources"]["crowd"]["annotators"] == 1
    assert json.loads(out.getvalue()) == body


def test_who_is_not_one_annotator_is_told_who_there_is_but_no_author(project: Project) -> None:
    ann = project.annotators.get(name="ann").pk
    with pytest.raises(CommandError, match="Nobody is called “writer”") as refused:
        call_command("agreement", project.slug, "--annotator", "writer")

    assert f"ann, Crowd #{ann}" in str(refused.value)
    assert "writer, Author" not in str(refused.value)
    fault = get(project, annotator="writer").json()["errors"][0]
    assert fault["field"] == "annotator"
    assert f"ann, Crowd #{ann}" in fault["message"]
    fault = get(ProjectFactory.create(), annotator="ann").json()["errors"][0]
    assert fault["message"] == "Nobody is called “ann”."


def test_the_command_prints_the_same_object(project: Project) -> None:
    out = StringIO()
    call_command("agreement", project.slug, "--json", stdout=out)

    assert json.loads(out.getvalue()) == get(project).json()


def test_intervals_for_other_annotators_are_asked_for_in_the_same_words_everywhere() -> None:
    made = moods()
    out, plain, body = StringIO(), get(made).json(), get(made, intervals="annotators").json()
    call_command("agreement", made.slug, "--json", "--intervals", "annotators", stdout=out)
    assert json.loads(out.getvalue()) == body
    assert (plain["intervals"], body["intervals"]) == ("these", "annotators")
    # Three people of the crowd; two experts are too few.
    these, others = plain["within"]["crowd"]["percent"], body["within"]["crowd"]["percent"]
    assert these["method"].endswith("; for these annotators")
    assert others["method"].endswith("; for other annotators like these")
    assert others["high"] - others["low"] > these["high"] - these["low"]
    assert body["within"]["expert"]["percent"]["low"] is None
    assert "too few annotators" in body["within"]["expert"]["percent"]["doubt"]
    assert body["cost"].keys() == plain["cost"].keys()
    # Tests between kinds are of these annotators: they stay, and their figures of single kinds have
    # no other interval.
    tests, former = (found["comparisons"]["author"] for found in (body, plain))
    for kind, figure in tests["accuracy"].items():
        assert former["accuracy"][kind]["low"] is not None
        assert (figure["low"], figure["value"]) == (None, former["accuracy"][kind]["value"])
    assert all(f1["low"] is None for label in tests["labels"] for f1 in label["f1"].values())
    assert tests["pairs"] == former["pairs"]

    shown = page(made, intervals="annotators").content.decode()
    assert "Intervals are 95 %, for other annotators like these." in shown
    assert "For these annotators only" in shown
    assert "Intervals are 95 %, for these annotators." in page(made).content.decode()
    details = page(made, "details/coefficients/", intervals="annotators").content.decode()
    assert "too few annotators for an interval" in details
    these = "The tests and intervals below are for these annotators"
    for path in ("details/tests/", "report.html"):
        assert these in page(made, path, intervals="annotators").content.decode()
        assert these not in page(made, path).content.decode()
    tests_page = page(made, "details/tests/", intervals="annotators").content.decode()
    assert "for other annotators like these" not in tests_page


def test_fewer_than_ten_items_have_values_and_say_that_they_have_no_interval(
    project: Project,
) -> None:
    body = get(project).json()
    for figure in (body["within"]["crowd"]["percent"], body["against_gold"]["crowd"]["accuracy"]):
        assert figure["value"] is not None
        assert figure["low"] is figure["high"] is None
        assert figure["doubt"] == "few_items: too few items for an interval"
    assert "too few items for an interval" in page(project).content.decode()


def test_costs_are_those_of_labels_not_of_trials(project: Project) -> None:
    item = project.items.order_by("pk")[0]
    by = project.annotators.get(name="eve")
    dear = draft(open_item(project), by, G, cost_nanousd=5_000_000_000, seconds=4.0)
    cheap = draft(open_item(project), by, G, cost_nanousd=1_000_000_000, seconds=2.0)
    import_labels(project, [dear, cheap])
    run = run_of(project)
    propose(run, item, G)
    Run.objects.filter(pk=run.pk).update(cost_nanousd=2_000_000_000)
    Run.objects.filter(pk=run_of(project, trial=True).pk).update(cost_nanousd=9_000_000_000)

    cost = get(project).json()["cost"]

    assert cost["expert"]["per_label"]["value"] == pytest.approx(3.0)
    assert cost["expert"]["seconds"]["value"] == pytest.approx(3.0)
    assert cost["llm"]["per_label"]["reason"] == "not_recorded"
    of_slice = get(project, kind="expert").json()["cost"]["expert"]
    assert of_slice["per_label"]["reason"] == "only_of_the_whole_project"


def test_items_without_a_user_stand_alone() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    items = [
        open_item(made, meta=meta)
        for meta in ({}, {"user_id": "u"}, {"user_id": "u"}, {"user_id": None}, {"user_id": None})
    ]
    ledger(made, {"crowd:a": [G, B, G, B, G]}, items)

    clusters = read_label_matrix(made).clusters

    assert clusters is not None
    assert clusters.tolist() == [0, 1, 1, 2, 3]


def test_machines_of_one_name_are_told_apart() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    ledger(
        made,
        {
            "llm:gpt": [G, B] * 20,
            "model:gpt": [B] * 40,
            "crowd:a": [G, B] * 20,
            "crowd:b": [G, B] * 20,
        },
    )

    tests = get(made).json()["alt_test"]

    assert {name: test["kind"] for name, test in tests.items()} == {
        "gpt": "llm",
        "gpt (model)": "model",
    }


@pytest.mark.parametrize("task", TASKS)
def test_an_empty_project_has_the_parts_of_every_report(task: str) -> None:
    labels = {"labels": ["1", "2"]} if TASKS[task].labelled else {}
    made = ProjectFactory.create(definition={"task": task, "question": "", **labels})

    empty = agreement_report(made)

    assert set(empty["comparisons"]) == {"gold", "author"}
    assert empty["gold_in_view"] == {"value": None, "reason": "no_gold"}
    for figure in (empty["gold_in_view"], empty["labels_in_view"], *empty["people"].values()):
        assert figure["reason"] in empty["reasons"]
