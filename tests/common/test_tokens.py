"""The colours keep their promises: readable in both modes, apart for every colour vision."""

import math
import re
from itertools import combinations
from pathlib import Path

import pytest

from labelhub.core.schema import COLORS

TOKENS = Path(__file__).parents[2] / "static" / "css" / "tokens.css"
MODES = ("light", "dark")
PAPERS = ("surface", "surface-raised", "surface-sunken", "surface-hover")
TONES = ("ok", "warn", "bad", "info")
KINDS = ("llm", "crowd", "expert", "author")
QUIET_KINDS = ("model", "gold")
LABELS = [f"label-{color}" for color in COLORS]

TEXT_PAIRS = [
    *[(ink, paper) for paper in PAPERS for ink in ("ink", "ink-quiet", "accent")],
    *[(tone, paper) for tone in TONES for paper in ("surface", "surface-raised", f"{tone}-soft")],
    *[("ink", f"{tone}-soft") for tone in TONES],
    *[
        (f"kind-{kind}", paper)
        for kind in (*KINDS, *QUIET_KINDS)
        for paper in ("surface", "surface-raised", f"kind-{kind}-soft")
    ],
    ("on-accent", "accent"),
    ("on-accent", "accent-hover"),
    ("accent", "accent-soft"),
    ("ink", "accent-soft"),
    ("on-danger", "danger"),
    ("on-quote", "quote"),
]
SHAPE_PAIRS = [(line, paper) for line in ("line-strong", "focus", *LABELS) for paper in PAPERS[:2]]
#: The most of a label's colour that lies behind quoted words (components/text.css).
BEHIND_QUOTES = 0.32

#: Linear RGB as seen without one of the three cones, complete form (Machado, Oliveira and Fernandes
#: 2009, "A Physiologically-based Model for Simulation of Color Vision Deficiency", table 1).
VISIONS = {
    "full": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "without red": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "without green": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "without blue": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}

Colour = tuple[float, float, float]


def codes(mode: str) -> dict[str, str]:
    found = re.findall(
        r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", TOKENS.read_text()
    )
    return {name: pair[MODES.index(mode)] for name, *pair in found}


def colours(mode: str) -> dict[str, Colour]:
    return {name: linear(code) for name, code in codes(mode).items()}


def linear(code: str) -> Colour:
    parts = [int(code[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return red, green, blue


def contrast(first: Colour, other: Colour) -> float:
    light = [0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in (first, other)]
    return (max(light) + 0.05) / (min(light) + 0.05)


def seen(colour: Colour, vision: str) -> Colour:
    red, green, blue = (
        min(1.0, max(0.0, sum(weight * part for weight, part in zip(row, colour, strict=True))))
        for row in VISIONS[vision]
    )
    return red, green, blue


def lab(colour: Colour) -> Colour:
    red, green, blue = colour
    xyz = (
        (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
        0.2126 * red + 0.7152 * green + 0.0722 * blue,
        (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
    )
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("mode", MODES)
def test_all_text_is_readable(mode: str) -> None:
    known = colours(mode)
    poor = {
        pair: round(contrast(known[pair[0]], known[pair[1]]), 2)
        for pair in TEXT_PAIRS
        if contrast(known[pair[0]], known[pair[1]]) < 4.5
    }
    assert poor == {}


@pytest.mark.parametrize("mode", MODES)
def test_edges_of_controls_and_the_focus_are_visible(mode: str) -> None:
    known = colours(mode)
    poor = {pair for pair in SHAPE_PAIRS if contrast(known[pair[0]], known[pair[1]]) < 3}
    assert poor == set()


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("names", "least"),
    [([f"kind-{kind}" for kind in KINDS], 20), (LABELS, 15)],
    ids=["kinds", "labels"],
)
def test_kinds_and_labels_stay_apart_for_every_colour_vision(
    mode: str, vision: str, names: list[str], least: float
) -> None:
    known = colours(mode)
    places = {name: lab(seen(known[name], vision)) for name in names}
    near = {
        (first, other): round(math.dist(places[first], places[other]), 1)
        for first, other in combinations(names, 2)
        if math.dist(places[first], places[other]) < least
    }
    assert near == {}


@pytest.mark.parametrize("mode", MODES)
def test_quoted_words_are_readable_on_the_colour_of_their_label(mode: str) -> None:
    known = codes(mode)
    poor = {
        label: round(contrast(linear(known["ink"]), behind), 2)
        for label in LABELS
        if contrast(linear(known["ink"]), behind := mixed(known[label], known["surface-raised"]))
        < 4.5
    }
    assert poor == {}


def mixed(color: str, paper: str) -> Colour:
    """As ``color-mix(in srgb, color, paper)`` paints behind quotes."""
    parts = [
        round(
            BEHIND_QUOTES * int(color[start : start + 2], 16)
            + (1 - BEHIND_QUOTES) * int(paper[start : start + 2], 16)
        )
        for start in (1, 3, 5)
    ]
    return linear("#" + "".join(f"{part:02x}" for part in parts))
