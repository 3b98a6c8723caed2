"""What an author says to a question, held against what was asked and when."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from apps.authors.models import Question
from apps.authors.refusals import BadField, TooEarly
from labelhub.core.interview.reading_time import Timing, judge_timing
from labelhub.core.interview.redaction import finder, redact
from labelhub.core.schema import unstorable

LONGEST_WORD = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an author says to a question: an option's id, a word, or that nothing fits.

    ``ref`` is the sender's own id of it. ``connected``: when the connection began that it came by;
    None where there is none. A question that was sent by an earlier one may have been shown while
    there was none, and the two were told together.
    """

    ref: str
    option: str = ""
    word: str = ""
    nofit: bool = False
    visible_ms: int | None = None
    keyboard: bool = False
    connected: datetime | None = None


def timing_of(question: Question, said: Said, received: datetime) -> Timing:
    """How long the question was there to be read.

    Raises:
        TooEarly: not long enough; ``data['after_ms']`` says when to send it again.
    """
    if question.pushed_at is None:
        raise TooEarly("This question has not been asked yet.", data={"after_ms": question.min_ms})
    judged = partial(
        judge_timing,
        pushed=question.pushed_at,
        shown=question.shown_at,
        received=received,
        min_ms=question.min_ms,
        visible_ms=said.visible_ms,
    )
    timing = judged()
    elsewhere = said.connected is not None and question.pushed_at < said.connected
    if timing.verdict == "too_early" and elsewhere:
        timing = judged(shown_in_replay=True)
    if timing.verdict == "too_early":
        raise TooEarly(
            f"The question takes {question.min_ms / 1000:.1f} seconds to read.",
            data={"after_ms": timing.after_ms},
        )
    return timing


def option_of(question: Question, said: Said) -> tuple[int, str] | None:
    """Place and text of the chosen option; None for a word or where none fits.

    Raises:
        BadField: the question offers no such option, or asks for something else.
    """
    if said.nofit:
        return None
    if question.kind == Question.Kind.WORD:
        if said.option:
            raise BadField("This question asks for a word; it has no options.")
        return None
    for place, option in enumerate(question.options):
        if option["id"] == said.option:
            return place, str(option["label"])
    raise BadField("This question has no such option.")


def word_of(question: Question, given: str) -> str:
    """The one word; none is needed where no option fits.

    Raises:
        BadField: it is empty where it is asked for, more than one word, or personal data.
    """
    word = " ".join(given.split())
    if len(word.split()) > 1:
        raise BadField("One word, please.")
    if question.kind == Question.Kind.WORD and not word and not question.options:
        raise BadField("The word is missing.")
    if len(word) > LONGEST_WORD or unstorable(word):
        raise BadField(f"One word of at most {LONGEST_WORD} characters, please.")
    if word and redact(word, region=question.site.region, names=finder()).findings:
        raise BadField("Leave out addresses, numbers and other personal details.")
    return word
