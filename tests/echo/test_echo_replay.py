"""``manage.py echo_replay``: refuses in one line, tells figures in words, in JSON and drawn."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.echo.learning_curves import REPLAYED, draw_curves
from apps.echo.management.commands import echo_replay
from labelhub.core.echo.replay.labelled_texts import Labelled
from labelhub.core.echo.replay.report import (
    AHEAD,
    ARMS,
    BEHIND,
    LEVEL,
)
from tests.cases import all_cases
from tests.core.echo.replay.plants import texts_with


def written(path: Path, data: Labelled) -> str:
    """A file of labelled texts, of the kind that its name says."""
    pairs = [
        (text, data.values[place]) for text, place in zip(data.texts, data.labels, strict=True)
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            csv.writer(file).writerows([("text", "label"), *pairs])
        else:
            file.writelines(json.dumps({"text": a, "label": b}) + "\n" for a, b in pairs)
    return str(path)


@pytest.fixture
def easy(tmp_path: Path) -> str:
    return written(tmp_path / "easy.jsonl", texts_with(90, telling=True))


def refused(*arguments: str) -> str:
    with pytest.raises(CommandError) as refusal:
        call_command("echo_replay", *arguments)
    return str(refusal.value)


@all_cases(
    ("arguments", "message"),
    [
        (["--orders", "0"], "orders: must be from 1 to 1000."),
        (["--share", "1"], "share: must be from 0.05 to 0.9."),
        (["--share", "nan"], "share: must be from 0.05 to 0.9."),
        (["--bands", "1"], "bands: must be from 2 to 10."),
        (["--curves", "curves.png"], "curves: must end in .svg."),
        (["--curves", "no/such/place/curves.svg"], "curves: there is no folder no/such/place."),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    arguments: Sequence[str], message: str, easy: str
) -> None:
    assert refused(easy, *arguments) == message


def test_a_file_that_is_not_there_or_cannot_be_read_is_refused(tmp_path: Path) -> None:
    assert refused("nowhere.jsonl") == "nowhere.jsonl cannot be read: No such file or directory."
    assert refused(str(tmp_path)) == f"{tmp_path} cannot be read: Is a directory."
    assert refused("a\0b").endswith("cannot be read: invalid name.")


def test_lines_that_are_bad_are_named(easy: str) -> None:
    with Path(easy).open("a", encoding="utf-8") as file:
        file.write('{"text": "\\u001b[2J", "label": "\\u001b[2J"}\n{"text": 1}\n[]\n')
    assert refused(easy) == (
        "line 91: 'label' is longer than 100 characters or cannot be printed; "
        "line 92: 'text' is no text; line 93: is no JSON object."
    )


@pytest.mark.thorough
def test_the_same_replay_twice_is_the_same_to_the_last_bit_and_is_one_object(
    easy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = []
    for _ in range(2):
        call_command("echo_replay", easy, "--orders", "2", "--json")
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert printed[0].count("\n") == 1
    report = json.loads(printed[0], parse_constant=pytest.fail)
    assert set(report) == {
        "feature", "settings", "counts", "values", "accuracy", "log_loss", "unasked", "area",
        "gain", "area_gain", "commonest", "over_commonest", "learnt", "ece", "ece_pooled",
        "findings", "curves",
    }  # fmt: skip
    assert report["settings"] == {
        "text": "text", "label": "label", "bands": 0, "orders": 2, "share": 0.33,
    }  # fmt: skip
    assert report["feature"] == "label"
    assert {point["figure"] for point in report["curves"]} == set(REPLAYED.titles)


def test_every_arm_has_a_name() -> None:
    assert list(REPLAYED.arms) == list(ARMS)
    assert draw_curves([], REPLAYED).count("<polyline") == 0


@pytest.mark.parametrize("learnt", [AHEAD, LEVEL, BEHIND])
@pytest.mark.parametrize("than", [AHEAD, LEVEL, BEHIND])
def test_every_outcome_has_its_words(learnt: str, than: str) -> None:
    findings = {"learnt": learnt, "over_commonest": than, "area_gain": {"random": than}}
    assert len(echo_replay._found_words(findings)) == 3
