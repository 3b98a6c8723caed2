"""Echo's choice of what to ask an author: relevance, predictions, value of answers, selection.

It uses a cached state of the last seconds, so a message does not wait for learning. The choice and
its probability are stored with the questions.
"""

import hashlib
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.db import transaction
from django.db.models import F

from apps.authors.models import Feature, Message, Question, Site
from apps.authors.querysets import OPEN
from apps.authors.selectors.sites import FRESH
from apps.authors.services.limits import AskedQuestion
from apps.authors.services.locking import lock_author
from apps.authors.services.site_config import config_of
from apps.echo.models import Echo, Selection
from apps.echo.services.prediction import prediction_calls_for
from apps.echo.states import stored_state
from labelhub.core.echo.models import predict
from labelhub.core.echo.prediction import normalise_shares
from labelhub.core.echo.question_choice import (
    TIMES,
    choose,
    select_features,
    selection_propensities,
    worth,
)
from labelhub.core.echo.relevance import click_gains, draw_relevance
from labelhub.core.echo.state import EchoState, signs_of
from labelhub.core.echo.trust import LEAST
from labelhub.core.echo.uncertainty import sigma
from labelhub.core.echo.vectors import vector_of
from labelhub.core.errors import Conflict, InvalidInput
from labelhub.core.interview.calls import Likely
from labelhub.core.interview.features import Feature as Definition
from labelhub.core.interview.pipeline import AuthorMessage
from labelhub.core.llm.types import Call

logger = logging.getLogger(__name__)

_SAID = (Question.Status.ANSWERED, Question.Status.NOFIT)
#: Prior of an author's answer rate: so many answered questions, of so many.
_ANSWERED, _SHOWN = 4.2, 5.0
#: Decimal places of stored numbers.
_PLACES = 6


@dataclass(frozen=True, slots=True)
class KnownEcho:
    """The cached Echo of a site: its state, authors whose answers teach nothing, and the time of
    reading."""

    echo: Echo | None
    state: EchoState
    doubted: Collection[str]
    read_at: float


_known: dict[int, KnownEcho] = {}


def known_echo(site: Site) -> KnownEcho:
    """The site's Echo, cached for up to ``FRESH`` seconds; callers must not change it."""
    now, known = time.monotonic(), _known.get(site.pk)
    if known is not None and now - known.read_at < FRESH:
        return known
    if len(_known) > 200:
        _known.clear()
    echo = Echo.objects.filter(site=site, on=True).first()
    if echo is None:
        found = KnownEcho(None, EchoState(), (), now)
    else:
        state = _state_of(echo, known)
        doubted = echo.trusts.filter(answers__lt=LEAST).values_list("author", flat=True)
        found = KnownEcho(echo, state, frozenset(doubted), now)
    _known[site.pk] = found
    return found


def _state_of(echo: Echo, known: KnownEcho | None) -> EchoState:
    """The learnt state; reads only models that have changed since. If it cannot be read, use an
    empty state and have it rebuilt, so that asking continues."""
    try:
        if known is None or known.echo is None or known.echo.era != echo.era:
            return stored_state(echo, authors=())
        if known.echo.learnt == echo.learnt:
            return known.state
        changed = echo.models.filter(learnt__gt=known.echo.learnt)
        state = stored_state(echo, changed.values_list("feature", flat=True), authors=())
        state.models = {**known.state.models, **state.models}
        return state
    except InvalidInput as fault:
        logger.warning("The state of Echo at site %s is rebuilt. %s", echo.pk, fault)
        Echo.objects.filter(pk=echo.pk).update(erased=F("erased") + 1)
        return EchoState()


def forget_known(site_id: int) -> None:
    """Drop the cached Echo of a site."""
    _known.pop(site_id, None)


def chooser_for(
    message: Message,
    shown: AuthorMessage | None,
    features: Sequence[Feature],
    asked: Sequence[AskedQuestion] = (),
) -> "EchoChooser | None":
    """Echo's choice; None if Echo is off. ``shown``: what a language model may see of the message,
    which then predicts the most relevant features."""
    known = known_echo(message.author.site)
    if known.echo is None:
        return None
    # New features start as they would in learning.
    state = known.state.knowing([feature.key for feature in features])
    if state is not known.state and _known.get(message.author.site_id) is known:
        _known[message.author.site_id] = replace(known, state=state)
    ended = [question.status for question in asked if question.status not in OPEN]
    answered = sum(status in _SAID for status in ended)
    rate = (answered + _ANSWERED) / (len(ended) + _SHOWN)
    chooser = EchoChooser(message, known.echo, state, rate)
    if shown is not None:
        chooser.predict_call = prediction_calls_for(message, shown, known.echo, known.doubted)
    return chooser


class EchoChooser:
    """The choice for one message. See :class:`labelhub.core.interview.calls.Chooser`."""

    def __init__(self, message: Message, echo: Echo, state: EchoState, answered: float) -> None:
        self._message, self.echo, self._state = message, echo, state
        self.predict_call: Callable[[Definition], Call] | None = None
        self._answered = answered
        self.selection = Selection(
            echo=echo,
            author_id=message.author_id,
            message=message,
            number=echo.learnt,
            predicted={},
            selected=[],
        )
        seed = f"{echo.pk} {message.author_id} {message.ref} {echo.learnt}".encode()
        self._draws = np.random.default_rng(int.from_bytes(hashlib.sha256(seed).digest()[:8]))
        drawn = draw_relevance(state.relevance, self._draws).tolist()
        self._relevance = dict(zip(state.features, drawn, strict=True))

    def rank(self, features: Sequence[Definition]) -> Sequence[Definition]:
        """Order by a draw of the relevance: relevant ones first, uncertain ones sometimes."""
        return sorted(features, key=lambda feature: -self._relevance[feature.key])

    def calls_for(self, relevant: Sequence[Definition], most: int) -> Mapping[str, Call | None]:
        """The calls for the first ``llm_features`` features."""
        if self.predict_call is None:
            return {}
        predicted = relevant[: self.echo.llm_features]
        return {feature.key: self.predict_call(feature) for feature in predicted}

    def expected_values(
        self, relevant: Sequence[Definition], llm_values: Mapping[str, str], likely: Likely
    ) -> Mapping[str, str]:
        """The predicted values, by the features' models and the language model's answers."""
        state, vector = self._state, vector_of(self._message.text)
        expected = state.relevance.expected
        gains = click_gains(state.relevance, expected)
        for feature in relevant[: self.echo.models_per_message]:
            key, word = feature.key, llm_values.get(feature.key, "")
            place, model = state.places[key], state.model(key)
            llm_shares = normalise_shares(feature.values, likely.get(key, {})) or {}
            shares = tuple(llm_shares.values())
            prediction = predict(model, vector, feature.values, word, llm_shares=shares)
            # For free text use only the language model's answer, never another author's words.
            value = prediction.top if feature.values else word
            if value:
                signs = signs_of(state, key, prediction)
                self.selection.predicted[key] = {
                    "value": value,
                    "probability": round(prediction.probability, _PLACES),
                    "sigma": float(sigma(state.uncertainty, signs)),
                    "relevance": round(float(expected[place]), _PLACES),
                    "gain": round(float(gains[place]), _PLACES),
                    "answers": float(state.uncertainty.answers[place]),
                    "signs": signs.tolist(),
                    "said": word,
                    "told": llm_shares,
                }
        return {key: record["value"] for key, record in self.selection.predicted.items()}

    def choose(self, candidates: Sequence[str], most: int) -> Mapping[str, float]:
        """Select k features and choose the most valuable ones to ask about; sometimes at random.

        Stores how probable the selection and the questions were, given the predicted features.
        """
        selection = self.selection
        keys = [key for key in candidates if key in selection.predicted]
        predicted = [selection.predicted[key] for key in keys]
        sigmas = np.array([record["sigma"] for record in predicted])
        relevance = np.array([self._relevance[key] for key in keys])
        shown, near = select_features(relevance, 1 - sigmas, self.echo.k)
        places = [self._state.places[key] for key in keys]
        values = worth(
            self._state.relevance.magnitude[places],
            sigmas,
            answered=self._answered,
            burden=self.echo.burden,
        )
        chosen, selection.explored = choose(values[near], most, self._draws, self.echo.explore)
        selection.selected = [keys[place] for place in shown]
        asked = near[chosen]
        # With the draw that was used for this message.
        drawn = draw_relevance(self._state.relevance, self._draws, (TIMES - 1,))[:, places]
        selected, chances = selection_propensities(
            np.vstack([relevance, drawn]),
            1 - sigmas,
            values,
            k=self.echo.k,
            most=most,
            explore=self.echo.explore,
        )
        for record, share in zip(predicted, selected.tolist(), strict=True):
            record["selected"] = share
        selection.asked = {
            keys[place]: {
                "worth": round(float(values[place]), _PLACES),
                "propensity": float(chances[place]),
                "asked": place in asked,
            }
            for place in near.tolist()
        }
        return {keys[place]: float(chances[place]) for place in asked.tolist()}

    def store(self) -> None:
        """Store the selection; if the message already has one, add the asked features to it."""
        Selection.objects.bulk_create(
            [self.selection],
            update_conflicts=True,
            unique_fields=["message"],
            update_fields=["asked", "explored"],
        )


#: Messages dropped by these stages get no selection: worthless, private, or too late.
NEVER = ("screen", "sensitive", "left", "interrupted")


def selection_for(message: Message) -> Selection | None:
    """The selection of a message; made now if there is none and no question is being prepared.

    None if Echo is off, the message's text is not stored, or a stage of :data:`NEVER` dropped it.
    """
    found = Selection.objects.filter(message=message).first()
    if found is not None:
        return found
    waits = message.status == Message.Status.RECEIVED or message.role != Message.Role.AUTHOR
    if waits or not message.text or message.dropped_at in NEVER:
        return None
    return select_unasked(message)


def select_unasked(message: Message) -> Selection | None:
    """A selection without a language model; None if Echo is off or the author's data was deleted
    meanwhile. If a concurrent task has stored one, returns that."""
    selection = preview_selection(message)
    if selection is None:
        return None
    with transaction.atomic():
        if lock_author(message.author_id) is None:
            return None
        Selection.objects.bulk_create([selection], ignore_conflicts=True)
    return Selection.objects.filter(message=message).first()


def preview_selection(message: Message) -> Selection | None:
    """The selection by the features' models alone, not stored; None if Echo is off."""
    kit = config_of(message.author.site)
    chooser = chooser_for(message, None, kit.features)
    if chooser is None:
        return None
    ranked = chooser.rank(kit.definitions)
    chooser.choose(list(chooser.expected_values(ranked, {}, {})), 0)
    return chooser.selection


def check_switched_on(site: Site) -> None:
    """Check that Echo is on.

    Raises:
        Conflict: it is off.
    """
    if known_echo(site).echo is None:
        forget_known(site.pk)  # it may have been switched on just now
        if known_echo(site).echo is None:
            raise Conflict("Echo is switched off at this site; a manager can switch it on.")
