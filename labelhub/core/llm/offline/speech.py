"""What roles say that decide nothing: rankings, arguments, reasons, reviews, second thoughts."""

from collections.abc import Iterable
from dataclasses import replace

from labelhub.core.llm.offline.answers import one_line
from labelhub.core.llm.offline.decide import decided, ranked, words_for
from labelhub.core.llm.offline.hearing import named_in
from labelhub.core.llm.offline.look import Look
from labelhub.core.llm.offline.roles import Role
from labelhub.core.llm.types import Call
from labelhub.core.schema import Task

#: An argument has at most sixty words, a reason for a precedent forty; what is quoted, fewer.
_MOST_QUOTED = 30


def ranking(look: Look) -> str:
    """The two best answers, one on each line; where only one is offered, that one alone."""
    places = zip(("First", "Second"), ranked(look), strict=False)
    return "\n".join(f"{place} choice: {one_line(name)}" for place, name in places)


def plea(look: Look, call: Call) -> str:
    """One sentence for the answer that an advocate was given."""
    claim, said = _claimed(look, call)
    if not said:
        return (
            f"No words of the text speak for {claim} by themselves; it is the right answer as far "
            "as nothing in the text speaks more plainly for another."
        )
    return f"The text says {said}, and that is what {claim} means."


def reason(look: Look, call: Call) -> str:
    """One sentence on why a precedent has its label."""
    claim, said = _claimed(look, call)
    if not said:
        return f"It is {claim}, although no single words of the text say so by themselves."
    return f"It is {claim} because the text says {said}."


def review(look: Look) -> str:
    """What a strict reader finds weak in a draft, and what it overlooks."""
    drafted, wanted = look.picked_by("drafter"), decided(look).names
    offered = look.profile.names or tuple(dict.fromkeys((*sorted(drafted), *wanted)))
    lines = [_fault(look, name) for name in offered if name in drafted and name not in wanted]
    lines += [_miss(look, name) for name in wanted if name not in drafted]
    return "\n".join(lines) or f"The draft can stand: {_why_it_stands(look, wanted)}."


def second_thoughts(look: Look) -> tuple[str, ...]:
    """Lines on what an annotator gives up, takes up or keeps, now that others have been heard."""
    if look.role is not Role.ANNOTATOR or not look.lean or look.schema.task is Task.TEXT:
        return ()
    before, after = _first_thoughts(look), decided(look).names
    given_up = [f"Given up: {_with_words(look, name)}." for name in before if name not in after]
    taken_up = [f"Taken up: {_with_words(look, name)}." for name in after if name not in before]
    kept = [f"Kept: {_with_words(look, name)}." for name in after if name in _contested(look)]
    return (*given_up, *taken_up, *(line for line in kept if not taken_up))


def ruling(look: Look, call: Call) -> tuple[str, ...]:
    """Whom a judge of a court follows; empty where nobody has argued."""
    sides = call.inputs.get("arguments") or ()
    if not sides or look.role is not Role.JUDGE:
        return ()
    names = decided(look).names
    followed = [str(side["side"]) for side in sides if set(names) & named_in(side["claim"], call)]
    if not followed:
        return ("I follow neither side: the text demands another answer than theirs.",)
    if not any(words_for(look, name) for name in names):
        return (f"I follow the {followed[0]}: no words of the text carry the other claim.",)
    return (f"I follow the {followed[0]}: the words of the text that speak for it weigh more.",)


def _first_thoughts(look: Look) -> tuple[str, ...]:
    """What a refiner drafted, or what an annotator held before hearing the others."""
    drafted = look.picked_by("drafter")
    if "reviewer" in look.heard:
        return tuple(name for name in look.profile.names if name in drafted)
    return decided(replace(look, lean={})).names


def _contested(look: Look) -> frozenset[str]:
    """Answers that what was heard speaks against, or for less than for another one."""
    most = 0.0 if look.schema.task is Task.MULTI else max(look.lean.values())
    return frozenset(n for n in look.profile.names if look.lean.get(n, 0.0) < most)


def _claimed(look: Look, call: Call) -> tuple[str, str]:
    """The claim in its own spelling, and the best words for it as one listing."""
    claim = str(call.inputs.get("claim", ""))
    name = next(iter(named_in(claim, call)), claim)
    return one_line(name) or "no answer", _listed(words_for(look, name))


def _listed(phrases: Iterable[str]) -> str:
    """The first phrase, and those after it that are short enough."""
    kept: list[str] = []
    for phrase in phrases:
        if not kept or len(" ".join((*kept, phrase)).split()) <= _MOST_QUOTED:
            kept.append(phrase)
    return " and ".join(f'"{phrase}"' for phrase in kept)


def _fault(look: Look, name: str) -> str:
    said = words_for(look, name)
    touch = f'"{said[0]}" only touches on it' if said else "no words of the text are about it"
    return f"- {one_line(name)}: weakly supported, {touch}; without better words, drop it."


def _miss(look: Look, name: str) -> str:
    said = words_for(look, name)
    shown = f'the text says "{said[0]}"' if said else "it fits at least as well"
    return f"- {one_line(name)}: overlooked, {shown}; weigh it again."


def _why_it_stands(look: Look, wanted: Iterable[str]) -> str:
    said = next((words[0] for name in wanted if (words := words_for(look, name))), "")
    return f'"{said}" carries it' if said else "nothing in the text speaks for anything else"


def _with_words(look: Look, name: str) -> str:
    said = words_for(look, name)
    return f'{one_line(name)}, for which "{said[0]}" speaks' if said else one_line(name)
