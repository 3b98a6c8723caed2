"""Courtroom: a hearing finds the two best answers, advocates argue for them, judges decide.

Source: paper 002, section 3. The preliminary hearing gives A1 and A2. The prosecution argues for
A1, the defence for A2, at about the same length. Judges (``judges.py``) read both sides and the
precedents (similar verified items, each with a reason) and decide: in parallel by majority, or in
sequence, where the last verdict counts. Choices of this project where the paper is silent: the
hearing is asked for a ranking; the item determines which side is heard first; a verdict that nobody
argued for is accepted and flagged; if a side gives no argument, there is no trial.

Not for ``multi`` and ``text``: a trial weighs two answers, and a set of n labels has 2^n.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from labelhub.core.debate.evidence import contribution, is_silent, rationale
from labelhub.core.debate.info import (
    CallCount,
    Group,
    Opinions,
    Part,
    ProtocolInfo,
    Setting,
    Settings,
    exact_count,
)
from labelhub.core.debate.judges import (
    JUDGE,
    Candidates,
    ask_judges,
    choose_candidates,
    trial_outcome,
)
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
from labelhub.core.texts import gettext_noop

#: How many times as long as the other one side may be before whole sentences of it are cut.
TOLERANCE = 1.25
_CLOSING = r"[\"”’»)\]]*+"
#: A stop ends a sentence before a blank; Chinese and Japanese stops need no blank.
_SENTENCE = re.compile(
    rf".+?(?:[.!?…]++{_CLOSING}(?=\s|$)|[。！？]++{_CLOSING}|\n|$)",
    re.DOTALL,
)


def equalize_lengths(first: str, other: str, longest: int) -> tuple[str, str]:
    """Both texts with at most ``longest`` characters and of about the same length: the longer one
    loses whole sentences at its end."""
    first, other = cut_to_length(first, longest), cut_to_length(other, longest)
    return _shorten_to(first, len(other)), _shorten_to(other, len(first))


def cut_to_length(text: str, longest: int) -> str:
    """The first whole sentences of ``text`` that fit into ``longest`` characters; if not even one
    fits, its beginning."""
    text = text.strip()
    if len(text) <= longest:
        return text
    fitting = [end for end in _sentence_ends(text[: longest + 1]) if end <= longest]
    return text[: fitting[-1] if fitting else longest].strip()


def _shorten_to(text: str, length: int) -> str:
    """``text`` up to the end of the sentence nearest to ``length``, if it is much longer."""
    if not length or len(text) <= length * TOLERANCE:
        return text
    return text[: min(_sentence_ends(text), key=lambda end: abs(end - length))].strip()


def _sentence_ends(text: str) -> list[int]:
    return [sentence.end() for sentence in _SENTENCE.finditer(text)]


NOT_FOR = gettext_noop(
    "a trial compares two answers; sets of labels and free text have too many. "
    "Use extractor, critic, judge (ECJ), or for sets of labels a discussion."
)
CLERK, PROSECUTOR, DEFENCE, REPORTER = "clerk", "prosecutor", "defence", "reporter"
SIDES = ("prosecution", "defence")

SETTINGS = (
    Setting(
        name="judges",
        main=True,
        title=gettext_noop("Judges"),
        default=3,
        choices=(1, 3, 5),
    ),
    Setting(
        name="deliberation",
        main=True,
        title=gettext_noop("Deliberation"),
        help=gettext_noop(
            "Sequential: each judge reads the verdicts before, and the last one decides. "
            "Parallel: the judges do not read each other, and the majority decides."
        ),
        default="sequential",
        choices=("sequential", "parallel"),
    ),
    Setting(
        name="precedents",
        main=True,
        title=gettext_noop("Precedents for each label"),
        help=gettext_noop(
            "Verified items that are most similar to the text. Without precedents, a trial is "
            "often less accurate than a single call (Courtroom-LLM, table 3)."
        ),
        default=0,
        low=0,
        high=3,
    ),
    Setting(
        name="precedents_for",
        title=gettext_noop("Precedents are for"),
        default="all",
        choices=("all", "candidates"),
        help=gettext_noop("All labels, or only the two candidates of the trial."),
    ),
    Setting(
        name="speaks_first",
        title=gettext_noop("Heard first"),
        help=gettext_noop(
            "The argument that the judges read first has more weight. By item: each side is "
            "first for about half of the items."
        ),
        default="by item",
        choices=("by item", *SIDES),
    ),
    Setting(
        name="argument_length",
        title=gettext_noop("Length of an argument"),
        help=gettext_noop(
            "In characters. Both arguments are cut at the end of a sentence to about the same "
            "length."
        ),
        default=600,
        low=100,
        high=5000,
    ),
    Setting(name="temperature", title=gettext_noop("Temperature"), default=0.5, low=0.0, high=2.0),
)


def courtroom(item: DebateItem, spec: DebateSpec) -> Debate:
    """Hearing, arguments with the reasons of the precedents, deliberation."""
    warmth = {"temperature": spec.settings["temperature"]}
    (hearing,) = yield [spec.call(CLERK, params=warmth | {"logprobs": True})]
    heard = {CLERK: hearing}
    if hearing.value is None:
        return _dismissed(item, spec, heard)
    two = choose_candidates(hearing.value, hearing, item, spec.schema)
    shown = _select_precedents(item, two, spec)
    calls = [
        _argument_call(spec, PROSECUTOR, two.first, warmth),
        _argument_call(spec, DEFENCE, two.second, warmth),
        *(_reason_call(spec, number, precedent) for number, precedent in enumerate(shown, start=1)),
    ]
    replies = yield calls
    # Our own names: within a cascade the steps have other ones.
    names = (PROSECUTOR, DEFENCE, *(_step(number) for number in range(1, len(shown) + 1)))
    heard |= dict(zip(names, replies, strict=True))
    if is_silent(heard[PROSECUTOR]) or is_silent(heard[DEFENCE]):
        return _dismissed(item, spec, heard)
    case = {
        "arguments": _argument_inputs(spec, two, heard),
        "precedents": [
            {
                "label": _trusted(precedent.label, spec),
                "text": Untrusted(precedent.text),
                "reason": Untrusted(contribution(heard[_step(number)])),
            }
            for number, precedent in enumerate(shown, start=1)
        ],
    }
    judges = yield from ask_judges(spec, case, warmth)
    outcome = trial_outcome(item, spec, two, heard, judges)
    return replace(outcome, signals={**outcome.signals, **_trial_signals(two, case, heard)})


def _select_precedents(item: DebateItem, two: Candidates, spec: DebateSpec) -> list[Precedent]:
    """The precedents for the judges: for each label the nearest ones."""
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


def _argument_call(spec: DebateSpec, role: str, claim: Value, params: Mapping[str, Any]) -> Call:
    # Arguments are cut by characters; the token limit only bounds the cost.
    cap = {"max_tokens": max(64, spec.settings["argument_length"] // 2)}
    return spec.call(role, inputs={"claim": _claim(claim, spec)}, params={**params, **cap})


def _reason_call(spec: DebateSpec, number: int, precedent: Precedent) -> Call:
    """Ask why a precedent has its label; the same call wherever it is used, so answered once."""
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
    """An answer as prompts show it: labels are trusted, options of items are not."""
    return Untrusted(name) if spec.schema.task.item_options else name


def _argument_inputs(
    spec: DebateSpec, two: Candidates, heard: Mapping[str, Reply]
) -> list[dict[str, Any]]:
    """The arguments of both sides for the judges, in their order."""
    texts = equalize_lengths(
        contribution(heard[PROSECUTOR]),
        contribution(heard[DEFENCE]),
        spec.settings["argument_length"],
    )
    sides = [
        {"side": side, "claim": _claim(claim, spec), "text": Untrusted(text)}
        for side, claim, text in zip(SIDES, (two.first, two.second), texts, strict=True)
    ]
    first = spec.settings["speaks_first"]
    turned = two.turned if first == "by item" else first == "defence"
    return sides[::-1] if turned else sides


def _trial_signals(
    two: Candidates, case: Mapping[str, Any], heard: Mapping[str, Reply]
) -> dict[str, Any]:
    read = {argument["side"]: len(argument["text"]) for argument in case["arguments"]}
    return {
        "candidates": [two.first, two.second],
        "second_by": two.second_by,
        "heard_first": case["arguments"][0]["side"],
        "lengths": [len(contribution(heard[role])) for role in (PROSECUTOR, DEFENCE)],
        "lengths_read": [read[side] for side in SIDES],
        "precedents": len(case["precedents"]),
    }


def _dismissed(item: DebateItem, spec: DebateSpec, heard: Mapping[str, Reply]) -> Outcome:
    """The outcome without a trial: the hearing named no answer, or a side has no argument."""
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
    return exact_count(3 + judges, 3 if settings["deliberation"] == "parallel" else 2 + judges)


def _steps(settings: Settings) -> tuple[tuple[str, str], ...]:
    sides = tuple((role, role) for role in (CLERK, PROSECUTOR, DEFENCE))
    judges = range(1, settings["judges"] + 1)
    return (*sides, *((f"judge/{number}", JUDGE) for number in judges))


INFO = ProtocolInfo(
    name="courtroom",
    title=gettext_noop("Courtroom"),
    description=gettext_noop(
        "Two advocates argue for the two best answers; judges decide, with similar "
        "verified items as precedents."
    ),
    group=Group.DEBATE,
    start=courtroom,
    parts=_parts,
    calls=_count_calls,
    answers=lambda task: task.one_of_several,
    not_for=NOT_FOR,
    settings=SETTINGS,
    steps=_steps,
    opinions=Opinions(
        first=gettext_noop("Hearing"),
        last=gettext_noop("verdict"),
        voters=gettext_noop("judges"),
        rounds="verdicts",
        round=gettext_noop("Judge"),
        round_from=1,
    ),
    debated=True,
)
