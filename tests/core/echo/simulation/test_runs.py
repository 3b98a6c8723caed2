"""One arm in one world: all arms meet the same things, and learn only from what they may."""

import numpy as np
import pytest

from labelhub.core.echo import trust
from labelhub.core.echo.events import CLICK
from labelhub.core.echo.simulator import (
    ARMS,
    ECHO,
    NO_ASKING,
    RANDOM,
    RANDOM_SHOWN,
    SURVEY_EVERY,
    SURVEY_SIZE,
    Learner,
    Settings,
    SimulatedArm,
    SimulationTrace,
    World,
    play,
)
from labelhub.core.echo.state import learn_name, learn_reward
from labelhub.core.echo.uncertainty import calibration_error
from tests.cases import all_cases

SMALL = Settings(features=40, k=5, messages=100)
COUNT = SMALL.messages


def learner(arm: SimulatedArm, settings: Settings = SMALL, seed: int = 0) -> tuple[World, Learner]:
    world = World(settings, seed)
    return world, Learner(world, arm, np.random.default_rng([seed, 3]))


def bits(trace: SimulationTrace) -> list[bytes]:
    return [getattr(trace, name).tobytes() for name in SimulationTrace.__dataclass_fields__]


def beliefs(of: Learner) -> dict[str, bytes]:
    relevance, doubt = of.state.relevance, of.state.uncertainty
    return {
        "models": of.heads.mean.tobytes() + of.heads.var.tobytes(),
        "relevance": relevance.odds.tobytes() + relevance.weight.tobytes(),
        "uncertainty": doubt.signs.tobytes() + doubt.covariance.tobytes(),
    }


@pytest.mark.thorough
@all_cases("arm", ARMS, ids=lambda arm: str(arm.name))
def test_a_play_is_the_same_each_time_and_its_trace_is_whole(arm: SimulatedArm) -> None:
    trace = play(SMALL, 0, arm)
    assert bits(trace) == bits(play(SMALL, 0, arm))
    assert trace.regret.min() >= 0
    for shares in (trace.accuracy, trace.found):
        assert ((shares >= 0) & (shares <= 1)).all()
    assert trace.bins[0].sum() == COUNT / 2 * SMALL.k  # shown in the second half
    assert 0 <= calibration_error(trace.bins) <= 1


@pytest.mark.thorough
def test_all_arms_of_a_seed_see_the_same_messages_and_have_the_same_luck(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: dict[str, list[object]] = {}
    original = World.next_message

    def watched(arm: SimulatedArm) -> None:
        def told(self: World) -> object:
            found = original(self)
            answers = found.values.tobytes() + found.answers.tobytes() + found.heard.tobytes()
            seen.setdefault(arm.name, []).append(
                (found.vector.tobytes(), answers, found.luck.tobytes())
            )
            return found

        monkeypatch.setattr(World, "next_message", told)

    for arm in ARMS:
        watched(arm)
        hard = Settings(40, 5, 150, spam=True, drift=True, per_author=True, helpfulness=0.5)
        play(hard, 4, arm)
    assert len(seen[ECHO.name]) == 150
    assert all(message == seen[ECHO.name] for message in seen.values())


def test_one_survey_of_four_questions_is_put_on_every_fifth_message() -> None:
    trace = play(SMALL, 0, RANDOM)
    surveys = np.diff(np.concatenate([[0], trace.asked]))
    assert np.flatnonzero(surveys).tolist() == list(range(0, COUNT, SURVEY_EVERY))
    assert set(surveys.tolist()) == {0, SURVEY_SIZE}
    assert not play(SMALL, 0, NO_ASKING).asked.any()


def test_of_whom_nothing_is_believed_nothing_is_learnt_but_trust() -> None:
    world, echo = learner(ECHO)
    message = world.next_message()
    predicted = echo.predict(message.vector)
    doubted = trust.AuthorBelief(answers=trust.LEAST - 1)
    echo.state.trusts[message.author] = doubted
    begun = beliefs(echo)
    shown, _ = echo.select(predicted)
    right = 1 - predicted.sigma[shown]
    learn_reward(echo.state, message.author, shown, right, value=1.0, signal=CLICK)
    learn_name(echo.state, message.author, shown, right, 0)
    echo.answered(message, predicted, 7)
    assert beliefs(echo) == begun
    assert echo.state.trusts[message.author] != doubted


@pytest.mark.parametrize("arm", [ECHO, RANDOM_SHOWN], ids=lambda arm: str(arm.name))
def test_four_different_features_that_may_go_downstream_are_asked_about(
    arm: SimulatedArm,
) -> None:
    world, echo = learner(arm)
    for _ in range(20):
        predicted = echo.predict(world.next_message().vector)
        shown, candidates = echo.select(predicted)
        asked = echo.questions(predicted, shown, candidates)
        assert len(set(shown.tolist())) == SMALL.k
        assert len(set(asked.tolist())) == SURVEY_SIZE
        assert set(asked.tolist()) <= set((candidates if arm is ECHO else shown).tolist())
        assert set(shown.tolist()) <= set(candidates.tolist())
