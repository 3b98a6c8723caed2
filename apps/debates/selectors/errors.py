"""The errors of a run by cause, from a limited number of its turns."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef

from apps.accounts.models import User
from apps.debates.models import Debate, Run, Turn
from apps.debates.naming import TROUBLE_WORDS, trouble_advice
from apps.labels.blindness import hidden_from
from labelhub.core.llm.types import Status

#: The most turns with errors that are read, and the most causes that are shown.
LOOKED_AT = 2000
SHOWN = 12
#: The number of last debates from which ignored parameters are read.
DEBATES_FOR_PARAMETERS = 20
#: The parts that differ between messages of one cause: quotations and words with digits.
_QUOTED = re.compile(r"(?<!\w)'[^']*'|\"[^\"]*\"|“[^”]*”")
_NUMBERED = re.compile(r"\S*\d\S*")
_COMPARED = 200
_TROUBLED = ("status", "note", "model", "model__name", "debate", "off_menu", "attempts", "mended")


@dataclass(slots=True)
class Trouble:
    """Calls with the same error. ``example`` is a debate with one of them; ``mended`` counts those
    whose second try succeeded; ``statuses`` counts the HTTP statuses of attempts (0: none)."""

    status: str
    note: str
    model: str
    example: int
    advice: str
    count: int = 0
    mended: int = 0
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def words(self) -> str:
        """How the calls ended."""
        return str(TROUBLE_WORDS.get(Status(self.status), self.status))

    @property
    def http(self) -> list[tuple[int, int]]:
        """HTTP statuses and their counts, the most frequent first."""
        return self.statuses.most_common()


@dataclass(frozen=True, slots=True)
class Troubles:
    """``groups``: the most frequent causes first; ``other``: the number of other calls;
    ``off_menu``: answers that are not offered, counted; ``capped``: some calls were not read."""

    groups: tuple[Trouble, ...]
    other: int
    off_menu: tuple[tuple[str, int], ...]
    total: int
    capped: bool
    ignored_parameters: tuple["IgnoredParameter", ...] = ()

    def __bool__(self) -> bool:
        return bool(self.groups or self.ignored_parameters)


@dataclass(frozen=True, slots=True)
class IgnoredParameter:
    """A parameter that a role's model ignores; ``sent``: the value sent instead, or None."""

    roles: set[str]
    model: str
    name: str
    asked: Any
    sent: Any


def troubles(run: Run, user: User | AnonymousUser | None = None) -> Troubles:
    """The errors in the last turns that ``user`` may see, and the ignored parameters."""
    if not run.turns_count:
        return Troubles((), 0, (), 0, capped=False)
    later = Turn.objects.filter(
        debate=OuterRef("debate"),
        step=OuterRef("step"),
        attempt__gt=OuterRef("attempt"),
        status=Status.OK,
    )
    turns = Turn.objects.filter(debate__run=run).exclude(status=Status.OK).order_by("-pk")
    if user is not None:
        turns = turns.exclude(hidden_from(user.pk or 0, item="debate__item"))
    rows = list(turns.annotate(mended=Exists(later)).values(*_TROUBLED)[: LOOKED_AT + 1])
    looked_at = rows[:LOOKED_AT]
    groups = sorted(_group_by_cause(looked_at), key=lambda group: -group.count)
    off_menu = Counter(row["off_menu"] for row in looked_at if row["off_menu"])
    return Troubles(
        groups=tuple(groups[:SHOWN]),
        other=sum(group.count for group in groups[SHOWN:]),
        off_menu=tuple(off_menu.most_common(SHOWN)),
        total=len(looked_at),
        capped=len(rows) > LOOKED_AT,
        ignored_parameters=ignored_parameters(run),
    )


def ignored_parameters(run: Run) -> tuple[IgnoredParameter, ...]:
    """Parameters whose sent value differs from the requested one in the last debates."""
    finished = Debate.objects.filter(run=run, finished_at__isnull=False).order_by("-finished_at")
    answered = Turn.objects.filter(
        debate__in=finished.values("pk")[:DEBATES_FOR_PARAMETERS], status=Status.OK, reused=False
    )
    rows = answered.values_list("role", "model__name", "params_asked", "params_effective")
    found: dict[str, IgnoredParameter] = {}
    for role, model, asked, effective in rows:
        for name, wanted, sent in _ignored(asked, effective):
            parameter = found.setdefault(
                f"{model} {name} {wanted} {sent}",
                IgnoredParameter(set(), model, name, wanted, sent),
            )
            parameter.roles.add(role)
    return tuple(parameter for _, parameter in sorted(found.items()))


def _group_by_cause(rows: Iterable[Mapping[str, Any]]) -> Iterable[Trouble]:
    groups: dict[tuple[Any, ...], Trouble] = {}
    for row in rows:
        statuses = [int(attempt.get("http_status", 0)) for attempt in row["attempts"]]
        last = statuses[-1] if statuses else None
        key = (row["status"], row["model"], last, cause_of(row["note"]))
        if key not in groups:
            groups[key] = Trouble(
                row["status"],
                row["note"],
                row["model__name"],
                row["debate"],
                trouble_advice(row["status"], last),
            )
        groups[key].count += 1
        groups[key].mended += row["mended"]
        groups[key].statuses.update(statuses)
    return groups.values()


def cause_of(note: str) -> str:
    """A message without the parts that differ from call to call: quotations, numbers, ids."""
    return _NUMBERED.sub("#", _QUOTED.sub("…", note.casefold()))[:_COMPARED]


def _ignored(
    asked: Mapping[str, Any], effective: Mapping[str, Any]
) -> Iterable[tuple[str, Any, Any]]:
    """Name, requested and sent value of ignored parameters; none if nothing was sent (the offline
    model has no parameters)."""
    if not effective:
        return
    for name in ("temperature", "top_p", "seed", "reasoning_effort"):
        wanted, sent = asked.get(name), effective.get(name)
        if wanted is not None and wanted != sent:
            yield name, wanted, sent
    for name in ("logprobs", "response_format"):
        if asked.get(name) and not effective.get(name):
            yield name, asked[name], None
