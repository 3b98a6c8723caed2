"""Echo's choice of what to ask an author: relevance, predictions, value of answers, selection.

It uses a cached state of the last seconds, so a message does not wait for learning. The choice and
its probability are stored with the questions.
"""

import hashlib
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
from apps.echo.services.prediction import PredictionCalls, prediction_calls_for
from apps.echo.states import Parts, doubted_authors, newer_state, stored_state
from labelhub.core.echo.models import Prediction, predict
from labelhub.core.echo.prediction import normalise_shares
from labelhub.core.echo.question_choice import (
    TIMES,
    Floats,
    choose,
    select_features,
    selection_propensities,
    worth,
)
from labelhub.core.echo.relevance import click_gains, draw_relevance
from labelhub.core.echo.state import EchoState, signs_of
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
    now = time.monotonic()
    known = _known.get(site.pk)
    if known is not None and now - known.read_at < FRESH:
        return known
    if len(_known) > 200:
        _known.clear()
    echo = Echo.objects.filter(site=site, on=True).first()
    if echo is None:
        found = KnownEcho(None, EchoState(), (), now)
    else:
        state = _state_of(echo, known)
        found = KnownEcho(echo, state, doubted_authors(echo), now)
    _known[site.pk] = found
    return found


def _state_of(echo: Echo, known: KnownEcho | None) -> EchoState:
    """The learnt state; reads only models that have changed since. If it cannot be read, use an
    empty state and have it rebuilt, so that asking continues."""
    try:
        if known is None or known.echo is None or known.echo.era != echo.era:
            return stored_state(echo, Parts(authors=()))
        if known.echo.learnt == echo.learnt:
            return known.state
        return newer_state(echo, known.state, known.echo.learnt)
    except InvalidInput as fault:
        logger.warning("The state of Echo at site %s is rebuilt. %s", echo.pk, fault)
        Echo.objects.filter(pk=echo.pk).update(erased=F("erased") + 1)
        return EchoState()


def forget_known(site_id: int) -> None:
    """Drop the cached Echo of a site."""
    _known.pop(site_id, None)


def chooser_for(
    message: Message,
    shown: AuthorMessage,
    features: Sequence[Feature],
    asked: Sequence[AskedQuestion],
) -> "EchoChooser | None":
    """Echo's choice with a language model for the most relevant features; None if Echo is off."""
    chooser = model_chooser_for(message, features, asked)
    if chooser is not None:
        known = known_echo(message.author.site)
        chooser.predicting = prediction_calls_for(message, shown, chooser.echo, known.doubted)
    return chooser


def model_chooser_for(
    message: Message, features: Sequence[Feature], asked: Sequence[AskedQuestion] = ()
) -> "EchoChooser | None":
    """Echo's choice without a language model; None if Echo is off."""
    known = known_echo(message.author.site)
    if known.echo is None:
        return None
    # New features start as they would in learning.
    state = known.state.knowing([feature.key for feature in features])
    ended = [question.status for question in asked if question.status not in OPEN]
    answered = sum(status in _SAID for status in ended)
    return EchoChooser(message, known.echo, state, ((answered + _ANSWERED) / (len(ended) + _SHOWN)))


class EchoChooser:
    """The choice for one message. See :class:`labelhub.core.interview.calls.Chooser`."""

    def __init__(self, message: Message, echo: Echo, state: EchoState, answered: float) -> None:
        self._message, self.echo, self._state = message, echo, state
        self.predicting: PredictionCalls | None = None
        self._answered = answered
        seed = f"{echo.pk} {message.author_id} {message.ref} {echo.learnt}".encode()
        self._draws = np.random.default_rng(int.from_bytes(hashlib.sha256(seed).digest()[:8]))
        self._drawn: dict[str, float] = {}
        self._predicted: dict[str, dict[str, Any]] = {}
        self._selected: list[str] = []
        self._asked: dict[str, dict[str, Any]] = {}
        self._explored = False

    def rank(self, features: Sequence[Definition]) -> Sequence[Definition]:
        """Order by a draw of the relevance: relevant ones first, uncertain ones sometimes."""
        return sorted(features, key=lambda feature: -self._relevance(feature.key))

    def calls_for(self, relevant: Sequence[Definition], most: int) -> Mapping[str, Call | None]:
        """The calls for the first ``llm_features`` features."""
        if self.predicting is None:
            return {}
        return {
            feature.key: self.predicting.call(feature)
            for feature in relevant[: self.echo.llm_features]
        }

    def expected_values(
        self, relevant: Sequence[Definition], llm_values: Mapping[str, str], likely: Likely
    ) -> Mapping[str, str]:
        """The predicted values, by the features' models and the language model's answers."""
        vector = vector_of(self._message.text)
        expected = {}
        for feature in relevant[: self.echo.models_per_message]:
            word = llm_values.get(feature.key, "")
            llm_shares = normalise_shares(feature.values, likely.get(feature.key, {})) or {}
            model = self._state.model(feature.key)
            shares = tuple(llm_shares.values())
            prediction = predict(model, vector, feature.values, word, llm_shares=shares)
            # For free text use only the language model's answer, never another author's words.
            value = prediction.top if feature.values else word
            if value:
                expected[feature.key] = value
                noted = self._prediction_record(feature.key, value, prediction)
                self._predicted[feature.key] = noted | {"said": word, "told": llm_shares}
        return expected

    def choose(self, candidates: Sequence[str], most: int) -> Mapping[str, float]:
        """Select k features and choose the most valuable ones to ask about; sometimes at random.

        Stores how probable the selection and the questions were, given the predicted features.
        """
        keys = [key for key in candidates if key in self._predicted]
        predicted = [self._predicted[key] for key in keys]
        sigmas = np.array([record["sigma"] for record in predicted])
        relevance = np.array([self._relevance(key) for key in keys])
        shown, near = select_features(relevance, 1 - sigmas, self.echo.k)
        values = worth(
            np.array([record["relevance"] for record in predicted]),
            sigmas,
            answered=self._answered,
            burden=self.echo.burden,
        )
        asking = choose(values[near], most, self._draws, self.echo.explore)
        self._explored = asking.explored
        self._selected = [keys[place] for place in shown]
        asked = near[asking.chosen]
        selected, chances = self._propensities(relevance, keys, 1 - sigmas, values, most)
        for record, share in zip(predicted, selected.tolist(), strict=True):
            record["selected"] = share
        self._asked = {
            keys[place]: {
                "worth": round(float(values[place]), _PLACES),
                "propensity": float(chances[place]),
                "asked": place in asked,
            }
            for place in near.tolist()
        }
        return {keys[place]: float(chances[place]) for place in asked.tolist()}

    def _propensities(
        self, used: Floats, keys: Sequence[str], right: Floats, values: Floats, most: int
    ) -> tuple[Floats, Floats]:
        """As of :func:`selection_propensities`; ``used``: the draw of this message."""
        places = [self._state.places[key] for key in keys]
        drawn = draw_relevance(self._state.relevance, self._draws, (TIMES - 1,))[:, places]
        return selection_propensities(
            np.vstack([used, drawn]),
            right,
            values,
            k=self.echo.k,
            most=most,
            explore=self.echo.explore,
        )

    def store(self) -> None:
        """Store the selection; if the message already has one, add the asked features to it."""
        self._write(
            update_conflicts=True, unique_fields=["message"], update_fields=["asked", "explored"]
        )

    def store_unasked(self) -> None:
        """Store a selection without questions, unless the message already has one."""
        self._write(ignore_conflicts=True)

    def _write(self, **conflicts: Any) -> None:
        Selection.objects.bulk_create([self.build_selection()], **conflicts)

    def build_selection(self) -> Selection:
        """The selection, not stored."""
        return Selection(
            echo=self.echo,
            author_id=self._message.author_id,
            message=self._message,
            number=self.echo.learnt,
            predicted=self._predicted,
            selected=self._selected,
            asked=self._asked,
            explored=self._explored,
        )

    def _relevance(self, key: str) -> float:
        """A draw of the feature's relevance; the same at each call."""
        if not self._drawn:
            values = draw_relevance(self._state.relevance, self._draws)
            self._drawn = dict(zip(self._state.features, values.tolist(), strict=False))
        return self._drawn[key]

    def _prediction_record(self, key: str, value: str, prediction: Prediction) -> dict[str, Any]:
        """The stored record of a prediction."""
        state = self._state
        place, doubt, relevance = state.places[key], state.uncertainty, state.relevance
        signs = signs_of(state, key, prediction)
        return {
            "value": value,
            "probability": round(prediction.probability, _PLACES),
            "sigma": float(sigma(doubt, signs[None, :])[0]),
            "relevance": round(float(relevance.expected[place]), _PLACES),
            "gain": round(float(click_gains(relevance, relevance.expected[place])), _PLACES),
            "answers": float(doubt.answers[place]),
            "signs": signs.tolist(),
        }


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
    chooser = _choose_by_models(message)
    if chooser is None:
        return None
    with transaction.atomic():
        if lock_author(message.author_id) is None:
            return None
        chooser.store_unasked()
    return Selection.objects.filter(message=message).first()


def preview_selection(message: Message) -> Selection | None:
    """The selection for a trial message; nothing is stored."""
    chooser = _choose_by_models(message)
    return None if chooser is None else chooser.build_selection()


def _choose_by_models(message: Message) -> EchoChooser | None:
    """The choice by the features' models alone; None if Echo is off."""
    kit = config_of(message.author.site)
    chooser = model_chooser_for(message, kit.features)
    if chooser is None:
        return None
    ranked = chooser.rank(kit.definitions)
    expected = chooser.expected_values(ranked, {}, {})
    chooser.choose(list(expected), 0)
    return chooser


def check_switched_on(site: Site) -> None:
    """Check that Echo is on.

    Raises:
        Conflict: it is off.
    """
    if known_echo(site).echo is None:
        forget_known(site.pk)  # it may have been switched on just now
        if known_echo(site).echo is None:
            raise Conflict("Echo is switched off at this site; a manager can switch it on.")
