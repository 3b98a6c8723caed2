"""The tables' numbers, set against what was computed by hand from debates of known outcome."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from apps.agreement.papers.setups import Setup
from tests.agreement.paper_help import another_offline, labelled, row_of, scripted, values

pytestmark = pytest.mark.django_db(transaction=True)

METRICS = ("Accuracy", "Precision", "Recall", "F1")
COUNTS = ("TP", "FP", "FN", "TN")
Ended = tuple[Any, Mapping[str, Any]]


@pytest.fixture(autouse=True)
def no_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test database is there already."""
    monkeypatch.setattr("apps.common.commands.prepare_database", lambda: None)


@pytest.fixture
def aspects(tmp_path: Path) -> Path:
    """Four reviews: two are about cleanliness."""
    golds = [["Clean"], ["Clean", "Food"], ["Food"], []]
    return labelled(tmp_path, golds)


def test_000_t2_means_metrics_of_passes_and_counts_by_the_right_names(aspects: Path) -> None:
    passes: dict[int, list[Any]] = {
        1: [["Clean"], [], ["Clean"], []],
        2: [["Clean"], ["Clean"], [], None],
    }

    def says(_: Setup, at: int, replicate: int) -> Ended:
        return passes[replicate][at], {}

    table = scripted(says, "000.T2", aspects, "--aspect", "clean", "--replicates", 2)

    (row,) = table["rows"]
    assert table["columns"] == ["Model", *METRICS, *COUNTS]
    assert row["Model"] == "offline"
    # Pass 1: TP FP FN TN are 1 1 1 1; pass 2: 2 0 0 1, and one answer that is wrong by its absence.
    assert values(row, *METRICS) == [0.625, 0.75, 0.75, 0.75]
    assert values(row, *COUNTS) == [1.5, 0.5, 0.5, 1.0]
    assert row["Accuracy"]["n"] == 4
    assert "the passes of an item go together" in row["Accuracy"]["method"]
    assert any("under each other's heading" in note for note in table["notes"])
    assert any("1 debate without a usable answer" in note for note in table["notes"])


def test_000_t6_has_a_row_for_each_aspect(aspects: Path) -> None:
    answers = [["Clean"], ["Clean"], ["Food", "Clean"], []]
    table = scripted(lambda _, at, __: (answers[at], {}), "000.T6", aspects, "--replicates", 1)

    assert table["columns"] == ["Aspect", "Accuracy", "F1 Score"]
    clean, food = row_of(table, Aspect="Clean"), row_of(table, Aspect="Food")
    assert values(clean, "Accuracy", "F1 Score") == [0.75, 0.8]
    assert values(food, "Accuracy", "F1 Score") == [0.75, 0.6667]
    assert clean["Accuracy"]["method"] == "Wilson"


@pytest.mark.thorough
def test_000_t5_mixes_models_in_either_order_for_each_judge(aspects: Path) -> None:
    for name in ("b", "c", "d"):
        another_offline(name)
    roles = ("extractor=offline", "extractor=b", "critic=c", "judge=b", "judge=d")
    models = [part for role in roles for part in ("--model", role)]

    def says(setup: Setup, at: int, _: int) -> Ended:
        right = [["Clean"], ["Clean"], [], []]
        return right[at] if setup.models["extractor"].name == "c" else [], {}

    args = ("000.T5", aspects, "--aspect", "Clean", "--replicates", 1, *models)
    table = scripted(says, *args)

    trios = [(row["Extractor"], row["Critic"], row["Judge"]) for row in table["rows"]]
    first = [("offline", "c"), ("c", "offline"), ("b", "c"), ("c", "b")]
    assert trios == [(*pair, judge) for judge in ("b", "d") for pair in first]
    assert values(table["rows"][1], *METRICS) == [1, 1, 1, 1]
    assert values(table["rows"][0], *METRICS) == [0.5, None, 0.0, 0.0]
    assert table["rows"][0]["Precision"]["reason"] == "the label was never predicted"


@pytest.mark.thorough
def test_001_t1_sets_methods_against_the_plain_answer(tmp_path: Path) -> None:
    path = labelled(tmp_path, ["a"] * 8 + ["b"] * 8)
    wrong = {"single": range(8), "cot": range(0), "self_refine": range(7), "self_consistency": [15]}

    def says(setup: Setup, at: int, _: int) -> Ended:
        gold, other = ("a", "b") if at < 8 else ("b", "a")
        return (other if at in wrong[setup.protocol] else gold), {}

    table = scripted(says, "001.T1", path)

    assert table["columns"] == ["Model / Method", "data"]
    found = [values(row, "data")[0] for row in table["rows"]]
    assert found == [0.5, 1.0, 0.5625, 0.9375]
    cot = row_of(table, **{"Model / Method": "w/ CoT"})["data"]
    assert (cot["won"], cot["lost"], cot["change"]["value"]) == (8, 0, 0.5)
    assert cot["p"] == pytest.approx(2 / 2**8)
    # Three comparisons: .0078 is the least and counts three times.
    assert cot["p_holm"] == pytest.approx(6 / 2**8)
    many = row_of(table, **{"Model / Method": "w/ self-consistency"})["data"]
    assert many["p"] == pytest.approx(2 * (1 + 9) / 2**9)


#: Four debates of three annotators: gold a, a, b, b.
ROUNDS = [
    ["aaa"],
    ["abb", "aab", "aaa"],
    ["aab", "aaa"],
    ["abb", "abb", "abb"],
]
ENDED = ["a", "a", "a", "b"]


def discussed(_: Setup, at: int, __: int) -> Ended:
    """The discussion of one item."""
    rounds = [dict(zip("ABC", said, strict=True)) for said in ROUNDS[at]]
    return ENDED[at], {"rounds": rounds}


@pytest.fixture
def discussion(tmp_path: Path) -> tuple[Any, ...]:
    """The file, and three models."""
    for name in ("b", "c"):
        another_offline(name)
    models = ("--model", "offline", "--model", "b", "--model", "c")
    return (labelled(tmp_path, ["a", "a", "b", "b"]), *models)


def test_001_f2_follows_accuracy_and_kappa_by_round(discussion: tuple[Any, ...]) -> None:
    table = scripted(discussed, "001.F2", *discussion)

    rounds = ("Initial", "R1", "R2")
    assert table["columns"] == ["File", "Models", "Agent", *rounds]
    assert values(row_of(table, Agent="offline"), *rounds) == [0.5, 0.5, 0.5]
    assert values(row_of(table, Agent="b"), *rounds) == [0.5, 0.75, 0.75]
    assert values(row_of(table, Agent="c"), *rounds) == [0.75, 0.5, 0.75]
    framework = row_of(table, Agent="Discussion framework")
    assert values(framework, *rounds) == [0.5, 0.75, 0.75]
    kappa = row_of(table, Agent="Fleiss' kappa")
    chance = (7 / 12) ** 2 + (5 / 12) ** 2
    assert kappa["Initial"]["value"] == pytest.approx((0.5 - chance) / (1 - chance))


def test_001_f3_shows_the_gap_to_the_upper_bound(discussion: tuple[Any, ...]) -> None:
    table = scripted(discussed, "001.F3", *discussion)

    found = {row["Method"]: values(row, "data")[0] for row in table["rows"]}
    assert list(found.values()) == [0.5, 0.75, 0.25, 1.0, 0.25]
    assert next(iter(found)) == "CoT MV"
    gain = row_of(table, Method="Discussion - CoT MV")["data"]
    assert (gain["won"], gain["lost"], gain["p"]) == (1, 0, 1.0)


def test_001_f4_counts_who_changes_and_whether_rightly(discussion: tuple[Any, ...]) -> None:
    table = scripted(discussed, "001.F4", *discussion)

    nodes, flows = ("✓", "✗"), ("✓→✓", "✓→✗", "✗→✓", "✗→✗")
    assert values(row_of(table, Agent="c", Stage="Initial"), *nodes) == [3, 1]
    first = row_of(table, Agent="c", Stage="R1")
    assert values(first, *nodes, *flows) == [1, 2, 1, 1, 0, 1]
    assert values(first, "Kept ✓", "Kept ✗") == [0.5, 1.0]
    second = row_of(table, Agent="c", Stage="R2")
    assert values(second, *nodes, *flows) == [2, 0, 1, 0, 1, 0]
    assert values(row_of(table, Agent="all agents", Stage="Consensus"), *nodes) == [2, 1]
    assert values(row_of(table, Agent="all agents", Stage="MV"), *nodes) == [1, 0]


#: Gold y, y, n, n: what each structure says of the four items.
COURT: dict[str, list[Ended]] = {
    "single": [("y", {}), ("n", {}), ("n", {}), ("y", {})],
    "vote": [
        ("y", {"d_rate": 1.0}),
        ("n", {"d_rate": 0.3333}),
        ("n", {"d_rate": 1.0}),
        ("n", {"d_rate": 0.3333}),
    ],
    "parallel": [
        ("y", {"first": "y", "verdicts": ["y", "y", "y"]}),
        ("y", {"first": "n", "verdicts": ["y", "y", "n"]}),
        ("n", {"first": "n", "verdicts": ["n", "n", "n"]}),
        ("y", {"first": "n", "verdicts": ["y", "y", "y"]}),
    ],
    "sequential": [
        ("y", {"first": "y", "verdicts": ["y", "y", "y"]}),
        ("y", {"first": "n", "verdicts": ["n", "y", "y"]}),
        ("n", {"first": "n", "verdicts": ["n", "n", "n"]}),
        ("n", {"first": "n", "verdicts": ["y", "n", "n"]}),
    ],
}


def tried(setup: Setup, at: int, _: int) -> Ended:
    """What a structure says of one item."""
    return COURT[setup.settings.get("deliberation", setup.protocol)][at]


@pytest.fixture
def court(tmp_path: Path) -> tuple[Any, ...]:
    """The file, and three judges."""
    return labelled(tmp_path, ["y", "y", "n", "n"]), "--judges", 3


@pytest.mark.thorough
def test_002_t3_has_a_column_for_each_number_of_precedents(court: tuple[Any, ...]) -> None:
    table = scripted(tried, "002.T3", *court, "--precedents", "0,1")

    heads = ["Task", "LLM", "Structure", "# of decision maker", "0", "1"]
    assert table["columns"] == heads
    names = [
        (row["LLM"], row.get("Structure"), row["# of decision maker"]) for row in table["rows"]
    ]
    assert names == [
        ("single", None, "1"),
        ("multi", "Parallel N-LLM", "3"),
        ("multi", "Courtroom (Parallel Judges)", "3"),
        ("multi", "Courtroom (Sequential Judges)", "3"),
    ]
    assert [values(row, "0")[0] for row in table["rows"]] == [0.5, 0.75, 0.75, 1.0]
    assert values(table["rows"][3], "1") == [1.0]


def test_002_t4_tells_ambiguous_from_normal_items(court: tuple[Any, ...]) -> None:
    table = scripted(tried, "002.T4", *court)

    assert table["columns"] == ["Structure", "Amb", "Nor"]
    assert [values(row, "Amb", "Nor") for row in table["rows"]] == [
        [0.5, 0.5],
        [0.0, 1.0],
        [0.5, 1.0],
        [0.5, 1.0],
        [1.0, 1.0],
    ]
    changes = [row["Amb"].get("change", {}).get("value") for row in table["rows"]]
    assert changes == [None, None, 0.5, 0.5, 1.0]


def test_002_f6_agreement_of_parallel_judges(court: tuple[Any, ...]) -> None:
    (row,) = scripted(tried, "002.F6", *court)["rows"]
    assert values(row, "All", "Amb", "Nor") == [0.8333, 0.6667, 1.0]
    # 8 of 12 votes are y.
    chance = (8 / 12) ** 2 + (4 / 12) ** 2
    assert row["κ All"]["value"] == pytest.approx((5 / 6 - chance) / (1 - chance))


def test_002_f7_agreement_of_judges_in_sequence(court: tuple[Any, ...]) -> None:
    table = scripted(tried, "002.F7", *court)
    assert table["columns"] == ["Data", "Type", "1-2", "2-3"]
    found = {row["Type"]: values(row, "1-2", "2-3") for row in table["rows"]}
    assert found == {"All": [0.5, 1.0], "Amb": [0.0, 1.0], "Nor": [1.0, 1.0]}


def test_002_f8_decisions_that_trials_change(court: tuple[Any, ...]) -> None:
    table = scripted(tried, "002.F8", *court)
    columns = ("Changed", "w→c", "c→w", "w→w")
    assert [values(row, *columns) for row in table["rows"]] == [
        [0.5, 0.25, 0.25, 0.0],
        [0.25, 0.25, 0.0, 0.0],
    ]
    assert table["rows"][0]["w→c"]["p"] == 1.0
    assert table["rows"][0]["w→c"]["test"] == "exact McNemar test, two-sided"


@pytest.mark.thorough
@pytest.mark.parametrize(("code", "row", "column"), [("002.F8", 1, "w→c"), ("002.T4", 4, "Amb")])
def test_passes_of_an_item_are_no_new_items(
    court: tuple[Any, ...], code: str, row: int, column: str
) -> None:
    """A trial mends one item, or two, five times the same way: so few prove nothing."""
    table = scripted(tried, code, *court, "--replicates", 5)
    cell = table["rows"][row][column]
    assert cell["p"] > 0.4
    assert cell["test"].startswith("sign-flip permutation test of rates by item, two-sided")
    assert not any("McNemar" in note for note in table["notes"])
