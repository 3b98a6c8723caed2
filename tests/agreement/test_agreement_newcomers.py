"""What somebody who sees the agreement page for the first time must not be misled by."""

import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from apps.accounts.roles import Role
from apps.agreement.charts import Offer, cost_quality
from apps.agreement.reporting import agreement_report
from apps.agreement.sheets.slicing import Slice
from apps.agreement.standing.charts import CHARTS
from apps.agreement.standing.comparing import compared_kinds
from apps.agreement.standing.trust import trust_table
from apps.agreement.standing.truths import truths_of
from apps.agreement.standing.wording import sentences
from apps.labels.models import Gold, ItemState
from apps.labels.services import import_labels
from apps.projects.models import Project
from tests.agreement.chart_help import fig
from tests.agreement.page_help import G, moods, page
from tests.agreement.report_help import six_moods
from tests.factories.labels import draft, open_item
from tests.factories.ledger import ledger
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db


def seen(project: Project, address: str = "", **query: str) -> str:
    """A page as one line of words, without its markup."""
    html = page(project, address, **query).content.decode()
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def told(report: Any) -> str:
    """What the page says in short."""
    return " ".join(one.text for one in sentences(report))


@pytest.fixture
def texts() -> Project:
    """Two items: the machine's texts hold the author's words, the crowd's hardly one of them."""
    made = ProjectFactory.create(definition={"task": "text", "question": ""}, overlap=20)
    ledger(
        made,
        {
            "llm:m": ["a red car", "one blue bus now"],
            "crowd:a": ["wheels", "a bus"],
            "crowd:b": ["Wheels", "x" * 300],
            "author:w": ["the red car", "blue bus"],
        },
    )
    return made


def test_beside_a_label_stands_how_many_items_truly_have_it() -> None:
    made = six_moods()
    report = agreement_report(made, Slice(kind="crowd"))
    rows = trust_table(report, truths_of(report)[0])[1]

    # The crowd ties on one of the three good ones, and on one of the bad.
    assert report["against_author"]["crowd"]["ties"] == 2
    assert [(row.label, row.items) for row in rows] == [("good", 3), ("bad", 3)]
    earlier = {name: found for name, found in report.items() if name != "truths"}
    assert [row.items for row in trust_table(earlier, truths_of(earlier)[0])[1]] == [None, None]


@pytest.mark.thorough
def test_that_ties_are_left_out_of_f1_is_said_with_what_follows_from_it() -> None:
    assert "flatters a kind with many ties" in seen(six_moods())
    assert "flatters" not in seen(ProjectFactory.create())


@pytest.mark.thorough
def test_only_those_who_get_a_label_wrong_are_named_with_it() -> None:
    report: dict[str, Any] = dict(agreement_report(moods()))
    against = {kind: dict(found) for kind, found in report["against_author"].items()}
    perfect = {"value": 1.0, "low": 1.0, "high": 1.0, "n": 40}
    against["expert"]["per_label"] = [
        {**each, "f1": perfect} for each in against["expert"]["per_label"]
    ]
    report["against_author"] = against

    (hardest,) = [one.text for one in sentences(report) if "wrong most" in one.text]
    assert "the crowd" in hardest
    assert "experts" not in hardest


@pytest.mark.thorough
def test_that_lots_are_drawn_among_tied_answers_is_said_where_it_counts() -> None:
    made = six_moods()

    assert "one is drawn by lot" in seen(made)
    assert "by lot" in seen(made, "items/", of="expert", other="crowd", by="author")
    assert "by lot" not in seen(made, "items/", of="expert", other="crowd")


def test_texts_are_ranked_by_the_words_they_share(texts: Project) -> None:
    report = agreement_report(texts)
    first = sentences(report)[1]

    assert first.kind == "llm"
    # 2 · 2 / 6 of the first, 2 · 2 / 6 of the second.
    assert first.text.startswith(
        "The texts of the LLM are nearest to what the author said: 67 % of words shared"
    )
    assert "; of the crowd " in first.text
    assert "Only 2 items tell so." in first.text


def test_pictures_and_measures_of_texts_begin_with_shared_words(texts: Project) -> None:
    picture = CHARTS["accuracy"](agreement_report(texts))

    assert picture is not None
    assert picture.table[1][0][2] == "shared words"
    measured = seen(texts).split("Right against the author")[-1]
    assert measured.index("shared words, F1") < measured.index("single labels")


def test_where_no_text_is_the_same_nobody_is_right_more_often(texts: Project) -> None:
    assert "author" not in {one.truth.by for one in compared_kinds(agreement_report(texts))}
    Gold.objects.filter(item__project=texts).delete()
    assert "more often than whom" not in seen(texts)


def test_behind_numbers_of_texts_stand_the_texts(texts: Project) -> None:
    words = seen(texts, "items/", of="llm", other="crowd")

    assert "“wheels” (2)" in words
    assert "“one blue bus now”" in words
    assert f"“{'x' * 199}…”" in words
    assert "different" not in words


def test_of_a_part_only_its_texts_are_shown(texts: Project) -> None:
    words = seen(texts, "items/", of="crowd", other="crowd", kind="crowd")

    assert "a bus" in words
    assert "one blue bus now" not in words


def test_nor_does_a_reviewer_read_a_machines_text_of_an_item_to_audit_blind(
    texts: Project,
) -> None:
    ItemState.objects.filter(item__project=texts).update(reasons=["audit"])
    query = {"of": "crowd", "other": "crowd"}

    for role, there in ((Role.VIEWER, True), (Role.REVIEWER, False)):
        html = page(texts, "items/", role, **query).content.decode()
        assert ("one blue bus now" in html) is there


def test_sets_can_be_told_from_one_another() -> None:
    made = ProjectFactory.create(
        definition={"task": "multi", "question": "", "labels": ["Ask", "Blame", "Praise"]},
        overlap=20,
    )
    ledger(
        made,
        {"crowd:a": [["Praise", "Ask"]], "crowd:b": [["Blame"]], "crowd:c": [["Blame"]]},
    )

    assert "Blame (2), Ask + Praise (1)" in seen(made, "items/", of="crowd", other="crowd")


def test_a_taste_for_places_is_told_where_it_is_more_than_chance() -> None:
    made = ProjectFactory.create(definition={"task": "per_item", "question": ""}, overlap=20)
    items = [open_item(made, options=["red", "blue"]) for _ in range(30)]
    ledger(made, {"crowd:a": ["red"] * 30, "expert:e": ["red", "blue"] * 15}, items)
    report = agreement_report(made)

    assert "The crowd prefers some places among the options more than chance would (p < " in (
        told(report)
    )
    assert "The experts prefer" not in told(report)
    assert "S_q is the one to read." in seen(made)


@pytest.mark.thorough
def test_only_what_falls_with_one_common_label_is_said_to_fall(texts: Project) -> None:
    assert "compare AC1 then" in seen(six_moods())
    assert "compare AC1" not in seen(texts)


@pytest.mark.thorough
def test_the_command_says_who_says_the_same_again() -> None:
    made = six_moods()
    item = made.items.order_by("pk")[0]
    ann = item.labels.get(annotator__name="ann").annotator
    later = timezone.now() + timedelta(days=1)
    import_labels(made, [draft(item, ann, G, supersedes_own=True, action="new", created_at=later)])
    out = StringIO()
    call_command("agreement", made.slug, stdout=out)

    assert re.search(r"The same again.*\n  Crowd .*1 annotator, 1 item, 1 answer", out.getvalue())


def test_columns_of_seconds_are_not_called_cost() -> None:
    two = [Offer("LLM", "llm", fig(2.0), fig(0.8)), Offer("Crowd", "crowd", fig(9.0), fig(0.7))]
    for unit, name in (("s", "seconds"), ("USD", "cost")):
        picture = cost_quality(two, unit=unit)
        assert picture is not None
        assert list(picture.table[0])[2:5] == [name, f"{name} low", f"{name} high"]
