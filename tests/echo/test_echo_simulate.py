"""``manage.py echo_simulate``: refuses in one line, tells figures in words, in JSON and drawn."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from apps.echo.charts.curves import ARM_NAMES, draw_curves
from apps.echo.management.commands import echo_simulate
from apps.echo.play_output import figure_words
from labelhub.core.echo.simulation.report import curves, figures
from labelhub.core.echo.simulation.runs import ARMS, Arm, Trace
from labelhub.core.echo.simulation.world import Settings
from labelhub.core.echo.uncertainty import BINS

SMALL = ("--features", "40", "--k", "5", "--questions", "80", "--seeds", "3")
PANELS = (
    "Right about the features that matter most",
    "Share of these that are shown",
    "Chance of a click lost per message",
)


def traces(seeds: int, messages: int = 200) -> dict[str, list[Trace]]:
    """What plays might have left; of each arm another accuracy."""
    draws = np.random.default_rng(0)

    def one(arm: Arm) -> Trace:
        return Trace(
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

    def simulate(
        settings: Settings, seeds: int, *, told: Callable[[int, int], None]
    ) -> dict[str, Any]:
        asked.append((settings, seeds))
        told(1, 2)
        told(2, 2)
        made = traces(seeds)
        return {**figures(made), "curves": curves(made)}

    monkeypatch.setattr(echo_simulate, "simulate", simulate)
    return asked


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--features", "19"], "features: must be from 20 to 5000."),
        (["--k", "3"], "k: must be from 4 to half of the features."),
        (["--features", "20", "--k", "11"], "k: must be from 4 to half of the features."),
        (["--seeds", "0"], "seeds: must be from 1 to 1000."),
        (["--questions", "79"], "questions: must be from 80 to 800000."),
        (["--questions", "800001"], "questions: must be from 80 to 800000."),
        (["--curves", "curves.png"], "curves: must end in .svg."),
        (["--curves", "no/such/place/curves.svg"], "curves: there is no folder no/such/place."),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(arguments: Sequence[str], told: str) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("echo_simulate", *arguments)
    assert str(refused.value) == told


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_played(
    tmp_path: Path, played: list[tuple[Settings, int]]
) -> None:
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(CommandError, match=r"^curves: cannot be written: .*folder\.svg"):
        call_command("echo_simulate", "--curves", str(tmp_path / "folder.svg"))
    assert played == []


def test_a_refusal_leaves_no_file_behind(tmp_path: Path) -> None:
    target = tmp_path / "curves.svg"
    with pytest.raises(CommandError):
        call_command("echo_simulate", "--seeds", "0", "--curves", str(target))
    assert not target.exists()


@pytest.mark.parametrize(
    ("questions", "messages"), [(80, 100), (81, 105), (16_000, 20_000), (800_000, 1_000_000)]
)
def test_as_many_messages_are_played_as_the_questions_take(
    questions: int, messages: int, played: list[tuple[Settings, int]]
) -> None:
    call_command("echo_simulate", "--questions", str(questions), "--seeds", "1", "--json")
    assert played == [(Settings(messages=messages), 1)]


def test_what_is_asked_for_is_what_is_played(played: list[tuple[Settings, int]]) -> None:
    call_command("echo_simulate", *SMALL, "--spam", "--drift", "--per-author", "--json")
    everything = Settings(40, 5, 100, spam=True, drift=True, per_author=True)
    assert played == [(everything, 3)]


def test_people_are_told_each_figure_with_its_interval(
    capsys: pytest.CaptureFixture[str], played: list[tuple[Settings, int]]
) -> None:
    call_command("echo_simulate", *SMALL)
    out = capsys.readouterr().out
    assert re.search(
        r"^Accuracy gained over random asking: -?0\.\d{3} \(.* to .*, n 3\)$", out, re.MULTILINE
    )
    for name in list(ARM_NAMES.values())[1:]:
        assert f"Regret against one that {name}: " in out
    assert "Calibration error of the uncertainty: " in out


@pytest.mark.parametrize(("seeds", "warned"), [("2", True), ("10", False)])
def test_few_worlds_are_told_to_tell_nothing(
    seeds: str,
    warned: bool,
    capsys: pytest.CaptureFixture[str],
    played: list[tuple[Settings, int]],
) -> None:
    call_command("echo_simulate", *SMALL[:-1], seeds)
    out = capsys.readouterr().out
    assert ("So few worlds (2) tell next to nothing" in out) is warned


def test_where_it_never_gets_there_it_is_told_what_was_not_reached(
    capsys: pytest.CaptureFixture[str],
    played: list[tuple[Settings, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {**figures(traces(3)), "question_share": {"value": None, "reason": "never_reached"}}
    told = {**found, "curves": curves(traces(3))}
    monkeypatch.setattr(echo_simulate, "simulate", lambda *_args, **_options: dict(told))
    call_command("echo_simulate", *SMALL)
    out = capsys.readouterr().out
    assert "gets as accurate as random asking ends: none: in half of these worlds" in out


def test_a_figure_without_interval_or_value_is_told_as_that() -> None:
    assert figure_words({"value": None, "reason": "never_reached"}) == "none (never reached)"
    assert figure_words({"value": 0.3, "low": None, "high": None, "n": 1}) == "0.300 (n 1)"
    told = figure_words({"value": 0.3, "low": 0.1, "high": 0.5, "n": 9})
    assert told == "0.300 (0.100 to 0.500, n 9)"


@pytest.mark.thorough
def test_curves_are_written_where_they_were_asked_for(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    played: list[tuple[Settings, int]],
) -> None:
    target = tmp_path / "curves.svg"
    call_command("echo_simulate", *SMALL, "--curves", str(target))
    assert target.read_text("utf-8").startswith("<?xml")
    assert f"Learning curves: {target}" in capsys.readouterr().out


@pytest.mark.thorough
@pytest.mark.parametrize("seeds", [1, 3])
def test_the_picture_has_one_panel_for_each_figure_and_each_arm_in_the_legend(seeds: int) -> None:
    svg = draw_curves(curves(traces(seeds)))
    assert [svg.count(f">{title}</text>") for title in PANELS] == [1, 1, 1]
    for name in ARM_NAMES.values():
        assert svg.count(f">{name}</text>") == len(PANELS)
    assert "NaN" not in svg


def test_every_arm_has_a_name_and_a_colour() -> None:
    assert list(ARM_NAMES) == [arm.name for arm in ARMS]


@pytest.mark.thorough
def test_a_real_small_run_prints_one_object_of_finite_figures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call_command("echo_simulate", *SMALL, "--json")
    out = capsys.readouterr().out
    told = json.loads(out, parse_constant=pytest.fail)
    assert out.count("\n") == 1
    assert told["settings"] == {
        "features": 40, "k": 5, "messages": 100, "seeds": 3,
        "spam": False, "drift": False, "per_author": False,
    }  # fmt: skip
    assert told["accuracy_gain"]["n"] == 3
    assert {point["figure"] for point in told["curves"]} == {"accuracy", "found", "regret"}
