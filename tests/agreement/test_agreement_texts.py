"""Free texts from the ledger to the page: how alike they are, and no word of them in a report."""

import json

import pytest

from apps.agreement.models import StoredReport
from apps.agreement.report.charts import accuracy
from apps.agreement.report.label_matrix import read_label_matrix
from apps.agreement.report.sentences import sentences
from apps.agreement.report.services import agreement_report
from apps.agreement.report.slices import Slice
from apps.projects.models import Project
from tests.factories.agreement import decide
from tests.factories.ledger import ledger
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db

SAID: dict[str, list[str | None]] = {
    "crowd:a": ["red car", "Red bus!"],
    "crowd:b": ["Red car", "bus"],
    "author:w": ["hush, a red car", None],
}


@pytest.fixture
def project() -> Project:
    """Two items with texts of two annotators: gold is the author's text, and what nobody wrote."""
    made = ProjectFactory.create(definition={"task": "text", "question": ""})
    items, _ = ledger(made, SAID)
    decide(items[1], "red  bus")
    return made


def test_a_sheet_has_the_words_of_texts_as_numbers(project: Project) -> None:
    sheet = read_label_matrix(project)
    assert sheet.texts is not None
    # red car; hush, a red car; red bus!; bus; red  bus: spelt otherwise, so another text.
    assert sheet.texts.bags.sum(axis=1).tolist() == [2, 4, 2, 1, 2]
    assert sheet.texts.numbers.tolist() == [0, 1, 2, 3, 4]


def test_a_part_of_the_annotators_has_the_same_texts(project: Project) -> None:
    found = agreement_report(project, Slice(kind="crowd"))
    assert found["within"]["crowd"]["alpha_token_f1"]["value"] == pytest.approx(0.7)


def test_shared_words_are_a_number_in_sentences_and_charts(project: Project) -> None:
    report = agreement_report(project)
    ranking = next(line.text for line in sentences(report) if line.text.startswith("Words shared"))
    assert "%" not in ranking
    chart = accuracy(report)
    assert chart is not None
    values = {name.text: name.value for name in chart.y.names}
    assert not values["shared words"].endswith("%")
    assert values["equal text"].endswith("%")


def test_no_stored_report_holds_a_word_of_anybody(project: Project) -> None:
    agreement_report(project)
    kept = json.dumps(StoredReport.objects.get(project=project).body)
    assert not any(word in kept for word in ("hush", "car", "bus"))
