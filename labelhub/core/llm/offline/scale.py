"""Task ``ordinal``: a scale point by the tone of the text, or by how much it says of a topic."""

from labelhub.core.llm.offline.answers import quoted
from labelhub.core.llm.offline.lexicon import Concept
from labelhub.core.llm.offline.look import Look, Role, Verdict
from labelhub.core.llm.offline.profile import profile_of
from labelhub.core.llm.offline.weigh import Support, clauses_about, weigh
from labelhub.core.schema import schema_from_names

_FEELINGS = ("positive", "negative")
#: Topics of which a text has more or less; of all others people ask how good they are.
_DEGREES = ("urgency", "spam", "sarcastic", "toxic", "noise", "joy", "sadness", "anger", "fear")


def decide_point(look: Look) -> Verdict:
    """The name of the scale point that fits best."""
    labels = look.schema.labels
    points = sorted(range(len(labels)), key=lambda at: (labels[at].point or 0.0, at))
    degree = _degree(look)
    if degree is None:
        share, support = _tone_share(look)
        rising = _tone_of_name(look, points[-1]) >= _tone_of_name(look, points[0])
    else:
        share, support = _degree_share(look, degree)
        rising = True
    share = share if rising else 1 - share
    place = points[min(int(share * len(points)), len(points) - 1)]
    name = look.profile.names[place]
    return Verdict(_lines(look, name, support), name)


def _degree(look: Look) -> Concept | None:
    asked = " ".join((look.question, *look.profile.names))
    return next((c for c in look.book.called_by(asked) if c.key in _DEGREES), None)


def _tone_share(look: Look) -> tuple[float, Support]:
    """Where the text's tone stands between all blame (0) and all praise (1)."""
    feelings = profile_of(schema_from_names("single", _FEELINGS))
    topics = [c for c in look.book.called_by(look.question) if c.key not in _FEELINGS]
    near = frozenset[int]()
    if topics:
        near, _ = clauses_about(look.question, feelings.claimed, look.reading, look.book)
    good, bad = weigh(feelings, look.reading, look.book, only=near or None)
    praise, blame = _seen(look, good), _seen(look, bad)
    middle = 0.5 if look.role is not Role.CRITIC else 0.9
    tone = (praise - blame) / (praise + blame + middle)
    return (tone + 1) / 2, good if tone >= 0 else bad


def _degree_share(look: Look, degree: Concept) -> tuple[float, Support]:
    sought = profile_of(schema_from_names("single", (degree.key, "other")))
    support = weigh(sought, look.reading, look.book)[0]
    seen = support.firm if look.role is Role.CRITIC else support.strength
    return min(seen, 0.999), support


def _seen(look: Look, support: Support) -> float:
    if look.role is Role.CRITIC:
        return support.firm_mass
    return (support.mass + support.firm_mass) / 2 if look.role is Role.JUDGE else support.mass


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
