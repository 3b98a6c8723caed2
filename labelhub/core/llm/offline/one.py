"""Tasks ``single`` and ``per_item``: exactly one of the offered labels."""

from collections.abc import Sequence

from labelhub.core.llm.offline.answers import quoted
from labelhub.core.llm.offline.look import Look, Verdict
from labelhub.core.llm.offline.roles import STRICT, Role

#: What a label needs against the catch-all (or the absence) of the others, by role.
_BARS = {Role.EXTRACTOR: 0.3, Role.ANNOTATOR: 0.5, Role.JUDGE: 0.5, Role.CRITIC: 0.65}
_ENTAILED = {Role.EXTRACTOR: 0.55, Role.ANNOTATOR: 0.65, Role.JUDGE: 0.65, Role.CRITIC: 0.75}
_VOICE = 0.25
#: How much what speaks for the opposite label takes away, by role.
_AGAINST = {Role.EXTRACTOR: 0.3, Role.ANNOTATOR: 0.6, Role.JUDGE: 0.6, Role.CRITIC: 1.2}
#: What faint signs count to a critic, and how close a runner-up must come to be its choice.
_FAINT = 0.15
_CLOSE = 0.2


def decide_one(look: Look) -> Verdict:
    """The best-supported label, with lines in the form of the role played."""
    if not look.profile.labels:
        return Verdict((), ())
    chosen = _chosen(look, _scores(look))
    return Verdict(_lines(look, chosen), (look.profile.names[chosen],))


def ranked_ones(look: Look) -> list[str]:
    """All labels, the best supported first; the first is the one to decide for."""
    if not look.profile.labels:
        return []
    scores = _scores(look)
    first = _chosen(look, scores)
    others = (at for at in range(len(scores)) if at != first)
    order = [first, *sorted(others, key=lambda at: -scores[at])]
    return [look.profile.names[at] for at in order]


def _scores(look: Look) -> list[float]:
    return [_score(look, at) + look.leaning(at) for at in range(len(look.profile.labels))]


def _chosen(look: Look, scores: list[float]) -> int:
    """The best; a critic that sees another label about as well supported speaks for that one."""
    best = max(scores)
    if best <= 0:
        return _without_evidence(look)
    first = scores.index(best)
    rivals = [at for at, score in enumerate(scores) if at != first and best - score <= _CLOSE]
    rivals = [at for at in rivals if look.supports[at].hits]
    if look.role is Role.CRITIC and rivals:
        return max(rivals, key=lambda at: scores[at])
    return first


def _score(look: Look, at: int) -> float:
    label = look.profile.labels[at]
    stance = _stance(look, at)
    if stance:
        return _entailment_score(look, stance)
    if label.catchall or label.denies is not None:
        return (
            _BARS[look.role]
            + look.temper.bar
            + 0.3 * look.supports[at].mass
            + _heard_bonus(look, at)
        )
    own = _mass(look, at)
    against = _mass(look, label.opposite) if label.opposite is not None else 0.0
    turned = _AGAINST[look.role] * look.temper.against
    return own - turned * against + (_heard_bonus(look, at) if own else 0.0)


def _stance(look: Look, at: int) -> str:
    """Whether a label says yes or no to the question; ``not entailed`` turns ``entailed``."""
    label = look.profile.labels[at]
    if label.denies is None or label.stance:
        return label.stance
    return "deny" if look.profile.labels[label.denies].stance == "affirm" else ""


def _mass(look: Look, at: int) -> float:
    support = look.supports[at]
    faint = support.mass - support.firm_mass
    if look.role is Role.CRITIC:
        return support.firm_mass + _FAINT * faint
    tempered = (look.temper.faint - 1) * faint
    if look.role is Role.JUDGE:
        return (support.mass + support.firm_mass) / 2 + tempered / 2
    return support.mass + tempered


def _entailment_score(look: Look, stance: str) -> float:
    distance = look.entailed - _ENTAILED[look.role] - look.temper.bar
    return 1.0 + (distance if stance == "affirm" else -distance)


def _heard_bonus(look: Look, at: int) -> float:
    """A judge leans towards what it heard; the others decide for themselves."""
    if look.role is not Role.JUDGE:
        return 0.0
    name = look.profile.names[at]
    return _VOICE / 2 * sum(name in look.picked_by(step) for step in ("extractor", "critic"))


def _without_evidence(look: Look) -> int:
    """No label has support: the roles fall back differently, so the item counts as doubtful."""
    names = look.profile.names
    if look.profile.fallback is not None:
        return look.profile.fallback
    if look.role is Role.CRITIC or look.temper is STRICT:
        return len(names) - 1
    heard = look.picked_by("extractor") if look.role is Role.JUDGE else frozenset()
    return next((at for at, name in enumerate(names) if name in heard), 0)


def _lines(look: Look, chosen: int) -> tuple[str, ...]:
    names = look.profile.names
    if look.role is Role.CRITIC:
        return _critic_lines(look, chosen)
    if look.role is Role.JUDGE:
        return (_ruling(names[chosen], look.quotes(chosen)),)
    shown = {at for at, support in enumerate(look.supports) if support.hits} | {chosen}
    if look.role is Role.ANNOTATOR:
        shown = {chosen}
    return tuple(quoted(names[at], look.quotes(at)) for at in sorted(shown))


def _ruling(name: str, said: Sequence[str]) -> str:
    return f"- {name}: " + (f'"{said[0]}" carries it' if said else "nothing speaks for another")


def _critic_lines(look: Look, chosen: int) -> tuple[str, ...]:
    names = look.profile.names
    said = look.quotes(chosen)
    reason = f'the text says "{said[0]}"' if said else "no clear sign of another label"
    lines = [f"- {names[chosen]}: agree - {reason}"]
    for at, name in enumerate(names):
        if at != chosen and name in look.picked_by("extractor"):
            weak = look.quotes(at)
            why = f'"{weak[0]}" is too faint a sign' if weak else "no phrase supports it"
            lines.append(f"- {name}: disagree - {why}")
    return tuple(lines)
