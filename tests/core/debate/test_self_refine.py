"""Self-refine against canned replies: draft, review, improved answer."""

from labelhub.core.llm.types import Reply, Status
from labelhub.core.schema import Schema, parse_schema
from tests.cases import all_cases
from tests.core.debate.canned import FAILED, REFUSED, UNREAD, fenced, played, says

DRAFT = 'Rates stay.\n- Dovish: "soup"\nFinal Decision: Dovish'
REVIEW = "The draft can stand."
SAID = {"drafter": DRAFT, "reviewer": REVIEW, "refiner": says("Dovish")}
ROLES = ("drafter", "reviewer", "refiner")


def test_three_calls_each_of_which_waits_for_the_one_before() -> None:
    debate = played("self_refine", SAID)
    assert debate.steps == [["drafter"], ["reviewer"], ["refiner"]]
    assert all(debate.call(role).params == {"temperature": 0} for role in ROLES)
    assert [debate.call(role).output for role in ROLES] == ["decision", "argument", "decision"]


def test_each_reads_what_came_before_between_delimiters() -> None:
    debate = played("self_refine", SAID)
    assert [fenced(debate.read(role))[1:] for role in ROLES] == [[], [DRAFT], [DRAFT, REVIEW]]
    assert "State no decision of your own." in debate.read("reviewer")


def test_the_refined_answer_counts() -> None:
    outcome = played("self_refine", SAID).outcome
    assert (outcome.value, outcome.flags, outcome.uncertainty) == ("Dovish", (), 0.0)
    assert outcome.evidence == {"Dovish": ("soup",)}
    assert outcome.rationale == REVIEW
    assert outcome.signals["first"] == "Dovish"
    assert outcome.signals["values"] == {
        "drafter": "Dovish", "reviewer": None, "refiner": "Dovish",
    }  # fmt: skip


def test_whoever_changes_their_mind_was_not_sure() -> None:
    outcome = played("self_refine", SAID | {"refiner": says("Neutral")}).outcome
    assert (outcome.value, outcome.flags, outcome.uncertainty) == (
        "Neutral",
        ("changed_mind",),
        0.5,
    )
    assert outcome.evidence == {}


def test_a_draft_that_could_not_be_read_is_reviewed_nonetheless() -> None:
    outcome = played("self_refine", SAID | {"drafter": UNREAD}).outcome
    assert (outcome.value, outcome.flags, outcome.uncertainty) == ("Dovish", ("unparsed",), 0.5)


def test_a_refined_answer_that_cannot_be_read_is_no_label() -> None:
    outcome = played("self_refine", SAID | {"refiner": UNREAD}).outcome
    assert (outcome.value, outcome.flags, outcome.uncertainty) == (None, ("unparsed",), 1.0)


@all_cases("role", ROLES)
@all_cases("reply", [FAILED, REFUSED, Reply(status=Status.UNPARSED)])
def test_it_ends_where_a_role_has_nothing_to_go_by(role: str, reply: Reply) -> None:
    debate = played("self_refine", SAID | {role: reply})
    assert [step for (step,) in debate.steps] == list(ROLES[: ROLES.index(role) + 1])
    assert (debate.outcome.value, debate.outcome.uncertainty) == (None, 1.0)
    assert debate.outcome.flags == (str(reply.status),)
    assert debate.outcome.failed == (reply is FAILED)


def test_several_labels_and_free_text(schema: Schema) -> None:
    said = SAID | {"drafter": says("Food"), "refiner": says("none")}
    assert played("self_refine", said, asked=schema).outcome.value == []
    said = SAID | {"drafter": says("Cold."), "refiner": says("A cold soup.")}
    outcome = played("self_refine", said, asked=parse_schema({"task": "text"})).outcome
    assert (outcome.value, outcome.flags) == ("A cold soup.", ("changed_mind",))
