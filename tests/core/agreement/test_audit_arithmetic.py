"""The small checks of printed numbers, against published examples and by their properties."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.audit import (
    audit,
    follows_from_counts,
    grim,
    increase_follows,
    mcnemar_pairs,
    mean_follows,
    mixture_follows,
    paired_t_follows,
    possible_d_rates,
    rate_follows,
    read_table,
)
from labelhub.core.errors import InvalidInput


@pytest.mark.parametrize(
    ("share", "n", "follows"),
    [
        (".6030", 500, False),
        (".7000", 277, False),
        (".6600", 277, False),
        (".7100", 277, False),
        (".5523", 277, True),
        ("94.57%", 350, True),
        ("5.19", 28, False),
        ("0.5", 1000, None),
    ],
)
def test_grim(share: str, n: int, follows: bool | None) -> None:
    assert grim(share, n).follows is follows


@given(st.integers(1, 400), st.data())
def test_every_share_of_whole_items_passes_grim(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    assert grim(f"{100 * k / n:.2f}%", n).follows is not False


def test_an_average_of_runs_has_more_possible_values() -> None:
    assert grim("41.10%", 200).follows is False
    assert grim("41.10%", 200, runs=5).follows is True


def test_possible_d_rates_of_five_calls() -> None:
    assert possible_d_rates(5) == [0.0, 0.2, 0.4, 0.6, 1.0]
    assert possible_d_rates(5, categories=2) == [0.2, 0.6, 1.0]
    assert possible_d_rates(1) == [1.0]


def test_rates_follow_from_counts() -> None:
    wrong = rate_follows(789, "10,378", "7.52%")
    assert wrong.follows is False
    assert wrong.expected == pytest.approx(7.6026, abs=1e-4)
    assert rate_follows(24, 1711, "1.40%").follows
    assert rate_follows(500, 2370, "21.09%").follows  # cut off, not rounded
    assert rate_follows(1, 0, "0%").follows is None


def test_a_ratio_is_no_increase() -> None:
    found = increase_follows("1.40%", "7.52%", "537%")
    assert (found.follows, found.reason) == (False, "ratio_read_as_increase")
    assert increase_follows("1.40%", "7.52%", "437%").follows
    assert increase_follows("1.40%", "7.52%", "300%").reason == ""


def test_groups_mix_to_the_overall_accuracy() -> None:
    assert mixture_follows([(746, "50.5"), (1027, "39.6"), (189, "25.4")], "42.38").follows
    assert not mixture_follows([(746, "50.5"), (1027, "39.6"), (189, "25.4")], "42.76").follows
    assert not mixture_follows([("0.18", "0.76"), ("0.82", "0.82")], "0.7000").follows


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=20))
def test_a_mean_of_printed_runs_follows_from_them(runs: list[int]) -> None:
    mean = sum(runs) / len(runs) / 100
    assert mean_follows([f"{run / 100:.2f}" for run in runs], f"{mean:.2f}").follows


def test_a_mean_that_does_not_follow() -> None:
    assert not mean_follows(["91.14", "92.57", "93.71", "90.28", "91.14"], "91.64").follows


def test_metrics_follow_from_counts() -> None:
    found = follows_from_counts(
        {"TP": 143, "FP": 205, "FN": 0, "TN": 2},
        {"accuracy": "41.42%", "precision": "41.10%", "recall": "99.6%", "f1": 0.5825},
    )
    assert {name: check.follows for name, check in found.items()} == {
        "accuracy": True,
        "precision": True,
        "recall": False,
        "f1": True,
    }
    assert follows_from_counts({"TP": 0, "FP": 0}, {"precision": 0})["precision"].follows is None


def test_discordant_pairs_behind_a_printed_p_value() -> None:
    assert mcnemar_pairs(".043", 12, 200).exact == ((21, 9),)
    assert mcnemar_pairs(".013", 14, 200).exact == ((21, 7),)
    assert mcnemar_pairs(".230", 8, 200).exact == ()
    assert mcnemar_pairs(".230", 8, 200).corrected == ((21, 13),)
    assert not mcnemar_pairs(".249", 7, 200).reached
    assert mcnemar_pairs("1.000", -1, 200).exact[0] == (0, 1)


def test_a_paired_t_value_and_welch_beside_it() -> None:
    baseline, ours = [93.47, 94.84, 93.62, 94.44, 95.17], [92.97, 93.28, 91.69, 90.36, 93.19]
    found = paired_t_follows(baseline, ours, "3.45")
    assert found.follows
    assert found.welch == pytest.approx(3.07, abs=0.005)
    assert paired_t_follows(baseline, ours, "4.35").follows is False
    assert paired_t_follows([1.0, 2.0], [2.0, 3.0]).paired is None


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: grim("much", 10),
        lambda: grim("0.5", 0),
        lambda: possible_d_rates(0),
        lambda: mixture_follows([], "1"),
        lambda: follows_from_counts({"TP": -1}, {}),
        lambda: mcnemar_pairs("1.2", 1, 10),
        lambda: paired_t_follows([1.0], [2.0]),
        lambda: paired_t_follows([1.0, float("nan")], [2.0, 3.0]),
    ],
)
def test_impossible_input_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        wrong()


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ('arm,clicks,impressions,CTR\nnew,789,"10,378",7.52%', "rate_does_not_follow"),
        ("before,after,increase\n1.40%,7.52%,537%", "ratio_read_as_increase"),
        ("case,D_rate,K\nx,0.04,5", "impossible_d_rate"),
        ("data,accuracy,n\nQNLI,.6030,500", "grim"),
        ("model,precision,recall,f1\na,81.0,61.0,77.0", "f1_does_not_follow"),
        ("model,x,y,average\na,10,20,15.0\nb,10,30,25.0", "mean_does_not_follow"),
        ("model,old,new,gain\na,10,20,10\nb,10,30,25", "difference_does_not_follow"),
        ("model,accuracy\na,120%", "impossible_value"),
        ("who|all three|two|overall\nx|50.0 (n=10)|20.0 (n=30)|35.0", "mixture_does_not_follow"),
        ("way,RTE,QNLI\nbase,0.41,0.60\na,0.76 (+0.35),0.82 (+0.22)\nb,0.71 (+0.30),0.80 (+0.22)",
         "difference_does_not_follow"),
    ],
)  # fmt: skip
def test_a_table_with_one_thing_wrong(table: str, code: str) -> None:
    (finding,) = audit(read_table(table)).findings
    assert finding.code == code


def test_differences_in_brackets_start_from_the_row_that_explains_most() -> None:
    table = "way,A\nfirst,64.0\nw/ x,62.0 (-2.0)\nsecond,59.0\nw/ x,62.5 (+3.5)\nw/ y,60.0 (+2.0)"
    (finding,) = audit(read_table(table)).findings
    assert finding.row is not None
    assert (finding.row.number, finding.follows) == (5, {"A": 1.0})
