"""Task ``ordinal``: a scale point by the tone of the text, or by how much it says of a topic."""

from dataclasses import dataclass

from labelhub.core.llm.offline.answers import quoted
from labelhub.core.llm.offline.lexicon import Concept
from labelhub.core.llm.offline.look import Look, Verdict
from labelhub.core.llm.offline.profile import profile_of
from labelhub.core.llm.offline.roles import Role
from labelhub.core.llm.offline.weigh import Support, clauses_about, weigh
from labelhub.core.schema import schema_from_names

_EVEN = 0.5
#: By how many points the weight of a whole word moves an answer.
_SWAY = 2.5
_FEELINGS = ("positive", "negative")
#: Topics of which a text has more or less; of all others people ask how good they are.
_DEGREES = ("urgency", "spam", "sarcastic", "toxic", "noise", "joy", "sadness", "anger", "fear")


def decide_point(look: Look) -> Verdict:
    """The name of the scale point that fits best."""
    gauge = _gauged(look)
    name = look.profile.names[_places(look, gauge.share)[0]]
    return Verdict(_lines(look, name, gauge.said), (name,))


def ranked_points(look: Look) -> list[str]:
    """The names of all scale points, the best fitting first."""
    return [look.profile.names[at] for at in _places(look, _gauged(look).share)]


def words_for_point(look: Look, at: int) -> tuple[str, ...]:
    """Phrases that speak for a scale point: those on its side of the middle."""
    gauge = _gauged(look)
    points = _by_point(look)
    upper = 2 * points.index(at) + 1 >= len(points)
    return (gauge.high if upper == gauge.rising else gauge.low).quotes(look.reading)


@dataclass(frozen=True, slots=True)
class _Gauge:
    """Where a text stands on a scale (0 its lowest point, 1 its highest), and by which words."""

    share: float
    said: Support
    high: Support
    low: Support
    rising: bool


def _gauged(look: Look) -> _Gauge:
    degree = _degree(look)
    if degree is not None:
        return _degree_gauge(look, degree)
    points = _by_point(look)
    rising = _tone_of_name(look, points[-1]) >= _tone_of_name(look, points[0])
    share, good, bad = _tone_share(look)
    said = good if share >= _EVEN else bad
    return _Gauge(share if rising else 1 - share, said, good, bad, rising)


def _by_point(look: Look) -> list[int]:
    labels = look.schema.labels
    return sorted(range(len(labels)), key=lambda at: (labels[at].point or 0.0, at))


def _places(look: Look, share: float) -> list[int]:
    """The labels in the order in which they fit: by their distance, less what was heard."""
    points = _by_point(look)
    at_best = min(int(share * len(points)), len(points) - 1)
    distances = {
        at: abs(share * len(points) - (step + 0.5)) - _SWAY * look.leaning(at)
        for step, at in enumerate(points)
    }
    best = points[at_best]
    return sorted(points, key=lambda at: (distances[at], at != best))


def _degree(look: Look) -> Concept | None:
    asked = " ".join((look.question, *look.profile.names))
    return next((c for c in look.book.called_by(asked) if c.key in _DEGREES), None)


def _tone_share(look: Look) -> tuple[float, Support, Support]:
    """Where the text's tone stands between all blame (0) and all praise (1), and both of them."""
    feelings = profile_of(schema_from_names("single", _FEELINGS))
    topics = [c for c in look.book.called_by(look.question) if c.key not in _FEELINGS]
    near = frozenset[int]()
    if topics:
        near, _ = clauses_about(look.question, feelings.claimed, look.reading, look.book)
    good, bad = weigh(feelings, look.reading, look.book, only=near or None)
    praise, blame = _seen(look, good), _seen(look, bad)
    middle = 0.9 if look.role is Role.CRITIC else 0.5 + 1.5 * look.temper.bar
    tone = (praise - blame) / (praise + blame + middle)
    return (tone + 1) / 2, good, bad


def _degree_gauge(look: Look, degree: Concept) -> _Gauge:
    sought = profile_of(schema_from_names("single", (degree.key, "other")))
    support = weigh(sought, look.reading, look.book)[0]
    seen = support.firm if look.role is Role.CRITIC else support.strength
    seen += (look.temper.faint - 1) * (support.strength - support.firm)
    return _Gauge(min(seen, 0.999), support, support, Support(), rising=True)


def _seen(look: Look, support: Support) -> float:
    if look.role is Role.CRITIC:
        return support.firm_mass
    tempered = (look.temper.faint - 1) * (support.mass - support.firm_mass)
    if look.role is Role.JUDGE:
        return (support.mass + support.firm_mass) / 2 + tempered / 2
    return support.mass + tempered


def _tone_of_name(look: Look, at: int) -> int:
    called = {concept.key for concept in look.book.called_by(look.profile.names[at])}
    return ("positive" in called) - ("negative" in called)


def _lines(look: Look, name: str, support: Support) -> tuple[str, ...]:
    said = support.quotes(look.reading)
    if look.role is Role.CRITIC:
        proposed = look.picked_by("extractor")
        stand = "agree" if not proposed or name in proposed else "disagree"
        reason = f'the text says "{said[0]}"' if said else "the tone is even"
        return (f"- {name}: {stand} - {reason}",)
    return (quoted(name, said),)
