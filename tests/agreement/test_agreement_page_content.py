"""What the agreement page and the words of its command tell, number by number."""

import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from apps.agreement.over_time import why_not_over_time
from apps.agreement.reporting import agreement_report
from apps.agreement.sheets.slicing import Slice
from apps.agreement.standing.comparing import compared_kinds, p_words, points
from apps.agreement.standing.methods import doubts, interval_methods
from apps.agreement.standing.part import part_words
from apps.agreement.standing.sureness import sureness
from apps.agreement.standing.wording import sentences
from apps.labels.models import Label
from apps.labels.services import import_labels
from apps.projects.models import Project
from tests.agreement.page_help import TRUE, B, G, moods, page, wrong_every
from tests.agreement.report_help import six_moods
from tests.factories.labels import draft, open_several
from tests.factories.ledger import ledger
from tests.factories.projects import MOODS, ProjectFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """Forty items with their author's answer; experts better than the crowd, a machine worst."""
    return moods()


def seen(project: Project, address: str = "", **query: str) -> str:
    """The page as one line of words, without its markup."""
    html = page(project, address, **query).content.decode()
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def said(project: Project, *options: str) -> str:
    """What the command prints."""
    out = StringIO()
    call_command("agreement", project.slug, *options, stdout=out)
    return out.getvalue()


@pytest.mark.thorough
def test_who_is_right_more_often_than_whom_is_a_table(project: Project) -> None:
    report = agreement_report(project)
    pairs = {
        frozenset((one["a"], one["b"])): one for one in report["comparisons"]["author"]["pairs"]
    }
    told = pairs[frozenset(("llm", "expert"))]
    only = {told["a"]: told["only_a"], told["b"]: told["only_b"]}

    found = compared_kinds(report)[0]
    row = next(one for one in found.pairs if {one.better, one.worse} == {"llm", "expert"})
    assert (row.better, row.only_better, row.only_worse) == ("expert", only["expert"], only["llm"])
    assert row.words == "Expert more often than LLM"
    assert row.difference.startswith("+")
    words = seen(project)
    for part in ("Who is right more often than whom", row.words, row.difference, "Beyond chance"):
        assert part in words
    for method in (report["comparisons"]["author"]["method"], told["method"]):
        assert method.replace("'", "&#x27;") in words
    assert f"Q {report['comparisons']['author']['cochran_q']:.2f}" in words


def test_what_may_be_chance_is_not_called_more_often() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    ledger(made, {"crowd:a": [G, B, G, B], "expert:e": [G, B, G, G], "author:w": [G, B, G, G]})

    found = compared_kinds(agreement_report(made))[0]
    assert [(one.words, one.settled) for one in found.pairs] == [("Expert and Crowd", False)]
    assert "May be chance" in seen(made)


def test_a_kind_that_decided_gold_itself_is_not_independent_in_comparisons() -> None:
    made = six_moods()
    report = dict(agreement_report(made))
    told = {**report["against_gold"]["expert"], "own_decisions": 6}
    report["against_gold"] = {**report["against_gold"], "expert": told}

    by_gold = next(one for one in compared_kinds(report) if one.truth.by == "gold")
    own = {frozenset((one.better, one.worse)): list(one.own) for one in by_gold.pairs}
    assert own[frozenset(("crowd", "expert"))] == ["expert"]
    assert own[frozenset(("crowd", "llm"))] == []


@pytest.mark.parametrize(
    ("p", "words"),
    [(None, "–"), (0.0004, "< 0.001"), (0.0479, "0.048"), (0.0496, "0.050"), (0.347, "0.35")],
)
def test_p_values_keep_what_decides(p: float | None, words: str) -> None:
    assert p_words(p) == words


def test_a_difference_is_in_points_whichever_way_it_is_told() -> None:
    told = {"value": -0.13, "low": -0.26, "high": -0.004}

    assert points(told) == "−13 (−26 to 0)"
    assert points(told, turned=True) == "+13 (0 to +26)"
    assert points({"value": 0.1, "low": None, "high": None}) == "+10"
    assert points({"value": None}) == "–"


@pytest.mark.thorough
def test_every_way_of_putting_labels_together_stands_beside_the_majority(project: Project) -> None:
    words = seen(project)

    for way in ("single labels", "most frequent answer", "Dawid–Skene", "MACE", "weighted vote"):
        assert way in words
    # The machine is one annotator: the reason stands there, nobody has to point at a dash.
    assert words.count("Needs two annotators of this kind.") >= 3
    assert re.search(r"Dawid–Skene\s+Needs two annotators of this kind\. \d+ % .*? n 40", words)


@pytest.mark.thorough
def test_ties_that_are_left_out_are_counted() -> None:
    made = six_moods()
    assert agreement_report(made)["against_author"]["crowd"]["ties"] == 2

    # Beside the trust table, the other measures and the matrices.
    assert seen(made).count("Items with a tie are not in it: Crowd 2") >= 3
    assert "Items with a tie are not in it: Crowd 2" in said(made)


@pytest.mark.thorough
def test_the_methods_named_are_those_of_the_figures(project: Project) -> None:
    report = agreement_report(project)
    assert "Wilson" in interval_methods(report)
    assert any("over items" in method for method in interval_methods(report))
    for method in interval_methods(report):
        assert method.replace("'", "&#x27;") in seen(project)


def test_where_items_belong_together_the_page_says_over_what_it_draws() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    items = [open_several(made, 1, meta={"user_id": f"u{at // 2}"})[0] for at in range(40)]
    ledger(made, {"crowd:a": wrong_every(3), "crowd:b": wrong_every(4), "author:w": TRUE}, items)
    report = agreement_report(made)

    assert any("over users" in method for method in interval_methods(report))
    assert "over users" in seen(made)
    assert all(": " not in doubt.split(" ")[0] for doubt in doubts(report))


def test_how_sure_a_machine_is_stands_beside_how_often_it_is_right() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    items, annotators = ledger(made, {"llm:m": [None] * 40, "author:w": TRUE})
    values = wrong_every(4)
    import_labels(
        made,
        [
            draft(item, annotators["llm:m"], value, confidence=0.9 if at < 20 else 0.7)
            for at, (item, value) in enumerate(zip(items, values, strict=True))
        ],
    )

    (found,) = sureness(agreement_report(made))
    # Right on 30 of 40; 15 of 20 in each half: |0.9 − 0.75| and |0.7 − 0.75|, each for a half.
    assert (found.n, found.sure, found.right, found.error) == (40, "80 %", "75 %", "10")
    # (15·0.01 + 5·0.81 + 15·0.09 + 5·0.49) / 40
    assert found.brier == "0.20"
    words = seen(made)
    assert "Is a machine as right as it is sure?" in words
    assert "expected calibration error" in words
    assert "calibration error 10 points, Brier 0.20, n 40" in said(made)


@pytest.mark.thorough
def test_coefficients_have_two_digits_and_shares_none_everywhere(project: Project) -> None:
    for words in (seen(project), seen(project, "report.html")):
        tables = words[words.index("Within each kind") :]
        for value in re.findall(r"(?<![\d.])[01]\.\d+(?= n \d)", tables):
            assert re.fullmatch(r"[01]\.\d\d", value)
        assert re.findall(r"\d+ % (?:\S+ to \S+ %)?", tables)
        assert not re.findall(r"\d\.\d+ % n \d", tables)


@pytest.mark.thorough
def test_wide_tables_keep_to_the_kinds(project: Project) -> None:
    html = page(project).content.decode()

    for label in ("Agreement within each kind", "Against the author", "More measures against"):
        head = html.split(f'aria-label="{label}')[1].split("</thead>")[0]
        assert head.count("<th ") <= 7


@pytest.mark.thorough
def test_a_cell_of_trust_can_be_read_without_pointing_at_it(project: Project) -> None:
    html = page(project).content.decode()
    table = html.split('aria-label="Data of: Whom to trust for what"')[1].split("</table>")[0]

    counts = agreement_report(project)["against_author"]["crowd"]["per_label"][0]["counts"]
    row = next(one for one in table.split("<tr>") if "<td>Crowd</td>" in one)
    numbers = re.findall(r">([\d,]+)</a>|numeric\">0</td>", row)
    assert [int(number or 0) for number in numbers] == [
        counts["predicted_yes_gold_yes"],
        counts["predicted_yes_gold_no"],
        counts["predicted_no_gold_yes"],
    ]


@pytest.mark.thorough
def test_the_trust_table_can_be_taken_along(project: Project) -> None:
    answer = page(project, "figures/trust.csv")

    header, *rows = answer.content.decode().splitlines()
    assert header.startswith("label,kind,value,low,high,n")
    assert header.endswith("rightly said,wrongly said,missed")
    assert len(rows) == 3 * 2


@pytest.mark.thorough
def test_the_numbers_in_the_file_lead_nowhere(project: Project) -> None:
    html = page(project, "report.html").content.decode()

    assert "Whom to trust for what" in html
    assert "agreement/items" not in html


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, ""),
        ({"tag": "urgent"}, "Only items tagged “urgent”"),
        ({"tag": "user_id=7"}, "Only items with “user_id=7”"),
        (
            {"kind": "crowd", "label": "good"},
            "Only labels by the crowd; whether it is “good” or not",
        ),
        (
            {"since": "2026-01-01", "until": "2026-01-03"},
            "Only labels from 2026-01-01 to 2026-01-03",
        ),
        ({"until": "2026-01-03"}, "Only labels up to 2026-01-03"),
        ({"run": "3", "replicate": "2"}, "Only of machines the labels of run 3, replicate 2"),
        ({"annotator": "12"}, "Only labels by annotator 12"),
    ],
)
def test_a_part_of_the_labels_is_told_in_words(asked: dict[str, str], words: str) -> None:
    assert part_words({"slice": asked}) == words


@pytest.mark.thorough
def test_a_part_of_the_labels_says_that_it_is_one_and_so_do_its_verdicts(project: Project) -> None:
    words = seen(project, label=G)
    assert "Only whether it is “good” or not" in words
    assert "about this part of the labels only" in words
    assert "stand in for people in this part of the labels" in words
    assert "for this part" in words

    sliced = agreement_report(project, Slice(label=G))
    assert any("in this part of the labels" in one.text for one in sentences(sliced))
    everything = seen(project)
    assert "this part" not in everything
    assert "about this part of the labels only" in said(project, "--label", G)


@pytest.mark.thorough
def test_the_command_says_the_same_in_short(project: Project) -> None:
    words = said(project)

    assert words.startswith("In short\n")
    for one in sentences(agreement_report(project)):
        assert f"  {one.text}\n" in words
    assert "Expert more often than LLM: +" in words
    assert "no number: Needs two annotators of this kind." in words
    assert "alpha_nominal" not in words


def test_over_time_says_which_reason_it_has(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "All labels by people were given on one day." in seen(project, "over-time/")
    monkeypatch.setattr("apps.agreement.over_time.MOST_LABELS", 10)
    assert "200 labels by people are too many" in seen(project, "over-time/")
    assert why_not_over_time(ProjectFactory.create(), Slice()) == "No labels by people yet."


def test_over_time_says_that_nothing_was_given_then(project: Project) -> None:
    first = Label.objects.filter(annotator__project=project).earliest("created_at").created_at
    long_ago = (first - timedelta(days=90)).date()

    why_not = why_not_over_time(project, Slice(until=long_ago))
    assert why_not == "No labels by people on these days."


@pytest.mark.thorough
def test_what_is_sure_enough_to_be_settled_is_so_in_words_and_table(project: Project) -> None:
    report: Any = agreement_report(project)
    found = compared_kinds(report)[0]
    best = {one.better for one in found.pairs}
    first = sentences(report)[1].text

    top = [one for one in found.pairs if {one.better, one.worse} == {"expert", "crowd"}]
    assert "expert" in best
    assert ("nothing is settled" in first) is not top[0].settled
