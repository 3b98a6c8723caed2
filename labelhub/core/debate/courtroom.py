"""Courtroom: a hearing finds the two best answers, advocates argue for them, judges decide.

Source: paper 002, section 3. The preliminary hearing gives A1 and A2; the prosecution argues for
A1, the defence for A2, at about the same length; judges (``judges.py``) read both sides and
precedents (verified items that are alike, each with a reason) and decide, side by side by majority
or one after the other, where the last one's verdict counts. Where the paper is silent: the hearing
is asked for a ranking; which side is heard first is settled by the item; a verdict that nobody
argued for is accepted and flagged; there is no trial where a side cannot be heard.

Not for ``multi`` and ``text``: a trial weighs two answers, and a set of n labels has 2^n.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from labelhub.core.debate.evidence import rationale, silent, words
from labelhub.core.debate.info import (
    CallCount,
    Group,
    Opinions,
    Part,
    ProtocolInfo,
    Setting,
    Settings,
    exactly,
)
from labelhub.core.debate.judges import JUDGE, Candidates, candidates, deliberated, verdict
from labelhub.core.debate.outcome import (
    Debate,
    DebateItem,
    DebateSpec,
    Outcome,
    Precedent,
    Untrusted,
)
from labelhub.core.debate.signals import debate_signals, flags
from labelhub.core.llm.types import Call, Reply, Status
from labelhub.core.schema import Value

#: By how much one side may be longer than the other before whole sentences of it are left out.
TOLERANCE = 1.25
_CLOSING = r"[\"”’»)\]]*+"
#: A stop ends a sentence before a blank; those of Chinese and Japanese need none.
_SENTENCE = re.compile(
    rf".+?(?:[.!?…]++{_CLOSING}(?=\s|$)|[。！？]++{_CLOSING}|\n|$)",
    re.DOTALL,
)


def equalised(first: str, other: str, longest: int) -> tuple[str, str]:
    """Both texts, neither longer than ``longest`` characters, and as like in length as leaving out
    whole sentences at the end of the longer one can make them."""
    first, other = within(first, longest), within(other, longest)
    return _like(first, len(other)), _like(other, len(first))


def within(text: str, longest: int) -> str:
    """As many whole sentences of ``text`` as fit into ``longest`` characters; at least the first,
    cut to size."""
    text = text.strip()
    if len(text) <= longest:
        return text
    fitting = [end for end in _ends(text[: longest + 1]) if end <= longest]
    return text[: fitting[-1] if fitting else longest].strip()


def _like(text: str, length: int) -> str:
    """``text`` up to the end of that sentence which brings it nearest to ``length``."""
    if not length or len(text) <= length * TOLERANCE:
        return text
    return text[: min(_ends(text), key=lambda end: abs(end - length))].strip()


def _ends(text: str) -> list[int]:
    """Where the sentences of ``text`` end."""
    return [sentence.end() for sentence in _SENTENCE.finditer(text)]


NOT_FOR = (
    "a trial weighs two answers against each other; sets of labels and free text have too many. "
    "Use ecj there, or for sets of labels discussion."
)
CLERK, PROSECUTOR, DEFENCE, REPORTER = "clerk", "prosecutor", "defence", "reporter"
SIDES = ("prosecution", "defence")

SETTINGS = (
    Setting(
        name="judges",
        main=True,
        title="Judges",
        help="How many decide.",
        default=3,
        choices=(1, 3, 5),
    ),
    Setting(
        name="deliberation",
        main=True,
        title="Deliberation",
        help="In sequence each judge reads those before, and the last one decides; in parallel "
        "the majority does.",
        default="sequential",
        choices=("sequential", "parallel"),
    ),
    Setting(
        name="precedents",
        main=True,
        title="Precedents for each label",
        help="Verified items that are most like the text. Without any, a trial often does worse "
        "than a single call (the Courtroom-LLM paper, table 3).",
        default=0,
        low=0,
        high=3,
    ),
    Setting(
        name="precedents_for",
        title="Precedents are for",
        default="all",
        choices=("all", "candidates"),
        help="All labels, or only the two that are argued for.",
    ),
    Setting(
        name="speaks_first",
        title="Heard first",
        help="What is read first weighs more; by item, either side is about as often first.",
        default="by item",
        choices=("by item", *SIDES),
    ),
    Setting(
        name="argument_length",
        title="Length of an argument",
        help="Characters; both are cut at the end of a sentence to about the same length.",
        default=600,
        low=100,
        high=5000,
    ),
    Setting(name="temperature", title="Temperature", default=0.5, low=0.0, high=2.0),
)


def courtroom(item: DebateItem, spec: DebateSpec) -> Debate:
    """Hearing, arguments with the reasons of the precedents, deliberation."""
    warmth = {"temperature": spec.settings["temperature"]}
    (hearing,) = yield [spec.call(CLERK, params=warmth | {"logprobs": True})]
    heard = {CLERK: hearing}
    if hearing.value is None:
        return _dismissed(item, spec, heard)
    two = candidates(hearing.value, hearing, item, spec.schema)
    shown = _shown(item, two, spec)
    calls = [
        _argument(spec, PROSECUTOR, two.first, warmth),
        _argument(spec, DEFENCE, two.second, warmth),
        *(_reason(spec, number, precedent) for number, precedent in enumerate(shown, start=1)),
    ]
    replies = yield calls
    # By names of our own: within a cascade, steps have others.
    names = (PROSECUTOR, DEFENCE, *(_step(number) for number in range(1, len(shown) + 1)))
    heard |= dict(zip(names, replies, strict=True))
    if silent(heard[PROSECUTOR]) or silent(heard[DEFENCE]):
        return _dismissed(item, spec, heard)
    case = {
        "arguments": _arguments(spec, two, heard),
        "precedents": _precedents(spec, shown, heard),
    }
    judges = yield from deliberated(spec, case, warmth)
    outcome = verdict(item, spec, two, heard, judges)
    return replace(outcome, signals={**outcome.signals, **_of_the_trial(two, case, heard)})


def _shown(item: DebateItem, two: Candidates, spec: DebateSpec) -> list[Precedent]:
    """The precedents that the judges read: for each label the nearest, as many as are wanted."""
    most = spec.settings["precedents"]
    argued = [spec.schema.name_of(value) for value in (two.first, two.second)]
    every = spec.settings["precedents_for"] == "all"
    nearest: dict[str, list[Precedent]] = {}
    for precedent in item.precedents:
        nearest.setdefault(precedent.label, []).append(precedent)
    return [
        precedent
        for label in nearest
        if every or label in argued
        for precedent in nearest[label][:most]
    ]


def _argument(spec: DebateSpec, role: str, claim: Value, params: Mapping[str, Any]) -> Call:
    # Characters cut an argument to its length; the cap keeps a runaway from being paid for.
    cap = {"max_tokens": max(64, spec.settings["argument_length"] // 2)}
    return spec.call(role, inputs={"claim": _claim(claim, spec)}, params={**params, **cap})


def _reason(spec: DebateSpec, number: int, precedent: Precedent) -> Call:
    """Why a precedent has its label: asked alike wherever it is used, so answered only once."""
    return spec.call(
        REPORTER,
        step=_step(number),
        inputs={"example": Untrusted(precedent.text), "claim": _trusted(precedent.label, spec)},
        once=True,
    )


def _step(number: int) -> str:
    return f"precedent/{number}"


def _claim(value: Value, spec: DebateSpec) -> str:
    return _trusted(spec.schema.name_of(value), spec)


def _trusted(name: str, spec: DebateSpec) -> str:
    """An answer as prompts name it: labels are the project's own words, options are strangers'."""
    return Untrusted(name) if spec.schema.task.item_options else name


def _arguments(
    spec: DebateSpec, two: Candidates, heard: Mapping[str, Reply]
) -> list[dict[str, Any]]:
    """What every judge reads of the two sides, in the order in which they are heard."""
    texts = equalised(
        words(heard[PROSECUTOR]), words(heard[DEFENCE]), spec.settings["argument_length"]
    )
    sides = [
        {"side": side, "claim": _claim(claim, spec), "text": Untrusted(text)}
        for side, claim, text in zip(SIDES, (two.first, two.second), texts, strict=True)
    ]
    first = spec.settings["speaks_first"]
    turned = two.turned if first == "by item" else first == "defence"
    return sides[::-1] if turned else sides


def _precedents(
    spec: DebateSpec, shown: Sequence[Precedent], heard: Mapping[str, Reply]
) -> list[dict[str, Any]]:
    return [
        {
            "label": _trusted(precedent.label, spec),
            "text": Untrusted(precedent.text),
            "reason": Untrusted(words(heard[_step(number)])),
        }
        for number, precedent in enumerate(shown, start=1)
    ]


def _of_the_trial(
    two: Candidates, case: Mapping[str, Any], heard: Mapping[str, Reply]
) -> dict[str, Any]:
    read = {argument["side"]: len(argument["text"]) for argument in case["arguments"]}
    return {
        "candidates": [two.first, two.second],
        "second_by": two.second_by,
        "heard_first": case["arguments"][0]["side"],
        "lengths": [len(words(heard[role])) for role in (PROSECUTOR, DEFENCE)],
        "lengths_read": [read[side] for side in SIDES],
        "precedents": len(case["precedents"]),
    }


def _dismissed(item: DebateItem, spec: DebateSpec, heard: Mapping[str, Reply]) -> Outcome:
    """No trial: the hearing named no answer, or a side could not be heard."""
    hearing = heard[CLERK]
    return Outcome(
        value=None,
        rationale=rationale(hearing),
        signals=debate_signals(
            item, heard, first=hearing.value, decided=None, labels=spec.schema.names
        ),
        flags=flags(item, heard.values(), labels=spec.schema.names),
        uncertainty=1.0,
        failed=any(reply.status is Status.FAILED for reply in heard.values()),
    )


def _parts(settings: Settings) -> tuple[Part, ...]:
    parts = (
        Part(CLERK, "courtroom/clerk"),
        Part(PROSECUTOR, "courtroom/advocate"),
        Part(DEFENCE, "courtroom/advocate"),
    )
    reporter = (Part(REPORTER, "courtroom/reporter"),) if settings["precedents"] else ()
    return (*parts, *reporter, Part(JUDGE, "courtroom/judge"))


def _count_calls(settings: Settings) -> CallCount:
    judges = settings["judges"]
    return exactly(3 + judges, 3 if settings["deliberation"] == "parallel" else 2 + judges)


def _steps(settings: Settings) -> tuple[tuple[str, str], ...]:
    sides = tuple((role, role) for role in (CLERK, PROSECUTOR, DEFENCE))
    judges = range(1, settings["judges"] + 1)
    return (*sides, *((f"judge/{number}", JUDGE) for number in judges))


INFO = ProtocolInfo(
    name="courtroom",
    title="Courtroom",
    description="The two best answers are argued for by advocates; judges decide, with "
    "precedents where there are any.",
    group=Group.DEBATE,
    start=courtroom,
    parts=_parts,
    calls=_count_calls,
    answers=lambda task: task.one_of_several,
    not_for=NOT_FOR,
    settings=SETTINGS,
    steps=_steps,
    opinions=Opinions(
        first="Hearing",
        last="verdict",
        voters="judges",
        rounds="verdicts",
        round="Judge",
        round_from=1,
    ),
    debated=True,
)
