"""What the tables of paper 000 (ECJ-LLM) share: four metrics and four counts of a label."""

from collections.abc import Sequence

from apps.agreement.papers.answers import Answers, Said
from apps.agreement.papers.asked import Asked, Trio
from apps.agreement.papers.counting import label_figures
from apps.agreement.papers.kinds import aspect_of, faults
from apps.agreement.papers.layout import COUNT, PERCENT, Row, Shown, Table, with_best
from apps.agreement.papers.setups import Setup, ecj
from labelhub.core.agreement.figures import Figure

REPLICATES = 5
METRICS = ("Accuracy", "Precision", "Recall", "F1")
COUNTS = ("TP", "FP", "FN", "TN")
TRIO = ("Extractor", "Critic", "Judge")
SWAPPED = (
    "FP: predicted, not in gold; FN: in gold, not predicted. The paper prints these two columns "
    "under each other's heading (its figures follow only when they are swapped)."
)
MISSED = (
    "Where gold has the label, a pass without usable answer counts as FN; where it has not, it is "
    "in none of the four counts."
)


def table_of(
    asked: Asked, files: Sequence[Answers], columns: Sequence[str], setups: Sequence[Setup]
) -> Table:
    """A row for each set-up, named by the models that play; with several files a row for each."""
    several = len(files) > 1
    rows = [
        [*([answers.title] if several else []), *_names(setup), *_cells(asked, answers, setup)]
        for answers in files
        for setup in setups
    ]
    labels = ", ".join(dict.fromkeys(aspect_of(asked, answers.schema) for answers in files))
    unparsed = any(each.unparsed for answers in files for each in answers.by_setup.values())
    notes = [
        f"About {labels}; metrics and counts are means over {_passes(asked)}.",
        SWAPPED,
        *faults(files),
        *([MISSED] if unparsed else []),
    ]
    heads = [*(["File"] if several else []), *columns, *METRICS, *COUNTS]
    return with_best(Table(heads, rows, notes), METRICS)


def trio_setups(trios: Sequence[Trio]) -> list[Setup]:
    """Each trio's run."""
    return [ecj(trio) for trio in trios]


def label_row(answers: Answers, said: Said, label: str) -> dict[str, Figure]:
    """All figures of a label."""
    return dict(label_figures(answers, said, label))


def passes_of(asked: Asked) -> int:
    """How often each item passes through."""
    return asked.replicates or REPLICATES


def _passes(asked: Asked) -> str:
    passes = passes_of(asked)
    return "1 pass" if passes == 1 else f"{passes} passes, each computed for itself"


def _names(setup: Setup) -> list[str]:
    return [model.name for model in setup.models.values()]


def _cells(asked: Asked, answers: Answers, setup: Setup) -> Row:
    found = label_row(answers, answers.of(setup), aspect_of(asked, answers.schema))
    return [
        *(Shown(found[name.lower()], PERCENT) for name in METRICS),
        *(Shown(found[name.lower()], COUNT) for name in COUNTS),
    ]
