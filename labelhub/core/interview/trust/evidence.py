"""What is counted over an author's last messages and answers, before anything is made of it."""

import math
from dataclasses import dataclass
from datetime import datetime

from labelhub.core.errors import InvalidInput

_SHARES = ("duplicate_share", "machine_like_share")
_PARTS = (
    ("reask_agreed", "reask_total"),
    ("expected_agreed", "expected_total"),
    ("eliciting", "surveys"),
)
_NUMBERS = (
    *("answers", "early_attempts", "nofit", "skips", "reask_agreed", "reask_total", "messages"),
    *("expected_agreed", "expected_total"),
    *("answers_per_hour", "messages_per_minute", "surveys", "eliciting", "network_authors"),
)


@dataclass(frozen=True, slots=True)
class TrustEvidence:
    """Counts over an author's last weeks; what is not known stays as it is here.

    answers: answers that stand (not undone), within these counts.
    early_attempts: questions on which an option was chosen too early, each counted once.
    positions: where the chosen options stood (from 0) among the ``options`` offered, only of
        questions whose options were shuffled: an ordinal scale is no lottery.
    nofit, skips: "none of these fit"; skipped or closed.
    reask_agreed, reask_total: of questions asked a second time, how many got the same answer.
    answers_per_hour, messages_per_minute: the most in any hour, any minute.
    median_over_ms: the median of how much longer than the minimum an answer took, by the server's
        clock, milliseconds; None when unknown. May be negative by the tolerance.
    late_over_ms: the same of nineteen in twenty: one in twenty answers took longer; None when
        unknown.
    expected_agreed, expected_total: of answers to a choice, how many were the option that a model
        had expected, which no author is told.
    usual_agreement: the same share of the site's other authors who are trusted; None while too few
        are known.
    messages: how many messages the two shares are of: nearly the same as another
        (:func:`~labelhub.core.interview.trust.texts.near_duplicates`); machine-like.
    countries: when which country was seen (two letters, from a header that the host's proxy sets).
    surveys, eliciting: how many surveys, and how many of them came right after a message that
        looks sent for that (:func:`~labelhub.core.interview.trust.texts.elicits`).
    network_authors: other authors of the site in the same network prefix.
    verified: whether the host vouches for who this is.

    Raises:
        InvalidInput: a number is negative, no number, or more than what it is a part of.
    """

    answers: int = 0
    early_attempts: int = 0
    positions: tuple[int, ...] = ()
    options: int = 4
    nofit: int = 0
    skips: int = 0
    reask_agreed: int = 0
    reask_total: int = 0
    answers_per_hour: float = 0
    messages_per_minute: float = 0
    median_over_ms: float | None = None
    late_over_ms: float | None = None
    expected_agreed: int = 0
    expected_total: int = 0
    usual_agreement: float | None = None
    messages: int = 0
    duplicate_share: float = 0
    machine_like_share: float = 0
    countries: tuple[tuple[datetime, str], ...] = ()
    surveys: int = 0
    eliciting: int = 0
    network_authors: int = 0
    verified: bool = False

    def __post_init__(self) -> None:
        for field in _NUMBERS:
            if not 0 <= getattr(self, field) < math.inf:
                raise InvalidInput.at(field, "must be a number from 0 on")
        for field in _SHARES:
            if not 0 <= getattr(self, field) <= 1:
                raise InvalidInput.at(field, "must be a share from 0 to 1")
        self._check_parts()

    def _check_parts(self) -> None:
        for part, whole in _PARTS:
            if getattr(self, part) > getattr(self, whole):
                raise InvalidInput.at(part, f"must not be more than {whole}")
        if self.usual_agreement is not None and not 0 <= self.usual_agreement <= 1:
            raise InvalidInput.at("usual_agreement", "must be a share from 0 to 1")
        if self.options < 2:
            raise InvalidInput.at("options", "must be at least 2")
        if any(not 0 <= position < self.options for position in self.positions):
            raise InvalidInput.at("positions", "must each be from 0 to one below options")
        for field in ("median_over_ms", "late_over_ms"):
            value = getattr(self, field)
            if value is not None and not math.isfinite(value):
                raise InvalidInput.at(field, "must be a number")
