"""One item as a role sees it: the text read and weighed, what earlier roles said, the verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labelhub.core.llm.offline.answers import settled
from labelhub.core.llm.offline.entail import follows
from labelhub.core.llm.offline.hearing import leaning, names_of
from labelhub.core.llm.offline.lexicon import Lexicon, lexicon
from labelhub.core.llm.offline.profile import Profile, profile_of
from labelhub.core.llm.offline.roles import Role, Temper, cast_of
from labelhub.core.llm.offline.weigh import Support, clauses_about, weigh
from labelhub.core.llm.offline.words import Reading, read
from labelhub.core.llm.types import Call, Reply
from labelhub.core.schema import LabelDef, Schema, Task


@dataclass(frozen=True, slots=True)
class Look:
    """What a role decides on.

    ``entailed`` is how far the question follows from the text, ``lean`` how far what was heard
    moves its hearer towards an answer.
    """

    role: Role
    temper: Temper
    schema: Schema
    question: str
    reading: Reading
    book: Lexicon
    profile: Profile
    supports: Sequence[Support]
    entailed: float
    heard: Mapping[str, Reply]
    lean: Mapping[str, float]

    def picked_by(self, step: str) -> frozenset[str]:
        """The label names an earlier role settled on; empty when it said nothing usable."""
        reply = self.heard.get(step)
        return frozenset() if reply is None or not reply.ok else names_of(reply.value, self.schema)

    def quotes(self, at: int) -> tuple[str, ...]:
        """Phrases of the text that speak for a label."""
        return self.supports[at].quotes(self.reading)

    def leaning(self, at: int) -> float:
        """How far what was heard speaks for a label."""
        return self.lean.get(self.profile.names[at], 0.0)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a role says: reason lines, and the names it settles on (or the one free text)."""

    lines: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def decided(self) -> str:
        """What its decision line says."""
        return settled(self.names)


def look_at(call: Call) -> Look:
    """Read and weigh a call's text for the part it asks us to play."""
    book, cast = lexicon(), cast_of(call)
    question = call.question or call.schema.question
    profile = profile_of(_labels_of(call))
    reading = read(call.text, book.irregular)
    asks_yes_or_no = any(label.stance for label in profile.labels)
    return Look(
        role=cast.role,
        temper=cast.temper,
        schema=call.schema,
        question=question,
        reading=reading,
        book=book,
        profile=profile,
        supports=_weighed(profile, reading, book, question),
        entailed=follows(question, reading, book) if asks_yes_or_no else 0.0,
        heard=call.heard,
        lean=leaning(call, book),
    )


def _labels_of(call: Call) -> Schema:
    if call.schema.task is not Task.PER_ITEM:
        return call.schema
    # Not parse_schema: an option may hold characters that a label name may not.
    return Schema(Task.SINGLE, "", tuple(LabelDef(name=option) for option in call.options))


def _weighed(profile: Profile, reading: Reading, book: Lexicon, question: str) -> list[Support]:
    """Feelings about a subject are weighed only where the text speaks of that subject."""
    if question and profile.is_about_feeling:
        topics = [c for c in book.called_by(question) if c.key not in profile.claimed]
        if topics:
            return _weighed_about(profile, reading, book, question)
    return weigh(profile, reading, book)


def _weighed_about(
    profile: Profile, reading: Reading, book: Lexicon, question: str
) -> list[Support]:
    near, around = clauses_about(question, profile.claimed, reading, book)
    supports = weigh(profile, reading, book, only=near)
    if any(support.hits for support in supports):
        return supports
    return weigh(profile, reading, book, only=around)
