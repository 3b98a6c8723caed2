"""How sure a model was of its label: the probabilities at the label's first token.

Only that token decides between labels. Means over all tokens of an answer, as other tools report
them, mostly tell how predictable its wording is; so the alternatives at the one token are taken,
over the label set alone.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from labelhub.core.llm.parsing.names import squash
from labelhub.core.llm.types import TokenChoices

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


def label_probabilities(
    completion_text: str,
    logprobs: Sequence[TokenChoices],
    names: Sequence[str],
    *,
    ids: Mapping[str, str] | None = None,
    decided: str = "",
) -> dict[str, float]:
    """The probability of each offered label at the first token of the decided one, summing to 1.

    Args:
        completion_text: the answer.
        logprobs: its tokens with natural log-probabilities and alternatives.
        names: the offered labels.
        ids: the number that may stand for a name, by name.
        decided: the label that was read from the answer; the place must name it. "" for any.

    Returns:
        The labels that the alternatives begin, likeliest first; labels not among the alternatives
        are left out. Empty where it cannot be told: no alternatives, no decision found, tokens that
        do not spell the text, or a first token with which several labels begin.
    """
    spelled = _spelled(names, ids or {})
    text = "".join(choice.token for choice in logprobs)
    if not spelled or not text.strip() or completion_text.strip() not in text:
        return {}
    at = _decided_at(text, spelled, decided)
    choice = None if at is None else _token_at(logprobs, at)
    if choice is None or len(choice.top) < 2:
        return {}
    weights: dict[str, float] = defaultdict(float)
    for token, logprob in {choice.token: choice.logprob, **dict(choice.top)}.items():
        name = _begun(token, spelled)
        if name is not None and not math.isnan(logprob):
            weights[name] += math.exp(min(logprob, 0.0))
    total = sum(weights.values())
    if total <= 0.0 or _begun(choice.token, spelled) is None:
        return {}
    likely = sorted(weights.items(), key=lambda pair: -pair[1])
    return {name: weight / total for name, weight in likely}


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
    for at in _places(text):
        while at < len(text) and text[at] in _DRESS:
            at += 1  # noqa: PLW2901 - steps over decoration
        name = _name_at(text, at, spelled)
        if name is not None:
            return at if decided in {"", name} else None
    return None


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


def _name_at(text: str, at: int, spelled: Sequence[tuple[str, str]]) -> str | None:
    key = squash(text[at : at + _WINDOW])
    return next((name for form, name in spelled if _starts(key, form)), None)


def _token_at(logprobs: Sequence[TokenChoices], at: int) -> TokenChoices | None:
    end = 0
    for choice in logprobs:
        end += len(choice.token)
        if at < end:
            return choice
    return None


def _begun(token: str, spelled: Sequence[tuple[str, str]]) -> str | None:
    """The one label that ``token`` begins, or spells with something after it; None if several."""
    key = squash(token.lstrip(_DRESS))
    if not key:
        return None
    begun = {name for form, name in spelled if form.startswith(key) or _starts(key, form)}
    return begun.pop() if len(begun) == 1 else None


def _starts(key: str, form: str) -> bool:
    return key.startswith(form) and not key[len(form) : len(form) + 1].isalnum()
