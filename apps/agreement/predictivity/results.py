"""What a study has found: the figures of its predictions, and what they mean in words."""

from dataclasses import dataclass
from typing import Any

from apps.agreement.models import Prediction, Study
from apps.agreement.predictivity.wording import detail, headline
from labelhub.core.agreement.predictivity_scores import Predicted, Predictivity, score

MADE = (Prediction.Status.ANSWERED, Prediction.Status.UNPARSED)
OFFLINE_NOTE = "predicted by the offline text matcher: not an LLM"


@dataclass(frozen=True)
class Result:
    """A study with its figures."""

    study: Study
    scores: Predictivity

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        return headline(self.scores)

    @property
    def detail(self) -> str:
        """The numbers behind it, in words."""
        return detail(self.scores, offline_labels=self.study.offline_labels)

    @property
    def sentence(self) -> str:
        """Both."""
        return f"{self.headline} {self.detail}".strip()

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form, the same by command and REST."""
        return study_json(self.study) | self.scores.to_json() | {"finding": self.sentence}


def result_of(study: Study) -> Result:
    """Score what was predicted so far; one query."""
    made = Prediction.objects.filter(study=study, status__in=MADE).order_by("pk")
    columns = (
        "item_id", "user_key", "source", "examples", "shown", "right", "status", "options",
    )  # fmt: skip
    return Result(
        study,
        score(
            Predicted(
                item=row["item_id"],
                user=row["user_key"],
                source=row["source"],
                examples=row["examples"],
                shown=tuple(row["shown"]),
                right=bool(row["right"]),
                parsed=row["status"] == Prediction.Status.ANSWERED,
                options=max(1, row["options"]),
            )
            for row in made.values(*columns).iterator(chunk_size=5000)
        ),
    )


def study_json(study: Study) -> dict[str, Any]:
    """What is told of a study beside its figures; ``study`` as ``studies_of`` tells it."""
    offline = study.model.offline
    return {
        "study": study.pk,
        "project": study.project.slug,
        "model": study.model.name,
        "offline": offline,
        "note": OFFLINE_NOTE if offline else "",
        "offline_labels": study.offline_labels,
        "sources": list(study.sources),
        "examples": list(study.examples),
        "limit": study.limit,
        "seed": study.seed,
        "status": study.status,
        "message": study.message,
        "tasks": getattr(study, "total", None),
        "finished": getattr(study, "finished", None),
        "failed": getattr(study, "failed", None),
        "calls": study.calls,
        "tokens_in": study.tokens_in,
        "tokens_out": study.tokens_out,
        "cost_usd": None if study.unpriced_calls else study.cost_nanousd / 1e9,
        "budget_usd": None if study.budget_nanousd is None else study.budget_nanousd / 1e9,
        "created_at": study.created_at.isoformat(),
    }
