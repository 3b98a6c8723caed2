"""Filters of a run's debates, and the counts of their choices."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.validators import RegexValidator
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Case, Count, F, FloatField, Func, Q, TextField, When
from django.db.models.functions import Cast, Coalesce
from django.db.models.sql.compiler import SQLCompiler
from django.forms import HiddenInput
from django.utils.translation import gettext_lazy as _
from django_filters import CharFilter, ChoiceFilter

from apps.accounts.models import User
from apps.common.lists import SearchFilter
from apps.debates.models import Debate, DebateQuerySet, Run
from apps.debates.selectors.debates import debates_of
from labelhub.core.debate.outcome import UNKNOWN_UNCERTAINTY

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
    """A JSON column, or its member ``key``, for comparison with another one.

    Sets of labels are equal in any order; JSON's null is NULL. Use only ``=`` and ``IS NULL``,
    because the form of the value depends on the database.
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


#: The choices of filters with their words.
GOLD = {
    "differs": _("differs from gold"),
    "agrees": _("agrees with gold"),
    "none": _("has no gold"),
}
CHANGED = {
    "yes": _("was changed"),
    "better": _("was changed from wrong to right"),
    "worse": _("was changed from right to wrong"),
    "no": _("stood"),
}
OVERRULED = {"critic": _("was overruled")}
#: An unknown uncertainty is in the middle, as in the queue; a debate that has not ended has none.
SORTS = {"": ("pk",), "-uncertainty": ("-_doubt", "pk"), "uncertainty": ("_doubt", "pk")}
#: ECJ sets this flag if the judge disagrees with the critic.
_CRITIC_OVERRULED = "critic_differs"
_CODE = RegexValidator(
    r"^[a-z][a-z0-9_]{0,59}\Z", "must be a code of small letters and underscores."
)


class DebateFilter(SearchFilter):
    """Filters of the debates of a run; ``reason`` and ``flag`` are codes."""

    q = CharFilter(
        method="find_text",
        label=_("Id or text"),
        max_length=200,
        help_text=_("In the item's text or id."),
    )
    status = ChoiceFilter(choices=Debate.Status.choices, label=_("Status"), empty_label=_("Any"))
    reason = CharFilter(
        field_name="reasons",
        method="find_code",
        label=_("Reason for review"),
        validators=[_CODE],
        help_text=_("Code of a reason for review."),
    )
    flag = CharFilter(
        field_name="flags",
        method="find_code",
        label=_("What was noticed"),
        validators=[_CODE],
        help_text=_("Code of a flag."),
    )
    gold = ChoiceFilter(
        choices=list(GOLD.items()),
        method="compare_with_gold",
        label=_("Outcome"),
        empty_label=_("Any"),
        help_text=_("The outcome compared with the present gold."),
    )
    disagrees = ChoiceFilter(
        choices=[("gold", "gold")],
        method="disagree_with_gold",
        help_text=_("The same as gold=differs; ignored if gold is set."),
    )
    changed = ChoiceFilter(
        choices=list(CHANGED.items()),
        method="compare_with_first",
        label=_("First opinion"),
        empty_label=_("Any"),
        help_text=_("The outcome compared with the first opinion; better and worse by gold."),
    )
    overruled = ChoiceFilter(
        choices=list(OVERRULED.items()),
        method="find_overruled",
        label=_("Critic"),
        empty_label=_("Any"),
        help_text=_("The role that the judge overruled."),
    )
    sort = ChoiceFilter(
        choices=[(name, name) for name in SORTS if name], method="order", widget=HiddenInput
    )

    @property
    def order_by(self) -> tuple[str, ...]:
        """The order of the list, as columns."""
        return SORTS[self.given.get("sort", "")]

    def find_text(self, debates: DebateQuerySet, _name: str, words: str) -> DebateQuerySet:
        """Debates on items with these words in their text or id."""
        return debates.filter(
            Q(item__text__icontains=words) | Q(item__external_id__icontains=words)
        )

    def find_code(self, debates: DebateQuerySet, column: str, code: str) -> DebateQuerySet:
        """Debates whose list of codes has ``code``: a search for the quoted code in the JSON text,
        because SQLite cannot search a list."""
        text = f"_{column}_{code}"
        return debates.alias(**{text: Cast(column, TextField())}).filter(
            **{f"{text}__contains": f'"{code}"'}
        )

    def compare_with_gold(self, debates: DebateQuerySet, _name: str, asked: str) -> DebateQuerySet:
        """Debates by whether their outcome is the item's gold."""
        if asked == "none":
            return debates.filter(item__state__gold__isnull=True)
        both = Q(_gold__isnull=False, _value__isnull=False)
        agrees = Q(_value=F("_gold"))
        return debates.filter(both & (agrees if asked == "agrees" else ~agrees))

    def disagree_with_gold(self, debates: DebateQuerySet, name: str, _: str) -> DebateQuerySet:
        """Debates whose outcome is not the item's gold, unless ``gold`` is set."""
        return (
            debates if self.data.get("gold") else self.compare_with_gold(debates, name, "differs")
        )

    def compare_with_first(self, debates: DebateQuerySet, _name: str, asked: str) -> DebateQuerySet:
        """Debates by whether the first opinion became the outcome."""
        both = Q(_first__isnull=False, _value__isnull=False)
        unchanged = Q(_first=F("_value"))
        if asked == "no":
            return debates.filter(both & unchanged)
        right = {"better": Q(_value=F("_gold")), "worse": Q(_first=F("_gold"))}
        return debates.filter(both & ~unchanged & right.get(asked, Q()))

    def find_overruled(self, debates: DebateQuerySet, _name: str, _: str) -> DebateQuerySet:
        """Debates in which the judge decided against the critic."""
        return self.find_code(debates, "flags", _CRITIC_OVERRULED)

    def order(self, debates: DebateQuerySet, _name: str, key: str) -> DebateQuerySet:
        """Debates in the order of ``key``."""
        return debates.order_by(*SORTS[key])


@dataclass(frozen=True, slots=True)
class FilterCounts:
    """The number of debates of a run by status, reason and flag."""

    statuses: Counter[str]
    reasons: Counter[str]
    flags: Counter[str]


def comparable_debates(run: Run, user: User | AnonymousUser) -> DebateQuerySet:
    """The run's debates that ``user`` may see, with item, label and gold, for
    :class:`DebateFilter`."""
    return debates_of(run, user).alias(
        _first=JsonValue("signals", "first"),
        _value=Coalesce(JsonValue("value"), JsonValue("label__value")),
        _gold=JsonValue("item__state__gold__value"),
        _doubt=Case(
            When(status=Debate.Status.WAITING, then=0.0),
            default=Coalesce("uncertainty", UNKNOWN_UNCERTAINTY),
            output_field=FloatField(),
        ),
    )


def count_choices(run: Run, user: User | AnonymousUser) -> FilterCounts:
    """Counts of the choices among the run's debates that ``user`` may see, in one query."""
    counted = FilterCounts(Counter(), Counter(), Counter())
    debates = Debate.objects.filter(run=run).open_to(user)
    rows = debates.order_by().values_list("status", "reasons", "flags")
    for status, reasons, flags, count in rows.annotate(n=Count("pk")):
        counted.statuses[status] += count
        for code in reasons:
            counted.reasons[str(code)] += count
        for code in flags:
            counted.flags[str(code)] += count
    return counted


def neighbours(debate: Debate, filters: DebateFilter) -> tuple[int | None, int | None]:
    """The debates before and after this one among those that pass the filters."""
    order = filters.order_by
    back = tuple(name[1:] if name.startswith("-") else f"-{name}" for name in order)
    before = filters.qs.filter(_after(debate, back)).order_by(*back)
    after = filters.qs.filter(_after(debate, order))
    return tuple(rows.values_list("pk", flat=True).first() for rows in (before, after))


def _after(debate: Debate, order: tuple[str, ...]) -> Q:
    """The condition for debates after ``debate`` in the order."""
    found, level = Q(pk__in=()), Q()
    for name in order:
        column, side = name.removeprefix("-"), "lt" if name.startswith("-") else "gt"
        own = _doubt(debate) if column == "_doubt" else debate.pk
        found |= level & Q(**{f"{column}__{side}": own})
        level &= Q(**{column: own})
    return found


def _doubt(debate: Debate) -> float:
    """As ``_doubt`` of :func:`comparable_debates`."""
    if debate.status == Debate.Status.WAITING:
        return 0.0
    return UNKNOWN_UNCERTAINTY if debate.uncertainty is None else debate.uncertainty
