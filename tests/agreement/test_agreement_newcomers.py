"""What somebody who sees the agreement page for the first time must not be misled by."""

import pytest

from apps.accounts.roles import Role
from apps.agreement.report.sentences import sentences
from apps.agreement.report.services import agreement_report
from apps.agreement.report.slices import Slice
from apps.agreement.report.tables import trust_table
from apps.agreement.report.truths import truths_of
from apps.labels.models import ItemState
from apps.projects.models import Project
from tests.agreement.page_help import B, G, moods, page
from tests.agreement.report_help import six_moods
from tests.factories.ledger import ledger
from tests.factories.projects import MOODS, ProjectFactory

pytestmark = pytest.mark.django_db


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
    assert [(row["label"], row["items"]) for row in rows] == [("good", 3), ("bad", 3)]
    earlier = {name: found for name, found in report.items() if name != "truths"}
    assert [row["items"] for row in trust_table(earlier, truths_of(earlier)[0])[1]] == [None, None]


def test_texts_are_ranked_by_the_words_they_share(texts: Project) -> None:
    report = agreement_report(texts)
    first = sentences(report)[0]

    # With two items nobody is significantly better, so no kind is marked.
    assert first.kind == ""
    # 2 · 2 / 6 of the first, 2 · 2 / 6 of the second.
    assert first.text.startswith("Words shared with the author: LLM 0.67;")
    assert "; Crowd " in first.text
    assert "This rests on only 2 items." in first.text


def test_nor_does_a_reviewer_read_a_machines_text_of_an_item_to_audit_blind(
    texts: Project,
) -> None:
    ItemState.objects.filter(item__project=texts).update(reasons=["audit"])
    query = {"of": "crowd", "other": "crowd"}

    for role, there in ((Role.VIEWER, True), (Role.REVIEWER, False)):
        html = page(texts, "items/", role, **query).content.decode()
        assert ("one blue bus now" in html) is there


def test_the_first_sentence_ranks_by_what_the_table_beside_it_measures() -> None:
    words = [sentence.text for sentence in sentences(agreement_report(moods()))]

    assert words[0].startswith("Majority-vote accuracy against the author: Expert ")
    assert not [text for text in words if "most errors" in text]


def test_a_doubt_about_the_agreement_of_people_is_the_one_there_is() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    items, _ = ledger(made, {"crowd:a": [G, B] * 8, "crowd:b": [B, G] * 8})
    shown = page(made).content.decode()

    # Every pair differs, so there is no interval that may be too narrow.
    assert "People disagree too often" in shown
    assert "too narrow" not in shown
    ledger(made, {"crowd:c": [G, G, B, B] * 4}, items)
    shown = page(made).content.decode()
    assert "too narrow: fewer than 10 items lie outside the commonest category." in shown


def test_a_reviewer_reads_why_the_numbers_are_not_those_of_others() -> None:
    made = moods()
    ItemState.objects.filter(item__in=made.items.order_by("pk")[:9]).update(reasons=["audit"])
    note = "Models’ labels of 9 items that you have still to label are left out"

    assert note in page(made, "", Role.REVIEWER).content.decode()
    assert note not in page(made, "", Role.VIEWER).content.decode()
