"""Looking at debates and their turns."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    Case,
    Count,
    F,
    FloatField,
    Func,
    Prefetch,
    Q,
    QuerySet,
    TextField,
    When,
)
from django.db.models.functions import Cast, Coalesce
from django.db.models.sql.compiler import SQLCompiler

from apps.accounts.models import User
from apps.debates.models import Debate, DebateQuerySet, Run, Turn
from apps.projects.models import Project
from labelhub.core.debate.outcome import UNKNOWN_UNCERTAINTY
from labelhub.core.errors import InvalidInput, NotFound

_SQLITE = """(CASE JSON_TYPE(%(expressions)s, '$%(at)s')
    WHEN 'array' THEN (SELECT JSON_GROUP_ARRAY(value) FROM (
        SELECT value FROM JSON_EACH(%(expressions)s, '$%(at)s') ORDER BY value))
    ELSE JSON_EXTRACT(%(expressions)s, '$%(at)s') END)"""
_POSTGRESQL = """(CASE JSONB_TYPEOF(%(expressions)s #> '{%(key)s}')
    WHEN 'array' THEN (SELECT COALESCE(JSONB_AGG(each ORDER BY each), '[]'::jsonb)
        FROM JSONB_ARRAY_ELEMENTS(%(expressions)s #> '{%(key)s}') AS found(each))
    WHEN 'null' THEN NULL
    ELSE %(expressions)s #> '{%(key)s}' END)"""


class JsonValue(Func):
    """A value in a JSON column, or that of its member ``key``, to be compared with others such.

    Sets of labels are equal in any order; JSON's null is NULL. Only ``=`` and ``IS NULL`` mean
    anything: what it looks like differs from database to database.
    """

    arity = 1
    output_field = TextField()

    def __init__(self, column: Any, key: str = "") -> None:
        if key and not key.isidentifier():
            raise ValueError(f"'{key}' is no plain name of a member.")
        super().__init__(column, key=key, at=f".{key}" if key else "")

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **rest: Any
    ) -> tuple[str, Any]:
        """By the JSON functions of SQLite."""
        return self.as_sql(compiler, connection, template=_SQLITE, **rest)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **rest: Any
    ) -> tuple[str, Any]:
        """By ``jsonb``."""
        return self.as_sql(compiler, connection, template=_POSTGRESQL, **rest)


#: Columns of turns that only the record of their calls shows.
_LONG = ("messages", "params_asked", "params_effective", "reasoning")
#: Debates read at once where all of a run are.
CHUNK = 20


def debates_of(run: Run, user: User | AnonymousUser | None = None) -> DebateQuerySet:
    """The run's debates in the order of their items, with item, its gold, and label; those that
    ``user`` may know of by now."""
    shown = ("item__state__gold", "label")
    debates = Debate.objects.filter(run=run).select_related(*shown).order_by("pk")
    return debates if user is None else debates.open_to(user)


def debate_with_turns(project: Project, debate_id: int, user: User | AnonymousUser) -> Debate:
    """One debate of ``project`` with what its page shows, in two queries.

    What models were sent, and their thinking, comes by ``calls_of``: it is long.

    Raises:
        NotFound: no such debate there.
    """
    debates = Debate.objects.filter(run__project=project).open_to(user)
    return _with_turns(debates, debate_id, without=_LONG)


def calls_of(
    project: Project, debate_id: int, user: User | AnonymousUser, turn_id: int | None = None
) -> Debate:
    """One debate of ``project`` with all, or one, of its turns complete.

    Raises:
        NotFound: no such debate there, or no such turn in it.
    """
    debates = Debate.objects.filter(run__project=project).open_to(user)
    debate = _with_turns(debates, debate_id, turn_id=turn_id)
    if turn_id is not None and not debate.turns.all():
        raise NotFound(f"There is no call {turn_id} in this debate.")
    return debate


def visible_debate(user: User | AnonymousUser, debate_id: int) -> Debate:
    """One debate of any project that ``user`` may know of, with its turns.

    Raises:
        NotFound: no such debate for this person.
    """
    return _with_turns(Debate.objects.visible_to(user).open_to(user), debate_id)


def all_with_turns(run: Run, user: User | AnonymousUser | None = None) -> Iterator[Debate]:
    """The run's debates with all of their turns, in bounded memory; two queries per 20.

    By id: no cursor stays open while somebody downloads slowly.
    """
    debates = debates_of(run, user).prefetch_related(Prefetch("turns", queryset=_turns()))
    after = 0
    while chunk := list(debates.filter(pk__gt=after)[:CHUNK]):
        yield from chunk
        after = chunk[-1].pk


def _turns() -> QuerySet[Turn]:
    return (
        Turn.objects.select_related("model__provider", "prompt")
        .defer("prompt__body")
        .order_by("pk")
    )


def _with_turns(
    debates: DebateQuerySet,
    debate_id: int,
    *,
    without: tuple[str, ...] = (),
    turn_id: int | None = None,
) -> Debate:
    turns = _turns().defer(*without)
    if turn_id is not None:
        turns = turns.filter(pk=turn_id)
    debate = (
        debates.filter(pk=debate_id)
        .select_related("run__schema", "item__state__gold", "label__annotator")
        .prefetch_related(Prefetch("turns", queryset=turns))
        .first()
    )
    if debate is None:
        raise NotFound(
            f"There is no debate {debate_id} that you may see. If its item is in your queue, label "
            "it first: some are asked for without showing what was said of them."
        )
    return debate


#: What a filter can be set to, with words for people.
GOLD = {"differs": "differs from gold", "agrees": "agrees with gold", "none": "has no gold"}
CHANGED = {
    "yes": "was changed",
    "better": "was changed from wrong to right",
    "worse": "was changed from right to wrong",
    "no": "stood",
}
OVERRULED = {"critic": "was overruled"}
#: An uncertainty that is not known stands in the middle, as among the items that wait for people;
#: a debate that has not ended has none.
SORTS = {"": ("pk",), "-uncertainty": ("-_doubt", "pk"), "uncertainty": ("_doubt", "pk")}
#: Letters that are looked for at most.
LONGEST_SEARCH = 200

_CODE = re.compile(r"[a-z][a-z0-9_]{0,59}")
_CHOICES: dict[str, Mapping[str, object]] = {
    "status": dict(Debate.Status.choices),
    "gold": GOLD,
    "changed": CHANGED,
    "overruled": OVERRULED,
    "sort": SORTS,
}
#: ECJ raises it wherever the judge decides otherwise than the critic.
_CRITIC_OVERRULED = "critic_differs"


@dataclass(frozen=True, slots=True)
class DebateFilters:
    """What a list of a run's debates is narrowed to; "" leaves a filter out.

    ``reason`` is a code of why people are asked, ``flag`` of what was noticed; ``gold`` compares
    the outcome with what is decided now; ``changed`` the first opinion with the outcome;
    ``overruled`` names who was; ``q`` is looked for in the item's text and id.
    """

    status: str = ""
    reason: str = ""
    flag: str = ""
    gold: str = ""
    changed: str = ""
    overruled: str = ""
    q: str = ""
    sort: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str], *, strict: bool = False) -> "DebateFilters":
        """The filters in a query string (``disagrees=gold`` is another word for ``gold=differs``).

        Raises:
            InvalidInput: ``strict``, and one is set to what there is not; else it is left out.
        """
        given = {each.name: str(query.get(each.name) or "") for each in fields(cls)}
        if strict and query.get("disagrees") not in (None, "", "gold"):
            raise InvalidInput("disagrees: is gold or left out.")
        if query.get("disagrees") == "gold" and not given["gold"]:
            given["gold"] = "differs"
        for name, value in given.items():
            if name != "q" and value and not _known(name, value):
                if strict:
                    raise InvalidInput(_refusal(name))
                given[name] = ""
        given["q"] = given["q"].replace("\0", "").strip()[:LONGEST_SEARCH]
        return cls(**given)

    @property
    def set(self) -> dict[str, str]:
        """Those that are not left out."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in named.items() if value}

    @property
    def narrow(self) -> bool:
        """Whether any narrows the list; its order does not."""
        return bool(self.set.keys() - {"sort"})

    @property
    def query(self) -> str:
        """As a query string, with its question mark; "" where none is set."""
        return f"?{urlencode(self.set)}" if self.set else ""


@dataclass(frozen=True, slots=True)
class Choices:
    """How many of all debates of a run there are of each status, reason and flag."""

    statuses: Counter[str]
    reasons: Counter[str]
    flags: Counter[str]


def find_debates(run: Run, filters: DebateFilters, user: User | AnonymousUser) -> QuerySet[Debate]:
    """The run's debates that pass all filters and ``user`` may know of, with item, label and the
    item's gold."""
    found: QuerySet[Debate] = debates_of(run, user).alias(
        _first=JsonValue("signals", "first"),
        _value=Coalesce(JsonValue("value"), JsonValue("label__value")),
        _gold=JsonValue("item__state__gold__value"),
        _doubt=Case(
            When(status=Debate.Status.WAITING, then=0.0),
            default=Coalesce("uncertainty", UNKNOWN_UNCERTAINTY),
            output_field=FloatField(),
        ),
    )
    if filters.status:
        found = found.filter(status=filters.status)
    if filters.q:
        words = filters.q
        found = found.filter(Q(item__text__icontains=words) | Q(item__external_id__icontains=words))
    for column, code in (("reasons", filters.reason), ("flags", filters.flag)):
        if code:
            found = _holding(found, column, code)
    if filters.overruled:
        found = _holding(found, "flags", _CRITIC_OVERRULED)
    if filters.gold:
        found = found.filter(_against_gold(filters.gold))
    if filters.changed:
        found = found.filter(_of_mind(filters.changed))
    return found.order_by(*SORTS[filters.sort])


def choices_of(run: Run) -> Choices:
    """What there is to choose from, counted over all of the run's debates in one query."""
    counted = Choices(Counter(), Counter(), Counter())
    rows = Debate.objects.filter(run=run).order_by().values_list("status", "reasons", "flags")
    for status, reasons, flags, count in rows.annotate(n=Count("pk")):
        counted.statuses[status] += count
        for code in reasons:
            counted.reasons[str(code)] += count
        for code in flags:
            counted.flags[str(code)] += count
    return counted


def beside(
    debate: Debate, filters: DebateFilters, user: User | AnonymousUser
) -> tuple[int | None, int | None]:
    """The debates before and after this one among those of its run that pass the filters."""
    found = find_debates(debate.run, filters, user)
    order = SORTS[filters.sort]
    after = found.filter(_past(debate, order))
    back = tuple(name[1:] if name.startswith("-") else f"-{name}" for name in order)
    before = found.filter(_past(debate, back)).order_by(*back)
    return tuple(rows.values_list("pk", flat=True).first() for rows in (before, after))  # type: ignore[return-value]


def _past(debate: Debate, order: tuple[str, ...]) -> Q:
    """Whatever comes after ``debate`` in that order."""
    found, level = Q(pk__in=()), Q()
    for name in order:
        column, side = name.removeprefix("-"), "lt" if name.startswith("-") else "gt"
        own = _doubt(debate) if column == "_doubt" else debate.pk
        found |= level & Q(**{f"{column}__{side}": own})
        level &= Q(**{column: own})
    return found


def _doubt(debate: Debate) -> float:
    """As ``_doubt`` of :func:`find_debates`."""
    if debate.status == Debate.Status.WAITING:
        return 0.0
    return UNKNOWN_UNCERTAINTY if debate.uncertainty is None else debate.uncertainty


def _holding(debates: QuerySet[Debate], column: str, code: str) -> QuerySet[Debate]:
    """Those whose list of codes holds ``code``: as JSON writes it, in quotation marks, for SQLite
    cannot look into a list by itself."""
    text = f"_{column}_{code}"
    return debates.alias(**{text: Cast(column, TextField())}).filter(
        **{f"{text}__contains": f'"{code}"'}
    )


def _against_gold(wanted: str) -> Q:
    if wanted == "none":
        return Q(item__state__gold__isnull=True)
    both = Q(_gold__isnull=False, _value__isnull=False)
    agrees = Q(_value=F("_gold"))
    return both & (agrees if wanted == "agrees" else ~agrees)


def _of_mind(wanted: str) -> Q:
    both = Q(_first__isnull=False, _value__isnull=False)
    stood = Q(_first=F("_value"))
    if wanted == "no":
        return both & stood
    right = {"better": Q(_value=F("_gold")), "worse": Q(_first=F("_gold"))}
    return both & ~stood & right.get(wanted, Q())


def _known(name: str, value: str) -> bool:
    if name in _CHOICES:
        return value in _CHOICES[name]
    return _CODE.fullmatch(value) is not None


def _refusal(name: str) -> str:
    if name in _CHOICES:
        return f"{name}: must be one of {', '.join(each for each in _CHOICES[name] if each)}."
    return f"{name}: must be a code of small letters and underscores."
