"""What a text gives each label: hits, their weight, and phrases to quote."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from labelhub.core.llm.offline.lexicon import STRONG, Lexicon, Term
from labelhub.core.llm.offline.profile import Profile
from labelhub.core.llm.offline.words import Reading, Token

MAX_QUOTES = 3
PAIR_WEIGHT = 0.6
_NEGATED_REACH = 3


@dataclass(slots=True)
class Support:
    """What speaks for one label. ``hits`` maps each distinct term to its best weight."""

    hits: dict[Term, float] = field(default_factory=dict)
    places: list[tuple[float, int, int]] = field(default_factory=list)
    judged: bool = False

    @property
    def strength(self) -> float:
        """All hits together, in [0, 1): each further hit closes part of the gap to 1."""
        return _together(list(self.hits.values()))

    @property
    def firm(self) -> float:
        """The same, from hits that by themselves point to the label."""
        return _together([weight for weight in self.hits.values() if weight >= PAIR_WEIGHT])

    @property
    def mass(self) -> float:
        """The plain sum of the hits' weights, for comparing labels that exclude each other."""
        return sum(self.hits.values())

    @property
    def firm_mass(self) -> float:
        """The sum over the hits that by themselves point to the label."""
        return sum(weight for weight in self.hits.values() if weight >= PAIR_WEIGHT)

    def quotes(self, reading: Reading) -> tuple[str, ...]:
        """Up to three different phrases of the text, strongest first."""
        best = sorted(self.places, key=lambda place: (-place[0], place[1]))[: 4 * MAX_QUOTES]
        said = (reading.quote(start, end) for _, start, end in best)
        return tuple(dict.fromkeys(quote for quote in said if quote))[:MAX_QUOTES]

    def add(self, term: Term, weight: float, place: tuple[int, int]) -> None:
        """Note one hit."""
        self.hits[term] = max(weight, self.hits.get(term, 0))
        self.places.append((weight, *place))


def weigh(
    profile: Profile,
    reading: Reading,
    book: Lexicon,
    *,
    only: frozenset[int] | None = None,
) -> list[Support]:
    """The support of every label; ``only`` restricts the look to some sentences or clauses."""
    supports = [Support() for _ in profile.labels]
    marks = _excluded_clauses(profile, reading)
    judged = _judged_clauses(reading, book)
    for term, at, size in _found(profile, reading, book):
        token, last = reading.tokens[at], reading.tokens[at + size - 1]
        if only is not None and token.clause not in only:
            continue
        turned = is_turned(reading.tokens, at, book)
        for found, weight in profile.index[term]:
            other = profile.labels[found].opposite
            label = other if turned and other is not None else found
            left = weight * marks[label].get(token.clause, 1.0)
            supports[label].add(term, left, (token.start, last.end))
            supports[label].judged |= token.clause in judged
    _weigh_pairs(profile, reading, supports)
    return supports


def clauses_about(
    question: str, claimed: frozenset[str], reading: Reading, book: Lexicon
) -> tuple[frozenset[int], frozenset[int]]:
    """Clauses that speak of the question's subject, and those of the same sentences."""
    wanted: set[str] = set()
    for concept in book.called_by(question):
        if concept.key not in claimed:
            strong = {term for term, weight in concept.terms.items() if weight >= STRONG}
            wanted |= {term[0] for term in strong | concept.names if len(term) == 1}
    hits = [token for token in reading.tokens if token.stem in wanted]
    sentences = {token.sentence for token in hits}
    around = {token.clause for token in reading.tokens if token.sentence in sentences}
    return frozenset(token.clause for token in hits), frozenset(around)


def _found(profile: Profile, reading: Reading, book: Lexicon) -> Iterator[tuple[Term, int, int]]:
    """Terms in the text, longest first, none inside another: (term, token, words)."""
    tokens, at = reading.tokens, 0
    decoys, heads = book.groups["decoys"], book.decoy_heads
    while at < len(tokens):
        word = tokens[at].stem
        size = 1
        if word in profile.starts or word in heads:
            for size in range(min(4, len(tokens) - at), 0, -1):
                term = tuple(token.stem for token in tokens[at : at + size])
                if term in profile.index:
                    yield term, at, size
                    break
                if term in decoys:
                    break
        at += size


def is_turned(tokens: tuple[Token, ...], at: int, book: Lexicon) -> bool:
    """Whether a word shortly before, in the same clause, denies the one at that place."""
    here = tokens[at]
    before = tokens[max(0, at - _NEGATED_REACH) : at]
    near = [token.stem for token in before if token.clause == here.clause]
    return any(book.is_in("negators", word) for word in near)


def _excluded_clauses(profile: Profile, reading: Reading) -> list[dict[int, float]]:
    """Per label: the share of a hit that is left in clauses its definition leaves out."""
    marks: list[dict[int, float]] = [{} for _ in profile.labels]
    listed = [(at, label.excluded) for at, label in enumerate(profile.labels) if label.excluded]
    for token in reading.tokens if listed else ():
        for at, shares in listed:
            if token.stem in shares:
                left = min(shares[token.stem], marks[at].get(token.clause, 1.0))
                marks[at][token.clause] = left
    return marks


def _judged_clauses(reading: Reading, book: Lexicon) -> set[int]:
    good, bad = book.concepts["positive"].terms, book.concepts["negative"].terms
    return {
        token.clause
        for token in reading.tokens
        if max(good.get((token.stem,), 0), bad.get((token.stem,), 0)) >= STRONG
    }


def _weigh_pairs(profile: Profile, reading: Reading, supports: list[Support]) -> None:
    if not any(label.pairs for label in profile.labels):
        return
    sentences: dict[int, list[Token]] = {}
    for token in reading.tokens:
        sentences.setdefault(token.sentence, []).append(token)
    for tokens in sentences.values():
        said = {token.stem: token for token in reversed(tokens)}
        for at, label in enumerate(profile.labels):
            for first, second in label.pairs:
                one, two = first & said.keys(), second & said.keys()
                if one and two:
                    place = min((said[word] for word in two), key=lambda token: token.start)
                    term = (min(one), min(two))
                    supports[at].add(term, PAIR_WEIGHT, (place.start, place.end))


def _together(weights: list[float]) -> float:
    gap = 1.0
    for weight in weights:
        gap *= 1 - weight
    return 1 - gap
