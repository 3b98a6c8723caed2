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
from tests.agreement.page_help import page
from tests.agreement.report_help import six_moods
from tests.factories.ledger import ledger
from tests.factories.projects import ProjectFactory

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
    assert [(row.label, row.items) for row in rows] == [("good", 3), ("bad", 3)]
    earlier = {name: found for name, found in report.items() if name != "truths"}
    assert [row.items for row in trust_table(earlier, truths_of(earlier)[0])[1]] == [None, None]


def test_texts_are_ranked_by_the_words_they_share(texts: Project) -> None:
    report = agreement_report(texts)
    first = sentences(report)[0]

    assert first.kind == "llm"
    # 2 · 2 / 6 of the first, 2 · 2 / 6 of the second.
    assert first.text.startswith(
        "The texts of the LLM are nearest to what the author said: 67 % of words shared"
    )
    assert "; of the crowd " in first.text
    assert "This rests on only 2 items." in first.text


def test_nor_does_a_reviewer_read_a_machines_text_of_an_item_to_audit_blind(
    texts: Project,
) -> None:
    ItemState.objects.filter(item__project=texts).update(reasons=["audit"])
    query = {"of": "crowd", "other": "crowd"}

    for role, there in ((Role.VIEWER, True), (Role.REVIEWER, False)):
        html = page(texts, "items/", role, **query).content.decode()
        assert ("one blue bus now" in html) is there
