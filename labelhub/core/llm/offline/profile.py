"""What to look for: a schema's labels turned into weighted terms, once per schema."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from labelhub.core.llm.offline.lexicon import STRONG, WEAK, Concept, Lexicon, Term, lexicon
from labelhub.core.llm.offline.words import stems
from labelhub.core.schema import LabelDef, Schema, fold

NAME_WEIGHT = 0.8
PHRASE_WEIGHT = 0.6
TOLD_WEIGHT = 0.3
UNKNOWN_WEIGHT = 0.6  # the lexicon has nothing: the description is all there is
EXAMPLE_WEIGHT = 0.25
#: What is left of a hit in a clause that the label's own definition leaves out, or warns of.
EXCLUDED_SHARE = 0.5
WARNED_SHARE = 0.9
_FEELINGS = frozenset({"positive", "negative"})
_NOUN_ENDINGS = ("liness", "iness", "ness", "ity", "ment", "ation", "ion")
_DENIALS = ("not ", "not_", "non ", "non_", "non-", "not-", "no ", "no_", "un")


@dataclass(frozen=True, slots=True)
class Sought:
    """What speaks for one label."""

    name: str
    concepts: frozenset[str]
    terms: Mapping[Term, float]
    pairs: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()
    excluded: Mapping[str, float] = field(default_factory=dict)
    opposite: int | None = None
    denies: int | None = None
    stance: str = ""
    catchall: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything sought in a text: ``index`` maps a term to (label, weight) pairs."""

    labels: tuple[Sought, ...]
    index: Mapping[Term, tuple[tuple[int, float], ...]]
    starts: frozenset[str]
    longest: int

    @property
    def names(self) -> tuple[str, ...]:
        """The labels' names, in schema order."""
        return tuple(label.name for label in self.labels)

    @property
    def claimed(self) -> frozenset[str]:
        """The concepts that the labels call up."""
        return frozenset(key for label in self.labels for key in label.concepts)

    @property
    def is_about_feeling(self) -> bool:
        """Whether the labels are kinds of praise and blame, of whatever the question names."""
        return bool(self.claimed & _FEELINGS)

    @property
    def fallback(self) -> int | None:
        """The label to take when nothing speaks for any: the catch-all, else the denying one."""
        for at, label in enumerate(self.labels):
            if label.catchall:
                return at
        for at, label in enumerate(self.labels):
            if label.denies is not None or label.stance == "deny":
                return at
        return None


@lru_cache(maxsize=32)
def profile_of(schema: Schema) -> Profile:
    """The profile of a schema's labels (or of options, given as a schema of their own)."""
    book = lexicon()
    called = [book.called_by(_spaced(label.name)) for label in schema.labels]
    sought = [_sought(schema.labels, at, called, book) for at in range(len(schema.labels))]
    return _indexed(tuple(sought))


def _sought(
    labels: Sequence[LabelDef], at: int, called: Sequence[Sequence[Concept]], book: Lexicon
) -> Sought:
    label = labels[at]
    denies = _denied(labels, label)
    own = () if denies is not None else called[at]
    elsewhere = {c.key for other, cs in enumerate(called) if other != at for c in cs}
    lent = [book.concepts[key] for c in own for key in c.includes if key not in elsewhere]
    terms: dict[Term, float] = {}
    for concept in (*lent, *own):
        terms |= {term: max(weight, terms.get(term, 0)) for term, weight in concept.terms.items()}
    stance = _stance(label.name, book)
    if denies is None and not stance and not any(c.catchall for c in own):
        _add_name(terms, label.name, book)
    _add_told(terms, label, book, TOLD_WEIGHT if own else UNKNOWN_WEIGHT)
    return Sought(
        name=label.name,
        concepts=frozenset(concept.key for concept in (*own, *lent)),
        terms=terms,
        pairs=tuple(pair for concept in own for pair in concept.pairs),
        excluded=_excluded(label, terms, book),
        opposite=_opposite(own, called, at),
        denies=denies,
        stance=stance,
        catchall=any(concept.catchall for concept in own),
    )


def _spaced(name: str) -> str:
    """``foodAndDrink`` and ``food_and_drink`` as words."""
    out = [f" {char}" if char.isupper() and not name.isupper() else char for char in name]
    return "".join(out).replace("_", " ").replace("-", " ")


def _denied(labels: Sequence[LabelDef], label: LabelDef) -> int | None:
    """Which label this one is the absence of: ``not_sarcastic`` beside ``sarcastic``."""
    folded = fold(label.name)
    for at, other in enumerate(labels):
        if any(folded == denial + fold(other.name) for denial in _DENIALS):
            return at
    return None


def _stance(name: str, book: Lexicon) -> str:
    said = stems(name, book.irregular)
    return next((group for group in ("deny", "affirm") if said in book.groups[group]), "")


def _add_name(terms: dict[Term, float], name: str, book: Lexicon) -> None:
    said = stems(_spaced(name), book.irregular)
    words = [word for word in said if not book.is_in("stop", word)] or list(said)
    weight = NAME_WEIGHT if len(words) == 1 else PHRASE_WEIGHT
    for word in words:
        terms[(word,)] = max(weight, terms.get((word,), 0))
        for ending in _NOUN_ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 4:
                terms.setdefault(stems(word.removesuffix(ending), book.irregular), WEAK)
    if 1 < len(said) <= 4:
        terms[said] = NAME_WEIGHT


def _add_told(terms: dict[Term, float], label: LabelDef, book: Lexicon, told_weight: float) -> None:
    """Words of the label's own description and examples, below those of the lexicon."""
    told = [(label.description, told_weight), (label.include, told_weight)]
    told += [(example, EXAMPLE_WEIGHT) for example in label.examples_for]
    for text, weight in told:
        said = stems(text, book.irregular)
        for first, second in pairwise(said):
            if not book.is_in("stop", first) and not book.is_in("stop", second):
                terms.setdefault((first, second), PHRASE_WEIGHT)
        for word in said:
            if len(word) > 2 and not book.is_in("stop", word) and not _is_opinion(word, book):
                terms.setdefault((word,), weight)


def _is_opinion(word: str, book: Lexicon) -> bool:
    return any((word,) in book.concepts[key].terms for key in ("positive", "negative"))


def _excluded(label: LabelDef, terms: Mapping[Term, float], book: Lexicon) -> dict[str, float]:
    warned = stems(" ".join(label.examples_against), book.irregular)
    left_out = stems(label.exclude, book.irregular)
    shares = dict.fromkeys(warned, WARNED_SHARE) | dict.fromkeys(left_out, EXCLUDED_SHARE)
    return {
        word: share
        for word, share in shares.items()
        if len(word) > 2
        and not book.is_in("stop", word)
        and not _is_opinion(word, book)
        and terms.get((word,), 0) < STRONG
    }


def _opposite(own: Sequence[Concept], called: Sequence[Sequence[Concept]], at: int) -> int | None:
    wanted = {concept.opposite for concept in own if concept.opposite}
    for other, concepts in enumerate(called):
        if other != at and wanted & {concept.key for concept in concepts}:
            return other
    return None


def _indexed(labels: tuple[Sought, ...]) -> Profile:
    found: dict[Term, list[tuple[int, float]]] = {}
    for at, label in enumerate(labels):
        for term, weight in label.terms.items():
            found.setdefault(term, []).append((at, weight))
    index = {term: _contrasted(pairs, len(labels)) for term, pairs in found.items()}
    return Profile(
        labels=labels,
        index={term: pairs for term, pairs in index.items() if pairs},
        starts=frozenset(term[0] for term in index),
        longest=max(map(len, index), default=1),
    )


def _contrasted(pairs: list[tuple[int, float]], labels: int) -> tuple[tuple[int, float], ...]:
    """Of several labels a term points to, the strongest stand; told words of most labels go."""
    best = max(weight for _, weight in pairs)
    if best < STRONG and len(pairs) > max(2, labels // 2):
        return ()
    return tuple((at, weight if weight == best else weight / 2) for at, weight in pairs)
