"""What would be offered for a text: the models are asked as of any message, nothing is stored."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.authors.models import Author, Message
from apps.authors.services.console import DryRun, dry_run
from apps.authors.services.messages import AFTER_JUDGEMENT
from apps.authors.services.questions import OpenModels
from apps.authors.services.site_config import config_of
from apps.echo.indexes import index_of
from apps.echo.models import Echo
from apps.echo.services.ranking import (
    meanings_of,
    rule_for,
    selected_of,
    success_of,
)
from apps.echo.services.selecting import selection_if
from apps.llm.shared_gateway import shared_gateway
from labelhub.core.echo.recommending.item_index import Selected
from labelhub.core.echo.recommending.matching import Match
from labelhub.core.echo.recommending.policies import (
    OfferContext,
    OfferDecision,
    OfferHistory,
    decide,
    echo,
)

#: Above every exploring share: nothing is drawn.
NOT_DRAWN = 0.999


@dataclass(frozen=True, slots=True)
class Tried:
    """What would become of a text.

    Args:
        text: as models would see it.
        dropped: why nothing is offered at such a message, whatever the catalogue; "" if it may be.
        decision: of somebody who has never been offered anything; None where it was dropped.
        matches: what fits, the best first.
        selected: the features that were looked at.
    """

    text: str
    dropped: str
    decision: OfferDecision | None
    matches: Sequence[Match]
    selected: Sequence[Selected]


def try_text(of: Echo, text: str, open_models: OpenModels = shared_gateway) -> Tried:
    """Match a text as the first message of somebody; Echo without its exploring share."""
    run = dry_run(of.site, text, open_models)
    if not _is_ordinary(run):
        return Tried(run.text, run.reason or run.dropped_at, None, (), ())
    message = Message(author=Author(site=of.site), text=run.text, language=run.language)
    definitions = config_of(of.site).definitions
    selected = selected_of(selection_if(message), {each.key: each for each in definitions})
    moment = OfferContext(
        message_text=run.text, selected=selected, meanings=meanings_of(definitions)
    )
    matches = echo(index_of(of), moment)
    decision = decide(
        rule_for(of),
        matches,
        OfferHistory(),
        success=success_of(message, selected),
        sensitive=False,
        draw=NOT_DRAWN,
    )
    return Tried(run.text, "", decision, matches, selected)


def _is_ordinary(run: DryRun) -> bool:
    """Whether the model has called it so: of nothing else an offer is made."""
    if run.dropped_at == "relevance":
        return run.reason == "none_relevant"
    return run.dropped_at in ("", *AFTER_JUDGEMENT)
