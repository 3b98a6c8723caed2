"""Task ``multi``: which labels are present, as extractor, critic, judge or annotator."""

from labelhub.core.llm.offline.answers import quoted
from labelhub.core.llm.offline.look import Look, Verdict
from labelhub.core.llm.offline.roles import Role

EXTRACTOR_BAR = 0.36
CRITIC_BAR = 0.7
JUDGE_BAR = 0.5
_CRITIC_VOICE = 0.12
_JUDGED_BONUS = 0.05


def decide_several(look: Look) -> Verdict:
    """The present labels, with lines in the form of the role played."""
    if look.role is Role.CRITIC:
        return _criticised(look)
    if look.role is Role.JUDGE:
        return _judged(look)
    bar = EXTRACTOR_BAR if look.role is Role.EXTRACTOR else JUDGE_BAR
    present = _present(look, _weights(look), bar + look.temper.bar)
    lines = [quoted(look.profile.names[at], look.quotes(at)) for at in present]
    return Verdict(tuple(lines), tuple(look.profile.names[at] for at in present))


def ranked_several(look: Look) -> list[str]:
    """All labels, the best supported first."""
    weights = _weights(look)
    return [look.profile.names[at] for at in sorted(_all(look), key=lambda at: -weights[at])]


def _criticised(look: Look) -> Verdict:
    names = look.profile.names
    agreed = _present(look, [_firm(look, at) for at in _all(look)], CRITIC_BAR)
    proposed = look.picked_by("extractor")
    lines = []
    for at in _all(look):
        if at in agreed:
            lines.append(f"- {names[at]}: agree - {_why_agree(look, at)}")
        elif names[at] in proposed or (not proposed and look.supports[at].hits):
            lines.append(f"- {names[at]}: disagree - {_why_disagree(look, at)}")
    return Verdict(tuple(lines), tuple(names[at] for at in agreed))


def _judged(look: Look) -> Verdict:
    names = look.profile.names
    extracted, agreed = look.picked_by("extractor"), look.picked_by("critic")
    heard_critic = "critic" in look.heard
    weights, scores = _weights(look), []
    for at in _all(look):
        voice = _CRITIC_VOICE if names[at] in agreed else -_CRITIC_VOICE
        scores.append(weights[at] + (voice if heard_critic else 0.0))
    present = _present(look, scores, JUDGE_BAR)
    lines = [
        f"- {names[at]}: {_ruling(look, at, present=at in present)}"
        for at in _all(look)
        if at in present or names[at] in extracted | agreed
    ]
    return Verdict(tuple(lines), tuple(names[at] for at in present))


def _all(look: Look) -> range:
    return range(len(look.profile.labels))


def _weights(look: Look) -> list[float]:
    return [_weight(look, at) + look.leaning(at) for at in _all(look)]


def _weight(look: Look, at: int) -> float:
    support = look.supports[at]
    tempered = (look.temper.faint - 1) * (support.strength - support.firm)
    if look.role is Role.JUDGE:
        return (support.strength + support.firm) / 2 + tempered / 2
    # A faint sign in a clause that praises or blames is worth an extractor's mention.
    return support.strength + tempered + (_JUDGED_BONUS if support.judged else 0.0)


def _firm(look: Look, at: int) -> float:
    support = look.supports[at]
    return support.firm + (_JUDGED_BONUS if support.judged and support.firm else 0.0)


def _present(look: Look, scores: list[float], bar: float) -> tuple[int, ...]:
    """Labels over the bar; a catch-all label when at most one other is."""
    labels = look.profile.labels
    over = {at for at in _all(look) if scores[at] >= bar and not labels[at].catchall}
    over |= {at for at in _all(look) if _is_left_over(look, at, len(over), bar)}
    return tuple(sorted(over))


def _is_left_over(look: Look, at: int, others: int, bar: float) -> bool:
    if not look.profile.labels[at].catchall:
        return False
    sundry = len(look.supports[at].hits)
    return others == 0 or (sundry >= others and bar < CRITIC_BAR)


def _why_agree(look: Look, at: int) -> str:
    said = look.quotes(at)
    if not said:
        return "nothing else in the text fits better"
    tone = "and is judged there" if look.supports[at].judged else "and is named outright"
    return f'the text says "{said[0]}", {tone}'


def _why_disagree(look: Look, at: int) -> str:
    said = look.quotes(at)
    if not said:
        return "no phrase of the text supports it"
    return f'"{said[0]}" only touches on it; nothing there is clearly about it'


def _ruling(look: Look, at: int, *, present: bool) -> str:
    said = look.quotes(at)
    if present:
        return f'present, "{said[0]}" carries it' if said else "present, nothing else fits"
    return f'left out, "{said[0]}" is too weak' if said else "left out, nothing supports it"
