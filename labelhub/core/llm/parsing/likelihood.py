"""How sure a model was of its label: the probabilities where the label begins.

Only the tokens up to the one that no other label shares decide between labels. Means over all
tokens of an answer, as other tools report them, mostly tell how predictable its wording is; so the
alternatives at those few tokens are taken, over the label set alone.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from labelhub.core.llm.types import TokenChoices
from labelhub.core.schema.menu import squash

_DRESS = " \t\r\n*_`\"'“”‘’«»([{<#"
_BODY = re.compile(r"[<\[]/(?:think|thinking|thought|reasoning)[>\]]", re.IGNORECASE)
_FINAL = re.compile(r"\bfinal (?:decision|answer)[ \t*_]*[:：|]", re.IGNORECASE)
_STATED = re.compile(r"\b(?:label is\b:?|first choice[ \t*_]*[:：])", re.IGNORECASE)
_IN_JSON = re.compile(
    r"\"(?:label|labels|value|answer|decision|final[ _]decision|first(?:[ _]choice)?|ranking)\""
    r"\s*:",
    re.IGNORECASE,
)
_WINDOW = 400
_SEPARATOR = re.compile(r"[,\]\n]")


def label_probabilities(
    completion_text: str,
    logprobs: Sequence[TokenChoices],
    names: Sequence[str],
    *,
    ids: Mapping[str, str] | None = None,
    decided: str = "",
) -> dict[str, float]:
    """The probability of each offered label where the decided one stands, summing to 1.

    Args:
        completion_text: the answer.
        logprobs: its tokens with natural log-probabilities and alternatives.
        names: the offered labels.
        ids: the number that may stand for a name, by name.
        decided: the label that was read from the answer; the place must name it. "" for any.

    Returns:
        The labels that the alternatives begin, likeliest first; labels not among the alternatives
        are left out. Empty where it cannot be told: no alternatives, no decision found, tokens that
        do not spell the text, or an answer that ends where several labels could still go on.
    """
    spelled = _spelled(names, ids or {})
    text = "".join(choice.token for choice in logprobs)
    if not spelled or not text.strip() or not (decided or completion_text.strip() in text):
        return {}
    start = _decided_at(text, spelled, decided)
    weights = {} if start is None else _weights(logprobs, start, spelled)
    total = sum(weights.values())
    if total <= 0.0:
        return {}
    likely = sorted(weights.items(), key=lambda pair: -pair[1])
    return {name: weight / total for name, weight in likely}


def presence_probabilities(
    logprobs: Sequence[TokenChoices], names: Sequence[str], decided: Sequence[str]
) -> dict[str, float]:
    """The probability of each label's being in an answer that lists several.

    Of a listed label it is the share of what would have listed it, where it begins, times that of
    the list's having gone on to there; of another label the greatest share that it had anywhere,
    which may be a little too much: where a list goes on, nobody tells with which label.

    Args:
        logprobs: the answer's tokens, natural log-probabilities, alternatives.
        names: the offered labels.
        decided: those that were read from the answer, in any order.

    Returns:
        Empty where it cannot be told: no alternatives, no list found, nothing listed, or an answer
        that ends without a token that ends the list.
    """
    spelled = _spelled(names, {})
    text = "".join(choice.token for choice in logprobs)
    start = _listed_at(text, spelled, set(decided))
    found: dict[str, float] = {}
    absent = dict.fromkeys((name for name in names if name not in decided), 0.0)
    goes_on = 1.0
    while start is not None and len(found) < len(decided):
        name = _name_at(text, start, spelled)
        weights = _weights(logprobs, start, spelled)
        total = sum(weights.values())
        if name is None or name in found or name not in decided or total <= 0.0:
            return {}
        for other in absent:
            absent[other] = max(absent[other], goes_on * weights.get(other, 0.0) / total)
        listed = sum(weights.get(label, 0.0) for label in decided) / total
        found[name] = goes_on * listed
        past = _past_name(text, start, name)
        more = _more_after(logprobs, past)
        if more is None:
            return {}
        if len(found) == len(decided):
            return found | {
                other: max(probability, goes_on * more) for other, probability in absent.items()
            }
        goes_on *= more
        start = _next_name(text, past, spelled)
    return {}


def set_margin(presence: Mapping[str, float]) -> float | None:
    """How far the label that is least sure to be in or out is from even, 0 to 1; None if none is
    known."""
    return min((abs(2.0 * probability - 1.0) for probability in presence.values()), default=None)


def margin(probabilities: Mapping[str, float]) -> float | None:
    """Probability of the likeliest label less that of the next, 0 to 1; None if none is known."""
    likely = sorted(probabilities.values(), reverse=True)
    if not likely:
        return None
    return likely[0] - (likely[1] if len(likely) > 1 else 0.0)


def _spelled(names: Sequence[str], ids: Mapping[str, str]) -> list[tuple[str, str]]:
    """Spelling and name, the longest spelling first."""
    pairs = [(squash(name), name) for name in names] + [(ids[name], name) for name in ids]
    return sorted((pair for pair in pairs if pair[0]), key=lambda pair: -len(pair[0]))


def _decided_at(text: str, spelled: Sequence[tuple[str, str]], decided: str) -> int | None:
    """Where the decided label begins in ``text``; None where that cannot be told."""
    for start in _places(text):
        while start < len(text) and text[start] in _DRESS:
            start += 1  # noqa: PLW2901 - steps over decoration
        name = _name_at(text, start, spelled)
        if name is not None:
            return start if decided in {"", name} else None
    return None


def _listed_at(text: str, spelled: Sequence[tuple[str, str]], decided: set[str]) -> int | None:
    """Where the first of the ``decided`` labels stands in the list that decides."""
    for place in _places(text):
        start = _next_name(text, place, spelled)
        if start is not None and _name_at(text, start, spelled) in decided:
            return start
    return None


def _next_name(text: str, start: int, spelled: Sequence[tuple[str, str]]) -> int | None:
    """Where a name stands after ``start``, with nothing but separators and decoration before it."""
    while start < len(text) and text[start] in _DRESS + ",":
        start += 1
    return None if _name_at(text, start, spelled) is None else start


def _past_name(text: str, start: int, name: str) -> int:
    """Where ``name``, which stands at ``start``, ends in ``text``."""
    form = squash(name)
    ends = range(start + 1, min(len(text), start + _WINDOW) + 1)
    return next((end for end in ends if squash(text[start:end]) == form), start + len(name))


def _more_after(logprobs: Sequence[TokenChoices], end: int) -> float | None:
    """The probability that the list goes on after ``end``, where a name has ended."""
    for before, choice in _from(logprobs, end):
        if _list_goes_on(choice.token[len(before) :]) is None:
            continue
        if len(choice.top) < 2:
            return None
        shares = {True: 0.0, False: 0.0}
        for token, logprob in {**dict(choice.top), choice.token: choice.logprob}.items():
            goes_on = _list_goes_on(_beyond(token, before))
            if goes_on is not None and not math.isnan(logprob):
                shares[goes_on] += math.exp(min(logprob, 0.0))
        total = sum(shares.values())
        return shares[True] / total if total > 0.0 else None
    return None


def _list_goes_on(token: str) -> bool | None:
    """Whether ``token`` goes on with a list or ends it; None where it does neither yet."""
    mark = _SEPARATOR.search(token)
    return None if mark is None else mark[0] == ","


def _places(text: str) -> Iterator[int]:
    """Where a decision may begin: JSON first where the answer is JSON, else in the ladder's order.

    Only the last place of each kind counts.
    """
    start = max((tag.end() for tag in _BODY.finditer(text)), default=0)
    in_json = text[start : start + _WINDOW].lstrip().startswith(("{", "```"))
    for pattern in (_IN_JSON, _FINAL, _STATED) if in_json else (_FINAL, _STATED, _IN_JSON):
        found = list(pattern.finditer(text, start))
        if found:
            yield found[-1].end()
    yield start


def _name_at(text: str, start: int, spelled: Sequence[tuple[str, str]]) -> str | None:
    key = squash(text[start : start + _WINDOW])
    return next((name for form, name in spelled if _starts(key, form)), None)


def _weights(
    logprobs: Sequence[TokenChoices], start: int, spelled: Sequence[tuple[str, str]]
) -> Mapping[str, float]:
    """What speaks for each label from ``start`` on, up to the token at which only one is left.

    Alternatives with which several labels still begin count for each of them alike. Empty where a
    token has no alternatives, or none of them tells the labels apart.
    """
    weights: dict[str, float] = defaultdict(float)
    written, share = "", 1.0
    for before, choice in _from(logprobs, start):
        if len(choice.top) < 2 or math.isnan(choice.logprob):
            return {}
        others = {token: logprob for token, logprob in choice.top if token != choice.token}
        for token, logprob in others.items():
            begun = _begun(written + _beyond(token, before), spelled)
            for name in begun if not math.isnan(logprob) else ():
                weights[name] += share * math.exp(min(logprob, 0.0)) / len(begun)
        written += choice.token[len(before) :]
        share *= math.exp(min(choice.logprob, 0.0))
        begun = _begun(written, spelled)
        if len(begun) < 2:
            for name in begun:
                weights[name] += share
            return weights if begun else {}
    return {}


def _from(logprobs: Sequence[TokenChoices], place: int) -> Iterator[tuple[str, TokenChoices]]:
    """The tokens from ``place`` on, each with the part of it before ``place``."""
    start = 0
    for choice in logprobs:
        end = start + len(choice.token)
        if place < end:
            yield choice.token[: max(0, place - start)], choice
        start = end


def _beyond(token: str, before: str) -> str:
    """An alternative without what the token said has before the label."""
    return token[len(before) :] if before and token.startswith(before) else token


def _begun(written: str, spelled: Sequence[tuple[str, str]]) -> set[str]:
    """The labels that ``written`` begins, or the one that it spells with something after it."""
    written = written.lstrip(_DRESS)
    key = squash(written)
    if not key:
        return set()
    # A name goes on after a blank, never in another line.
    goes_on = "\n" not in written
    longer = {name for form, name in spelled if goes_on and form != key and form.startswith(key)}
    whole = next((pair for pair in spelled if _starts(key, pair[0])), None)
    if whole is None or (longer and whole[0] != key):
        return longer
    return longer | {whole[1]}


def _starts(key: str, form: str) -> bool:
    return key.startswith(form) and not key[len(form) : len(form) + 1].isalnum()
