"""What an endpoint sees of each protocol: exactly so many calls, in order, with these words."""

from dataclasses import replace
from typing import Any

import pytest

from apps.debates.models import Run, Turn
from apps.debates.services import run_slice
from labelhub.core.debate import LABELLING
from tests.factories.debates import QUICK, add_items, project_with_items, started_run
from tests.factories.llm import ModelSpecFactory
from tests.fakes.openai_server import FakeServer

pytestmark = pytest.mark.django_db(transaction=True)

GOOD, BAD = "Final Decision: good", "Final Decision: bad"
RANKED = "First choice: good\nSecond choice: bad"


def asked(server: FakeServer, protocol: str, *answers: str, **settings: Any) -> list[str]:
    """What the endpoint is sent for one item, answering with these one after the other; each
    answer begins with a word of its own."""
    server.script(*(f"Word{at}.\n{answer}" for at, answer in enumerate(answers)))
    model = ModelSpecFactory.create(provider__base_url=server.base_url)
    project = project_with_items(0)
    add_items(project, 1, text="The soup was fine.")
    run = started_run(project, protocol, model=model, settings=settings)
    run_slice(run.pk, pace=replace(QUICK, width=1))
    run.refresh_from_db()
    assert (run.status, run.message) == (Run.Status.DONE, "1 of 1 labelled.")
    assert Turn.objects.count() == len(server.requests) == len(answers)
    return ["\n".join(each["content"] for each in body["messages"]) for body in server.requests]


def heard(request: str, count: int) -> list[int]:
    """Which of the answers so far a request repeats."""
    return [at for at in range(count) if f"Word{at}." in request]


@pytest.mark.parametrize("protocol", ["single", "cot"])
def test_one_annotator_is_asked_once(model_server: FakeServer, protocol: str) -> None:
    (request,) = asked(model_server, protocol, GOOD)
    assert "The soup was fine." in request


def test_samples_are_drawn_at_the_same_time_at_their_temperature(model_server: FakeServer) -> None:
    requests = asked(model_server, "self_consistency", *[GOOD] * 5)
    assert len(set(requests)) == 1
    assert heard(requests[0], 5) == []
    assert {body["temperature"] for body in model_server.requests} == {0.7}


@pytest.mark.parametrize("protocol", ["self_refine", "ecj"])
def test_three_roles_hear_those_before_them(model_server: FakeServer, protocol: str) -> None:
    requests = asked(model_server, protocol, GOOD, GOOD, GOOD)
    assert [heard(request, 3) for request in requests] == [[], [0], [0, 1]]
    assert {body["temperature"] for body in model_server.requests} == {0}


def test_voters_hear_nobody(model_server: FakeServer) -> None:
    requests = asked(model_server, "vote", GOOD, BAD, GOOD)
    assert [heard(request, 3) for request in requests] == [[], [], []]


def test_a_discussion_ends_when_all_agree(model_server: FakeServer) -> None:
    requests = asked(model_server, "discussion", GOOD, GOOD, GOOD)
    assert not any("Annotator A thinks" in request for request in requests)


def test_a_discussion_goes_on_with_everybody_s_words(model_server: FakeServer) -> None:
    requests = asked(model_server, "discussion", GOOD, BAD, GOOD, GOOD, BAD, GOOD, *[GOOD] * 3)
    assert [heard(request, 9) for request in requests[3:6]] == [[0, 1, 2]] * 3
    assert [heard(request, 9) for request in requests[6:]] == [[0, 1, 2, 3, 4, 5]] * 3
    assert all("model-" not in request for request in requests)


def test_judges_in_sequence_hear_both_sides_and_each_other(model_server: FakeServer) -> None:
    requests = asked(model_server, "courtroom", RANKED, "So it is.", "Not so.", GOOD, GOOD, GOOD)
    assert [heard(request, 6) for request in requests] == [
        [], [], [], [1, 2], [1, 2, 3], [1, 2, 3, 4],
    ]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("judges", [1, 3, 5])
def test_judges_side_by_side_hear_both_sides_alone(model_server: FakeServer, judges: int) -> None:
    answers = [RANKED, "So it is.", "Not so.", *[GOOD] * judges]
    requests = asked(model_server, "courtroom", *answers, judges=judges, deliberation="parallel")
    assert len(requests) == 3 + judges
    assert all(heard(request, len(answers)) == [1, 2] for request in requests[3:])


def test_a_cascade_asks_again_only_in_doubt(model_server: FakeServer) -> None:
    asked(model_server, "cascade", *[GOOD] * 5)


def test_a_cascade_in_doubt_asks_the_second_protocol(model_server: FakeServer) -> None:
    requests = asked(model_server, "cascade", GOOD, BAD, GOOD, BAD, GOOD, GOOD, GOOD, GOOD)
    assert [heard(request, 8) for request in requests[5:]] == [[], [5], [5, 6]]


def test_every_protocol_is_spoken_of_here() -> None:
    assert set(LABELLING) == {
        "single", "cot", "self_consistency", "self_refine", "vote", "ecj", "discussion",
        "courtroom", "cascade",
    }  # fmt: skip
