"""Turn a completion into the reply that a protocol receives."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, TypeAlias

from labelhub.core.llm.parsing.decision import last_decision, strip_thinking
from labelhub.core.llm.parsing.ladder import is_refusal, prepare_text, read_value
from labelhub.core.llm.parsing.likelihood import label_probabilities, presence_probabilities
from labelhub.core.llm.parsing.structured import (
    MISSING,
    last_in_json,
    quotations,
    read_json,
    whole_json,
)
from labelhub.core.llm.types import Call, Completion, Output, Reply, Status
from labelhub.core.schema import Schema, Value, ValueNotOffered, fold, value_key
from labelhub.core.schema.content import NoAnswer, match_name, read_content, strip_decoration
from labelhub.core.schema.menu import Menu, answer_ids, menu_of, squash

MOST_PHRASES = 10
_LONGEST_PHRASE = 1000

_QUOTED = re.compile(r"[\"“„«](?P<phrase>[^\"“”„«»]+)[\"”“»]")
_OPENED = re.compile(r"[\"“„«]")
_BETWEEN = re.compile(r"[\"”»][ \t]*[,;][ \t]*(?:and[ \t]+)?[\"“„«]")
_DISAGREES = re.compile(r"[ \t*_]*disagree", re.IGNORECASE)
_ALIKE = {"'": "['’‘]", "’": "['’‘]", "‘": "['’‘]", '"': '["“”]', "“": '["“”]', "”": '["“”]'}


def read_evidence(answer: str, names: Sequence[str], source: str) -> dict[str, tuple[str, ...]]:
    """Name → the phrases quoted for it, as ``source`` spells them; names without phrases left out.

    The phrases come from lines such as ``- Food: "phrase"; "phrase"``, or from an answer in JSON.
    Quotations on a critic's line with ``disagree`` speak against the label and are left out.
    """
    found: dict[str, tuple[str, ...]] = {}
    if not names or not source:
        return found
    line_of, by_key = _line_pattern(tuple(names))
    quoted = quotations(answer)
    if quoted is None:
        lines = filter(None, map(line_of.match, answer.splitlines()))
        quoted = [
            (line["name"], quotes(line["rest"], source))
            for line in lines
            if not _DISAGREES.match(line["rest"])
        ]
    for named, phrases in quoted:
        name = by_key.get(squash(named))
        if name is None:
            continue
        distinct = dict.fromkeys(phrases)
        kept = [spelled for phrase in distinct if (spelled := find_quote(phrase, source))]
        if kept:
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), *kept)))[:MOST_PHRASES]
    return found


def find_quote(phrase: str, source: str) -> str | None:
    """``phrase`` as ``source`` spells it; None if it does not occur there.

    Only case, blanks, the style of quotation marks, and an ellipsis or full stop at an end may
    differ.
    """
    phrase = phrase[:_LONGEST_PHRASE]
    for wanted in (phrase, phrase.strip(" \t.,;:…")):
        words = wanted.split()
        if not any(char.isalnum() for char in wanted):
            continue
        if wanted in source:
            return wanted
        pattern = r"\s+".join("".join(_ALIKE.get(c) or re.escape(c) for c in w) for w in words)
        match = re.search(pattern, source, re.IGNORECASE)
        if match:
            return match[0]
    return None


def quotes(line: str, source: str) -> list[str]:
    """The phrases in double quotes on ``line``, with inner marks if ``source`` has the phrase."""
    opened, closed = _OPENED.search(line), max(map(line.rfind, '"”»'))
    if opened and opened.end() < closed:
        whole = _BETWEEN.split(line[opened.end() : closed])
        if all(find_quote(phrase, source) for phrase in dict.fromkeys(whole)):
            return whole
    return [match["phrase"] for match in _QUOTED.finditer(line)]


@lru_cache(maxsize=64)
def _line_pattern(names: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    longest_first = sorted(names, key=len, reverse=True)
    alternatives = "|".join(
        r"\s+".join(re.escape(word) for word in name.split()) for name in longest_first
    )
    pattern = re.compile(
        r"[ \t]*(?:[-*•+]|\d+[.)])?[ \t]*[*_`#]*(?:-?\d+(?:\.\d+)?:[ \t]*)?"
        rf"(?P<name>{alternatives})[*_`]*[ \t]*:(?P<rest>.*)",
        re.IGNORECASE,
    )
    return pattern, {squash(name): name for name in names}


Ranking: TypeAlias = tuple[Value, ...]

_CHOICE = re.compile(
    r"^[ \t*_#•|`-]*(?:\d+[.)][ \t]*[*_]*)?(?:(?:my|the)[ ])?(?P<rank>first|second)[ ]choice"
    r"[ \t*_]*[:：|](?P<rest>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBERED = re.compile(r"[ \t]*[*_]*(?P<number>\d{1,3})[.)][ \t]*(?P<rest>\S.*)")
_RANKED = re.compile(r"([,>→])")
_MOST_RANKED = 50
_LONGEST = 4000


def read_ranks(
    answer: str, schema: Schema, options: Sequence[str] = (), *, cut_off: bool = False
) -> tuple[Ranking, int]:
    """The values that ``answer`` ranks, best first, at least one and each once; and their rung.

    Only the first decides: a later value that is not offered is left out.

    Raises:
        ValueNotOffered: the first is not offered; ``data["off_menu"]`` holds it.
        NoAnswer: there is no certain answer.
    """
    text = prepare_text(answer, schema)
    whole = whole_json(text)
    rung = 2 if whole is MISSING else 1
    raw = last_in_json(text, _ranks_of) if whole is MISSING else _ranks_of(whole)
    if raw is not MISSING:
        return _read_all(partial(read_json, rank, schema, options) for rank in raw), rung
    ranked = _read_choices(text, schema, options, cut_off=cut_off)
    if ranked is None and schema.task.one_of_several:
        ranked = _read_listed(text, schema, options, cut_off=cut_off)
    if ranked is not None:
        return ranked, 3
    value, rung = read_value(answer, schema, options, cut_off=cut_off)
    return (value,), rung


def _ranks_of(found: Any) -> Any:
    """The list of ranks in a JSON object of one of the two forms, else ``MISSING``."""
    if not isinstance(found, dict):
        return MISSING
    keys = {fold(key).replace(" ", "_").removesuffix("_choice"): raw for key, raw in found.items()}
    if "ranking" in keys and "first" not in keys:
        ranks = keys["ranking"]
        return ranks if isinstance(ranks, list) and ranks else MISSING
    if "first" in keys and "ranking" not in keys:
        return [keys["first"], *([keys["second"]] if "second" in keys else [])]
    return MISSING


def _read_choices(
    text: str, schema: Schema, options: Sequence[str], *, cut_off: bool
) -> Ranking | None:
    """The ranking in the last lines "First choice" and "Second choice"; None without the first."""
    last = {match["rank"].casefold(): match for match in _CHOICE.finditer(text)}
    if "first" not in last:
        return None
    lines = [last[rank] for rank in ("first", "second") if rank in last]
    finished = [line for line in lines if not cut_off or line.end() < len(text)]
    if lines[0] not in finished:
        raise NoAnswer("The answer was cut off in its last line.")
    ranked = _read_all(partial(read_content, line["rest"], schema, options) for line in finished)
    decision = last_decision(text, schema)
    if decision is not None and decision.final and decision.start > lines[0].start():
        decided = read_content(decision.content, schema, options)
        if decided != ranked[0]:
            raise NoAnswer("The first choice and the final decision differ.")
    return ranked


def _read_listed(
    text: str, schema: Schema, options: Sequence[str], *, cut_off: bool
) -> Ranking | None:
    """The names of the numbered list at the end of the text, else of the decision line."""
    menu = menu_of(schema, options)
    names = _names_in_list(text, menu, cut_off=cut_off)
    decision = None if names else last_decision(text, schema)
    if decision is not None and decision.final and not decision.retracted:
        whole = cut_off and not decision.complete
        names = [] if whole else _names_in_row(strip_decoration(decision.content[:_LONGEST]), menu)
    if not names:
        return None
    return _read_all(partial(read_content, name, schema, options) for name in names)


def _names_in_list(text: str, menu: Menu, *, cut_off: bool) -> list[str]:
    """The names in a list 1, 2, … at the end of the text; none if the first item is no name."""
    items: list[re.Match[str]] = []
    for line in reversed(text.rstrip().split("\n")):
        item = _NUMBERED.fullmatch(line)
        if item is None:
            break
        items.append(item)
    items.reverse()
    numbers = [int(item["number"]) for item in items]
    if len(items) < 2 or numbers != list(range(1, len(items) + 1)):
        return []
    finished = items[:-1] if cut_off and not text.endswith("\n") else items
    names = [match_name(item["rest"], menu) for item in finished]
    return [name for name in names if name] if names[0] else []


def _names_in_row(row: str, menu: Menu) -> list[str]:
    """The names in ``row``, the longest possible ones; none if it begins with something else.

    A row that is one name as a whole is left to the ladder, and so is a single piece.
    """
    pieces = _RANKED.split(row)
    if not 1 < len(pieces) <= 2 * _MOST_RANKED or match_name(row, menu) is not None:
        return []
    names: list[str] = []
    while pieces:
        sizes = range(len(pieces), 0, -2)
        spelled = ((match_name("".join(pieces[:size]), menu), size) for size in sizes)
        name, size = next((pair for pair in spelled if pair[0] is not None), (None, 1))
        if name is None and not names:
            return []
        names += [] if name is None else [name]
        pieces = pieces[size + 1 :]
    return names


def _read_all(reads: Iterable[partial[Value]]) -> Ranking:
    """The different results of ``reads``; a later one that fails is left out."""
    found: dict[str, Value] = {}
    for read in reads:
        try:
            value = read()
        except (ValueNotOffered, NoAnswer):
            if not found:
                raise
            continue
        found.setdefault(value_key(value), value)
    return tuple(found.values())


_DECLINED = re.compile(
    r"\W*(?:(?:i['’]?m|i am) sorry|sorry|i apologi[sz]e)[^.!?\n]{0,80}"
    r"\b(?:can['’]?t|cannot|unable|not able|won['’]?t)\b"
    r"|\W*i (?:can['’]?t|cannot|won['’]?t) (?:help|assist|comply|argue|write|provide)\b",
    re.IGNORECASE,
)
#: The outputs in free words, and what a model that refuses declines to do.
_WORDED: Mapping[str, str] = {
    Output.ARGUMENT: "argue",
    **dict.fromkeys((Output.QUESTION, Output.OFFER), "write it"),
}


def read_completion(call: Call, completion: Completion) -> Reply:
    """The reply in ``completion``, read as the ``output`` of ``call`` requires.

    Evidence is checked against the call's text. With log-probabilities in the completion,
    ``probabilities`` are those of the labels by name, or of each label to be in the set.
    """
    reply = read_answer(
        completion.text,
        call.schema,
        call.options,
        completion.finish_reason,
        completion.refusal,
        source=call.text,
        output=call.output,
    )
    if reply.value is None or not completion.logprobs:
        return reply
    return replace(reply, probabilities=_probabilities(call, completion, reply))


def read_answer(
    text: str,
    schema: Schema,
    options: Sequence[str] = (),
    finish_reason: str = "stop",
    refusal: str = "",
    *,
    source: str = "",
    output: str = Output.DECISION,
) -> Reply:
    """The reply in ``text``. Never raises and never returns a value that is not offered.

    Args:
        text: what the model wrote; thinking in tags is removed first.
        schema: the question.
        options: the item's own choices (``per_item``).
        finish_reason: from the provider; ``length`` makes an unfinished answer ``truncated``,
            ``content_filter`` any answer ``refused``.
        refusal: the provider's refusal field.
        source: the item's text; quotations that do not occur in it are dropped.
        output: of a ranking, ``value`` is the best answer and ``ranking`` holds all of them; a
            later choice that is not offered is left out. An output in free words has no value and
            is not checked; only an argument may have evidence.
    """
    answer, cut_off = strip_thinking(text), finish_reason == "length"
    if refusal or finish_reason == "content_filter":
        note = refusal or "The provider's content filter stopped the answer."
        return Reply(answer, status=Status.REFUSED, note=note)
    if output in _WORDED:
        reply = _read_words(answer, output, cut_off=cut_off)
        if output != Output.ARGUMENT or not reply.ok:
            return reply
    else:
        reply = _read_offered(answer, schema, options, output, cut_off=cut_off)
    return replace(reply, evidence=read_evidence(answer, schema.offered(options), source))


def _read_offered(
    answer: str, schema: Schema, options: Sequence[str], output: str, *, cut_off: bool
) -> Reply:
    try:
        if output == Output.RANKING:
            ranking, rung = read_ranks(answer, schema, options, cut_off=cut_off)
            return Reply(answer, value=ranking[0], rung=rung, ranking=ranking, cut_off=cut_off)
        value, rung = read_value(answer, schema, options, cut_off=cut_off)
    except (NoAnswer, ValueNotOffered) as problem:
        return _failed_reply(answer, problem, cut_off=cut_off)
    return Reply(answer, value=value, rung=rung, cut_off=cut_off)


def _read_words(answer: str, output: str, *, cut_off: bool) -> Reply:
    if not answer.strip():
        return _failed_reply(answer, NoAnswer("The answer is empty."), cut_off=cut_off)
    if _DECLINED.match(answer):
        note = f"The model declined to {_WORDED[output]}."
        return Reply(answer, status=Status.REFUSED, note=note)
    return Reply(answer, cut_off=cut_off)


def _failed_reply(answer: str, problem: Exception, *, cut_off: bool) -> Reply:
    status, off_menu = Status.UNPARSED, ""
    if isinstance(problem, ValueNotOffered):
        off_menu = str(problem.data.get("off_menu", ""))
    elif cut_off:
        status = Status.TRUNCATED
    elif is_refusal(answer):
        status = Status.REFUSED
    return Reply(answer, status=status, note=str(problem), off_menu=off_menu, cut_off=cut_off)


def _probabilities(call: Call, completion: Completion, reply: Reply) -> dict[str, float]:
    if call.schema.task.written:
        return {}
    if isinstance(reply.value, list):
        names = call.schema.offered(call.options)
        return presence_probabilities(completion.logprobs, names, reply.value)
    points = {label.point: label.name for label in call.schema.labels}
    return label_probabilities(
        completion.text,
        completion.logprobs,
        call.schema.offered(call.options),
        ids=answer_ids(call.schema),
        decided=points[reply.value] if isinstance(reply.value, int | float) else str(reply.value),
    )
