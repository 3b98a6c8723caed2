"""``manage.py echo_simulate``: refuses in one line, tells figures in words and in JSON."""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from apps.echo.management.commands import echo_simulate
from apps.echo.management.commands.echo_simulate import ARM_NAMES
from labelhub.core.echo.simulator import (
    ARMS,
    CLICK_RATE,
    Settings,
    SimulatedArm,
    SimulationTrace,
    figures,
)
from labelhub.core.echo.uncertainty import BINS
from tests.cases import all_cases

SMALL = ("--features", "40", "--k", "5", "--questions", "80", "--seeds", "3")


def traces(seeds: int, messages: int = 200) -> dict[str, list[SimulationTrace]]:
    """What plays might have left; of each arm another accuracy."""
    draws = np.random.default_rng(0)

    def one(arm: SimulatedArm) -> SimulationTrace:
        return SimulationTrace(
            regret=draws.uniform(0, 0.2, messages),
            accuracy=draws.uniform(0.4, 0.9, messages),
            found=draws.uniform(0, 1, messages),
            asked=np.arange(messages) * int(arm.asks != "nothing"),
            bins=np.ones((3, BINS)),
        )

    return {arm.name: [one(arm) for _ in range(seeds)] for arm in ARMS}


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Settings, int]]:
    """The command plays nothing; what it asked for is kept."""
    asked: list[tuple[Settings, int]] = []

    def simulate(settings: Settings, seeds: int, **_options: int) -> dict[str, Any]:
        asked.append((settings, seeds))
        return figures(traces(seeds))

    monkeypatch.setattr(echo_simulate, "simulate", simulate)
    return asked


@all_cases(
    ("arguments", "message"),
    [
        (["--features", "19"], "features: must be from 20 to 5000."),
        (["--k", "3"], "k: must be from 4 to half of the features."),
        (["--features", "20", "--k", "11"], "k: must be from 4 to half of the features."),
        (["--seeds", "0"], "seeds: must be from 1 to 1000."),
        (["--first-seed", "-1", "--seeds", "1"], "first_seed: must not be negative."),
        (["--click-rate", "0"], "click_rate: must be from 0.001 to 0.9."),
        (["--helpfulness", "2"], "helpfulness: must be from 0 to 1."),
        (["--questions", "79"], "questions: must be from 80 to 800000."),
        (["--questions", "800001"], "questions: must be from 80 to 800000."),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(arguments: Sequence[str], message: str) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("echo_simulate", *arguments)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("questions", "messages"), [(80, 100), (81, 105), (16_000, 20_000), (800_000, 1_000_000)]
)
def test_as_many_messages_are_played_as_the_questions_take(
    questions: int, messages: int, played: list[tuple[Settings, int]]
) -> None:
    call_command("echo_simulate", "--questions", str(questions), "--seeds", "1", "--json")
    assert played == [(Settings(messages=messages), 1)]


def test_people_are_told_each_figure_with_its_interval(
    capsys: pytest.CaptureFixture[str], played: list[tuple[Settings, int]]
) -> None:
    call_command("echo_simulate", *SMALL)
    out = capsys.readouterr().out
    assert re.search(
        r"^Accuracy gained over random asking: -?0\.\d{3} \(.* to .*, n 3\)$", out, re.MULTILINE
    )
    for name in list(ARM_NAMES.values())[1:]:
        assert f"Regret against an arm that {name}: " in out
    assert "Expected calibration error (ECE) of the uncertainty: " in out


@pytest.mark.thorough
def test_a_real_small_run_prints_one_object_of_finite_figures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call_command("echo_simulate", *SMALL, "--json")
    out = capsys.readouterr().out
    printed = json.loads(out, parse_constant=pytest.fail)
    assert out.count("\n") == 1
    assert printed["settings"] == {
        "features": 40, "k": 5, "messages": 100, "seeds": 3, "first_seed": 0,
        "spam": False, "drift": False, "per_author": False,
        "click_rate": CLICK_RATE, "helpfulness": 0.0,
    }  # fmt: skip
    assert printed["accuracy_gain"]["n"] == 3
