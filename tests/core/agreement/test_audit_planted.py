"""Faults planted in right tables are found, and right tables are left alone, however printed."""

import random

import pytest

from labelhub.core.agreement.audit import Audit, Finding, audit, read_table
from labelhub.core.agreement.audit.findings import NOTE
from tests.core.agreement.planted import MAKERS, style_of

SEEDS = range(12)
#: What is said of p-values that are right.
HOLM = "after_holm"


def audited(name: str, seed: int, *, fault: bool) -> Audit:
    dice = random.Random(seed)  # noqa: S311 - makes tables, no secrets
    table = MAKERS[name](dice, style_of(dice), fault)
    return audit(read_table(table.text()), items=table.known.get("items"))


def doubtful(found: Audit) -> list[Finding]:
    return [one for one in found.findings if one.severity != NOTE and one.code != HOLM]


@pytest.mark.thorough
@pytest.mark.parametrize("name", MAKERS)
def test_a_planted_fault_is_found(name: str) -> None:
    code = "rate_does_not_follow" if name == "rate_of_all" else name
    for seed in SEEDS:
        assert code in {one.code for one in doubtful(audited(name, seed, fault=True))}, seed


@pytest.mark.thorough
@pytest.mark.parametrize("name", MAKERS)
def test_right_numbers_rounded_or_cut_off_yield_nothing(name: str) -> None:
    for seed in SEEDS:
        found = audited(name, seed, fault=False)
        assert [one.sentence for one in doubtful(found)] == [], seed
        assert sum(found.checked.values()) > 0


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("Mean pooling\t10.0\t99.0", 0),  # a system of that name
        ("Average\t10.0\t99.0", 0),  # of other rows than these
        ("Average\t60.0\t99.0", 1),
        ("Macro avg\t60.0\t80.0", 0),
    ],
)
def test_a_row_is_an_average_by_its_name_and_where_some_cell_is(row: str, found: int) -> None:
    table = read_table(f"Model\tours\ttheirs\na\t50.0\t70.0\nb\t70.0\t90.0\n{row}")
    assert len(doubtful(audit(table))) == found


def test_a_total_is_the_sum_of_its_rows() -> None:
    table = read_table("Label\tCount\tn\na\t10\t20\nb\t12\t30\nTotal\t23\t50")
    (one,) = doubtful(audit(table))
    assert (one.code, one.columns, one.follows) == (
        "total_row_does_not_follow",
        ("Count",),
        {"Count": 22},
    )


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ("0.70\t0.73", ["impossible_kappa"]),
        ("0.70\t0.70", []),
        ("70%\t0.40", []),
        ("0.90\t-0.30", ["impossible_kappa"]),
        ("0.90\t-0.05", []),
        ("1.00\t1.00", []),
        ("0.00\t-1.00", []),
    ],
)
def test_kappa_has_little_room_at_a_given_agreement(cells: str, found: list[str]) -> None:
    table = read_table(f"pair\tagreement\tkappa\na b\t{cells}")
    assert [one.code for one in doubtful(audit(table))] == found


def test_kappa_follows_from_the_agreement_by_chance() -> None:
    head = "pair\tagreement\tpe\tkappa\n"
    right, wrong = (read_table(f"{head}a b\t0.80\t0.50\t{kappa}") for kappa in ("0.60", "0.66"))
    assert doubtful(audit(right)) == []
    assert [one.code for one in doubtful(audit(wrong))] == ["impossible_kappa"]


@pytest.mark.parametrize(
    "interval", ["0.75 [0.70, 0.80]", "0.75 (0.70; 0.80)", "0.75 (95% CI 0.70 to 0.80)"]
)
def test_an_interval_in_the_cell_holds_its_value(interval: str) -> None:
    for value, codes in (("0.75", []), ("0.91", ["outside_interval"])):
        cell = interval.replace("0.75", value)
        table = read_table(f"model\taccuracy\tnote\na\t{cell}\tx")
        assert [one.code for one in doubtful(audit(table))] == codes


def test_ends_of_an_interval_may_stand_in_columns_and_in_per_cent() -> None:
    head = "model,accuracy,n,CI low,CI high\n"
    right = read_table(head + "a,0.75,,70.1,79.9\nb,0.50,,45.0,55.0")
    wrong = read_table(head + "a,0.75,,70.1,79.9\nb,0.50,,55.0,65.0")
    assert doubtful(audit(right)) == []
    assert [one.code for one in doubtful(audit(wrong))] == ["outside_interval"]


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("2.09\t19\t\t.050", 0),
        ("2.09\t19\t\t.025", 0),  # one-sided
        ("2.09\t19\t\t<.01", 1),
        ("-2.09\t19\t\t.05", 0),
        ("\t1\t3.84\t.05", 0),
        ("\t1\t3.84\t.01", 1),
    ],
)
def test_p_follows_from_t_or_chi_square_and_df(row: str, found: int) -> None:
    table = read_table(f"test\tt\tdf\tchi2\tp\na\t{row}")
    assert len([one for one in audit(table).findings if one.code == "p_does_not_follow"]) == found


def test_with_the_positives_accuracy_follows_from_precision_and_recall() -> None:
    head = "model\taccuracy\tprecision\trecall\tn\tpositives\n"
    right = read_table(f"{head}a\t0.800\t0.667\t0.667\t100\t30")
    wrong = read_table(f"{head}a\t0.850\t0.667\t0.667\t100\t30")
    assert doubtful(audit(right)) == []
    assert "accuracy_out_of_bounds" in {one.code for one in doubtful(audit(wrong))}


def test_a_mean_of_f1_over_classes_is_no_fault() -> None:
    table = read_table("model\tprecision\trecall\tF1\na\t70.0\t60.0\t63.1\nb\t71.2\t62.3\t64.9")
    assert [one.severity for one in audit(table).findings] == [NOTE]


def test_above_the_f1_of_the_means_there_is_none() -> None:
    table = read_table("model\tprecision\trecall\tF1\na\t70.0\t60.0\t66.1")
    assert [one.severity for one in audit(table).findings] == ["fault"]


def test_a_table_of_words_has_nothing_to_check() -> None:
    assert audit(read_table("name,colour\na,red\nb,blue")).checked == {}
