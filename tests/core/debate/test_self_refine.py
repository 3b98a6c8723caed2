"""Self-refine against canned replies: draft, review, improved answer."""

from labelhub.core.llm.types import Reply, Status
from tests.cases import all_cases
from tests.core.debate.canned import FAILED, REFUSED, played, says

DRAFT = 'Rates stay.\n- Dovish: "soup"\nFinal Decision: Dovish'
REVIEW = "The draft can stand."
REPLIES = {"drafter": DRAFT, "reviewer": REVIEW, "refiner": says("Dovish")}
ROLES = ("drafter", "reviewer", "refiner")


def test_the_refined_answer_counts() -> None:
    outcome = played("self_refine", REPLIES).outcome
    assert (outcome.value, outcome.flags, outcome.uncertainty) == ("Dovish", (), 0.0)
    assert outcome.evidence == {"Dovish": ("soup",)}
    assert outcome.rationale == REVIEW
    assert outcome.signals["first"] == "Dovish"
    assert outcome.signals["values"] == {
        "drafter": "Dovish", "reviewer": None, "refiner": "Dovish",
    }  # fmt: skip


@all_cases("role", ROLES)
@all_cases("reply", [FAILED, REFUSED, Reply(status=Status.UNPARSED)])
def test_it_ends_where_a_role_has_nothing_to_go_by(role: str, reply: Reply) -> None:
    debate = played("self_refine", REPLIES | {role: reply})
    assert [step for (step,) in debate.steps] == list(ROLES[: ROLES.index(role) + 1])
    assert (debate.outcome.value, debate.outcome.uncertainty) == (None, 1.0)
    assert debate.outcome.flags == (str(reply.status),)
    assert debate.outcome.failed == (reply is FAILED)
