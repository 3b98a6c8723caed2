"""What can be set about protocols: read from words and numbers, refused by name."""

from typing import Any

import pytest

from labelhub.core.debate import PROTOCOLS, CallCount, protocol
from labelhub.core.debate.info import InvalidSetting
from tests.cases import all_cases

#: Calls and dependent depth of an item under the usual settings, as the papers have them.
COUNTS = {
    "single": (1, 1, 1, 1),
    "cot": (1, 1, 1, 1),
    "self_consistency": (5, 5, 1, 1),
    "self_refine": (3, 3, 3, 3),
    "vote": (3, 3, 1, 1),
    "ecj": (3, 3, 3, 3),
    "discussion": (3, 9, 1, 3),
    "courtroom": (6, 6, 5, 5),
    "predict": (1, 1, 1, 1),
    "cascade": (5, 8, 1, 4),
}


@all_cases("name", PROTOCOLS)
def test_calls_and_depth_are_known_beforehand(name: str) -> None:
    info = protocol(name)
    assert info.calls(info.read_settings({})) == CallCount(*COUNTS[name])


@all_cases(
    ("name", "setting", "raw", "menu"),
    [
        ("self_consistency", "samples", 1, "a whole number from 2 to 25"),
        ("self_consistency", "samples", 26, "a whole number from 2 to 25"),
        ("self_consistency", "samples", 2.5, "a whole number from 2 to 25"),
        ("self_consistency", "samples", True, "a whole number from 2 to 25"),
        ("self_consistency", "samples", None, "a whole number from 2 to 25"),
        ("self_consistency", "samples", "inf", "a whole number from 2 to 25"),
        ("self_consistency", "samples", 10**400, "a whole number from 2 to 25"),
        ("self_consistency", "temperature", float("nan"), "a number from 0 to 2"),
        ("self_consistency", "temperature", 2.1, "a number from 0 to 2"),
        ("courtroom", "judges", 2, "one of 1, 3, 5"),
        ("courtroom", "deliberation", "loud", "one of sequential, parallel"),
        ("courtroom", "deliberation", 1, "one of sequential, parallel"),
        ("courtroom", "precedents", 4, "a whole number from 0 to 3"),
        ("cascade", "first", "cascade", "one of self_consistency, single, cot, vote"),
    ],
)
def test_what_cannot_be_set_is_refused_with_what_can(
    name: str, setting: str, raw: Any, menu: str
) -> None:
    with pytest.raises(InvalidSetting) as caught:
        protocol(name).read_settings({setting: raw})
    assert str(caught.value) == f"{setting}: '{raw}' is not possible; it must be {menu}."


@pytest.mark.parametrize(
    ("name", "given", "known"),
    [
        ("cot", {"samples": 3}, "none"),
        ("single", {"samples": 3}, "quotes"),
        ("vote", {"samples": 3}, "annotators"),
        ("cascade", {"first": "single", "first.samples": 3}, "first, then, theta, margin, flagged"),
    ],
)
def test_an_unknown_setting_is_refused_with_the_known_ones(
    name: str, given: dict[str, Any], known: str
) -> None:
    with pytest.raises(InvalidSetting, match=f"is unknown; the settings are: {known}"):
        protocol(name).read_settings(given)
