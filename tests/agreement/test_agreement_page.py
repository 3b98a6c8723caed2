"""The agreement page: whom to trust for what, in words, pictures and files."""

import re
from typing import Any

import pytest

from apps.accounts.roles import Role
from apps.agreement.report.charts import CHARTS
from apps.agreement.report.sentences import agreement_level, sentences
from apps.agreement.report.services import agreement_report
from apps.projects.models import Project
from apps.reviews.queue.answers import Answer
from apps.reviews.queue.submission import submit_label
from labelhub.core.agreement.reports.other_annotators import FEW_ANNOTATORS
from tests.agreement.page_help import B, G, moods, page
from tests.cases import all_cases
from tests.factories.labels import queued_items
from tests.factories.ledger import ledger
from tests.factories.projects import MOODS, ProjectFactory, member_browser
from tests.factories.reviews import reviewer, suggest

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """Forty items with their author's answer; experts better than the crowd, a machine worst."""
    return moods()


def test_a_lead_that_is_not_significant_is_called_so() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    ledger(made, {"crowd:a": [G, B, G, B], "expert:e": [G, B, G, G], "author:w": [G, B, G, G]})

    first = sentences(agreement_report(made))[0]
    assert "is not significant" in first.text
    # Nor is its mark the first kind's.
    assert first.kind == ""


def test_kinds_are_ranked_and_marked_on_the_items_that_all_answered() -> None:
    """The crowd alone answered the last forty items, and wrongly."""
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    true, wrong = [G, B] * 40, [B, G] * 40
    ledger(
        made,
        {
            "author:w": true,
            "crowd:a": true[:36] + wrong[:44],
            "expert:e": true[:24] + wrong[:16],
        },
    )

    first = sentences(agreement_report(made))[0]
    assert "on the 40 items that all answered" in first.text
    assert first.text.index("Crowd 90") < first.text.index("Expert 60")
    assert first.kind == "crowd"
    html = page(made).content.decode()
    assert "on the 40 items that all answered; ★" in html
    assert len(re.findall(r"<span class=\"trust__best", html)) == 2
    # The items behind are counted in full.
    numbers = page(made, "details/accuracy/").content.decode()
    assert re.search(r"cell=missed[^>]*>22</a>", numbers)


@all_cases(
    ("figure", "level"),
    [
        ({"value": 0.9, "low": 0.81, "n": 90}, "reliable"),
        ({"value": 0.9, "low": 0.7, "n": 90}, "tentative"),
        ({"value": 0.9, "low": 0.5, "n": 90}, "perhaps"),
        ({"value": 0.6, "low": 0.5, "n": 90}, "low"),
        ({"value": 0.9, "low": 0.85, "n": 9}, "few"),
        ({"value": 0.9, "low": None, "n": 90}, "few"),
        ({"value": 0.9, "low": None, "n": 90, "doubt": FEW_ANNOTATORS}, "open"),
        ({"value": None, "reason": "no_variation"}, "alike"),
        ({"value": None, "reason": "one_annotator"}, "unknown"),
    ],
)
def test_the_lower_end_of_the_interval_decides_how_far_to_trust(
    figure: dict[str, Any], level: str
) -> None:
    assert agreement_level(figure) == level


def test_disputed_items_stand_with_the_competing_labels() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    labels = {"crowd:a": [G, B], "crowd:b": [G, B], "expert:e": [B, B]}
    (disputed, _), _ = ledger(made, labels)

    html = page(made).content.decode()
    (shown,) = re.findall(r"<li>\s*<a href=\"[^\"]*/items/(\d+)/\".*?</li>", html, re.DOTALL)
    assert int(shown) == disputed.pk
    assert re.search(r"good <b class=\"numeric\">2</b></span><span>bad</span>", html)
    # A reviewer who has still to answer an item does not see what others say of it.
    assert f'/items/{disputed.pk}/"' not in page(made, "", Role.REVIEWER).content.decode()


def test_gold_that_was_decided_uncertain_first_is_called_a_biased_sample() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=1)
    decided, _ = [suggest(item, G).item for item in queued_items(made, 2)]
    answer = Answer(value=G)
    submit_label(project=made, user=reviewer(made), item_id=decided.pk, answer=answer)

    assert "biased sample" in page(made).content.decode()
    made.queue_order = Project.QueueOrder.RANDOM
    made.save()
    assert "biased sample" not in page(made).content.decode()


def test_hostile_names_stay_text() -> None:
    evil = "<script>alert(1)</script>"
    made = ProjectFactory.create(
        definition={"task": "single", "question": "", "labels": [evil, "b"]}, overlap=20
    )
    items = queued_items(made, 3, text=evil)
    ledger(made, {f"crowd:{evil}": [evil, "b", "b"], "crowd:b": ["b", "b", evil]}, items)

    for address in ("", "report.html", "details/annotators/", "figures/annotators.svg"):
        assert evil not in page(made, address).content.decode()


def test_the_report_is_one_file_that_loads_nothing(project: Project) -> None:
    answer = page(project, "report.html")

    html = answer.content.decode()
    assert "attachment" in answer["Content-Disposition"]
    assert "<script" not in html
    assert not re.findall(r'(?:src|href)="(?!#)', html)
    assert "@import" not in html
    assert "url(" not in html


def test_every_picture_is_left_out_where_there_is_nothing_to_draw() -> None:
    made = ProjectFactory.create(definition=MOODS)
    report = agreement_report(made)

    assert {name: draw(report) for name, draw in CHARTS.items()} == dict.fromkeys(CHARTS)


@pytest.mark.thorough
def test_the_queries_do_not_grow_with_the_ledger(
    project: Project, django_assert_max_num_queries: Any
) -> None:
    agreement_report(project)
    client = member_browser(project, Role.VIEWER)
    with django_assert_max_num_queries(26):
        client.get("/p/moods/agreement/")
