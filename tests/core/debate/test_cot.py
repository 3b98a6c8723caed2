"""Chain of thought against canned replies: one call, free text, reasons before the answer."""

from labelhub.core.llm.types import Reply, Status
from tests.cases import all_cases
from tests.core.debate.canned import played


@all_cases("status", [each for each in Status if each is not Status.OK])
def test_no_answer_is_no_label(status: Status) -> None:
    outcome = played("cot", {"annotator": Reply("words", status=status)}).outcome
    assert (outcome.value, outcome.uncertainty) == (None, 1.0)
    assert outcome.flags == (str(status),)
    assert outcome.failed == (status is Status.FAILED)
