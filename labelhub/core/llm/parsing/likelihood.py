"""A model's confidence in its label, from the probabilities of the label's first tokens.

Only the tokens up to the first one that no other label shares decide between labels. Means over all
tokens of an answer, as other tools report them, mostly measure how predictable the wording is. So
only the alternatives at those tokens count, over the label set.
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
    """The probability of each offered label at the place of the decided one; they sum to 1.

    Args:
        completion_text: the answer.
        logprobs: its tokens with natural log-probabilities and alternatives.
        names: the offered labels.
        ids: name → the number that may replace it.
        decided: the label read from the answer, which the place must name; "" for any.

    Returns:
        The labels that the alternatives begin, likeliest first, without all other labels. Empty if
        unknown: no alternatives, no decision found, tokens that do not spell the text, or an answer
        that ends while several labels are possible.
    """
    spelled = _spelled(names, ids or {})
    text = "".join(choice.token for choice in logprobs)
    if not spelled or not text.strip() or not (decided or completion_text.strip() in text):
        return {}
    start = _find_decided(text, spelled, decided)
    weights = {} if start is None else _weights(logprobs, start, spelled)
    total = sum(weights.values())
    if total <= 0.0:
        return {}
    likely = sorted(weights.items(), key=lambda pair: -pair[1])
    return {name: weight / total for name, weight in likely}


def presence_probabilities(
    logprobs: Sequence[TokenChoices], names: Sequence[str], decided: Sequence[str]
) -> dict[str, float]:
    """The probability of each label to be in an answer that lists several.

    For a listed label: its share at its first tokens times the probability that the list reached
    this place. For another label: its greatest share at any place, an upper bound, because the
    label with which a list would have gone on is unknown.

    Args:
        logprobs: the answer's tokens, natural log-probabilities, alternatives.
        names: the offered labels.
        decided: the labels read from the answer, in any order.

    Returns:
        Empty if unknown: no alternatives, no list found, nothing listed, or no token that ends the
        list.
    """
    spelled = _spelled(names, {})
    text = "".join(choice.token for choice in logprobs)
    start = _find_listed(text, spelled, set(decided))
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
        end = _name_end(text, start, name)
        more = _continuation_share(logprobs, end)
        if more is None:
            return {}
        if len(found) == len(decided):
            return found | {
                other: max(probability, goes_on * more) for other, probability in absent.items()
            }
        goes_on *= more
        start = _next_name(text, end, spelled)
    return {}


def set_margin(presence: Mapping[str, float]) -> float | None:
    """The distance of the least certain label from even odds, 0 to 1; None if nothing is known."""
    return min((abs(2.0 * probability - 1.0) for probability in presence.values()), default=None)


def margin(probabilities: Mapping[str, float]) -> float | None:
    """The probability of the likeliest label minus the next, 0 to 1; None if nothing is known."""
    likely = sorted(probabilities.values(), reverse=True)
    if not likely:
        return None
    return likely[0] - (likely[1] if len(likely) > 1 else 0.0)


def _spelled(names: Sequence[str], ids: Mapping[str, str]) -> list[tuple[str, str]]:
    """Spelling and name, the longest spelling first."""
    pairs = [(squash(name), name) for name in names] + [(ids[name], name) for name in ids]
    return sorted((pair for pair in pairs if pair[0]), key=lambda pair: -len(pair[0]))


def _find_decided(text: str, spelled: Sequence[tuple[str, str]], decided: str) -> int | None:
    """The start of the decided label in ``text``; None if unknown."""
    for start in _decision_places(text):
        while start < len(text) and text[start] in _DRESS:
            start += 1  # noqa: PLW2901 - steps over decoration
        name = _name_at(text, start, spelled)
        if name is not None:
            return start if decided in {"", name} else None
    return None


def _find_listed(text: str, spelled: Sequence[tuple[str, str]], decided: set[str]) -> int | None:
    """The start of the first of the ``decided`` labels in the list that decides."""
    for place in _decision_places(text):
        start = _next_name(text, place, spelled)
        if start is not None and _name_at(text, start, spelled) in decided:
            return start
    return None


def _next_name(text: str, start: int, spelled: Sequence[tuple[str, str]]) -> int | None:
    """The start of the name that follows ``start`` after only separators and decoration."""
    while start < len(text) and text[start] in _DRESS + ",":
        start += 1
    return None if _name_at(text, start, spelled) is None else start


def _name_end(text: str, start: int, name: str) -> int:
    """The end of ``name``, which begins at ``start`` in ``text``."""
    form = squash(name)
    ends = range(start + 1, min(len(text), start + _WINDOW) + 1)
    return next((end for end in ends if squash(text[start:end]) == form), start + len(name))


def _continuation_share(logprobs: Sequence[TokenChoices], end: int) -> float | None:
    """The probability that the list goes on after the name that ends at ``end``."""
    for before, choice in _tokens_from(logprobs, end):
        if _list_goes_on(choice.token[len(before) :]) is None:
            continue
        if len(choice.top) < 2:
            return None
        shares = {True: 0.0, False: 0.0}
        for token, logprob in {**dict(choice.top), choice.token: choice.logprob}.items():
            goes_on = _list_goes_on(token.removeprefix(before))
            if goes_on is not None and not math.isnan(logprob):
                shares[goes_on] += math.exp(min(logprob, 0.0))
        total = sum(shares.values())
        return shares[True] / total if total > 0.0 else None
    return None


def _list_goes_on(token: str) -> bool | None:
    """Whether ``token`` continues a list (True) or ends it (False); None if it does neither."""
    mark = _SEPARATOR.search(token)
    return None if mark is None else mark[0] == ","


def _decision_places(text: str) -> Iterator[int]:
    """The places where a decision may begin, the last of each kind: in the order of the ladder,
    with JSON first if the answer is JSON."""
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
    """The weight of each label from ``start`` on, up to the token that leaves only one label.

    Alternatives that begin several labels count equally for each. Empty if a token has no
    alternatives, or no token separates the labels.
    """
    weights: dict[str, float] = defaultdict(float)
    written, share = "", 1.0
    for before, choice in _tokens_from(logprobs, start):
        if len(choice.top) < 2 or math.isnan(choice.logprob):
            return {}
        others = {token: logprob for token, logprob in choice.top if token != choice.token}
        for token, logprob in others.items():
            begun = _begun_names(written + token.removeprefix(before), spelled)
            for name in begun if not math.isnan(logprob) else ():
                weights[name] += share * math.exp(min(logprob, 0.0)) / len(begun)
        written += choice.token[len(before) :]
        share *= math.exp(min(choice.logprob, 0.0))
        begun = _begun_names(written, spelled)
        if len(begun) < 2:
            for name in begun:
                weights[name] += share
            return weights if begun else {}
    return {}


def _tokens_from(
    logprobs: Sequence[TokenChoices], place: int
) -> Iterator[tuple[str, TokenChoices]]:
    """The tokens from ``place`` on, each with its part before ``place``."""
    start = 0
    for choice in logprobs:
        end = start + len(choice.token)
        if place < end:
            yield choice.token[: max(0, place - start)], choice
        start = end


def _begun_names(written: str, spelled: Sequence[tuple[str, str]]) -> set[str]:
    """The labels that ``written`` begins, or the label that it spells with more after it."""
    written = written.lstrip(_DRESS)
    key = squash(written)
    if not key:
        return set()
    # A name may go on after a blank but not on another line.
    goes_on = "\n" not in written
    longer = {name for form, name in spelled if goes_on and form != key and form.startswith(key)}
    whole = next((pair for pair in spelled if _starts(key, pair[0])), None)
    if whole is None or (longer and whole[0] != key):
        return longer
    return longer | {whole[1]}


def _starts(key: str, form: str) -> bool:
    return key.startswith(form) and not key[len(form) : len(form) + 1].isalnum()
