"""Ambiguous and normal items, as paper 002 tells them apart (section 4.2)."""

from dataclasses import dataclass

from apps.agreement.experiments.ambiguity import told_apart
from apps.agreement.papers.answers import Answers, Said
from apps.agreement.papers.counting import Bools
from labelhub.core.agreement.figures import Figure, share


@dataclass(frozen=True, slots=True)
class Strata:
    """By item: whether single answers were counted, and whether their lead was too small."""

    known: Bools
    ambiguous: Bools

    @property
    def normal(self) -> Bools:
        """Items whose first answer leads clearly."""
        return self.known & ~self.ambiguous

    def share_of(self, which: Bools) -> Figure:
        """Of the items that are one or the other."""
        return share(int(which.sum()), int(self.known.sum()), reason="no item was answered")


def strata_of(answers: Answers, said: Said, theta: float) -> Strata:
    """By the votes of the parallel LLMs: ambiguous where D_rate is at most ``theta``."""
    return Strata(*told_apart(said.rows, said.told["d_rate"], answers.items, theta))


def note_on(asked_theta: float, singles: int) -> str:
    """What the strata rest on."""
    return (
        f"Amb(iguous): D_rate of {singles} single answers is at most {asked_theta:g}; else "
        "Nor(mal). These are the answers that the parallel N-LLM counts."
    )
