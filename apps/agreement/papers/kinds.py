"""What every table is to the command: a code, who it needs, and how its rows are made."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from apps.agreement.papers.answers import Answers
from apps.agreement.papers.asked import Asked
from apps.agreement.papers.layout import Table
from apps.agreement.papers.setups import Setup
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import Schema, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """One table or figure of a paper.

    Args:
        code: paper and table, such as ``000.T3``.
        title: what it shows.
        setups: the runs that it needs over each file.
        rows: the table, of what the runs found in each file.
        replicates: how many passes of each item the paper took.
        roles: the roles for which models may be named.
        one_label: whether it asks about one label only, where items may have several.
        tasks: the questions it can be made for.
    """

    code: str
    title: str
    setups: Callable[[Asked], Sequence[Setup]]
    rows: Callable[[Asked, Sequence[Answers]], Table]
    replicates: int = 1
    roles: tuple[str, ...] = ()
    one_label: bool = False
    tasks: tuple[Task, ...] = tuple(Task)


#: Questions whose answers are made of the schema's labels.
LABELLED = (Task.SINGLE, Task.MULTI, Task.ORDINAL)


def aspect_of(asked: Asked, schema: Schema) -> str:
    """The label that a table of one interest is about.

    Raises:
        InvalidInput: there are several and none was chosen, or the one chosen is not there.
    """
    wanted = asked.aspect.casefold()
    found = [name for name in schema.names if name.casefold() == wanted or not wanted]
    if len(found) != 1:
        raise InvalidInput(
            f"aspect: choose the label that the table is about: {', '.join(schema.names)}."
        )
    return found[0]


def many(number: int, thing: str) -> str:
    """``1 trial``, ``2 trials``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def faults(files: Sequence[Answers]) -> list[str]:
    """What every table says of answers that are not there."""
    said = [each for answers in files for each in answers.by_setup.values()]
    unparsed, failed = sum(each.unparsed for each in said), sum(each.failed for each in said)
    notes = []
    if unparsed:
        notes.append(f"{many(unparsed, 'debate')} without a usable answer: counted as wrong.")
    if failed:
        notes.append(
            f"{many(failed, 'debate')} failed (no answer from the endpoint), counted nowhere; the "
            "next call of the command tries again."
        )
    return notes
