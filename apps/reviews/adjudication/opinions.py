"""One item to be decided: all current labels with their reasons, grouped by value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts.models import User
from apps.common.highlight import find_quote
from apps.common.values import value_words
from apps.labels.blindness import is_audit
from apps.labels.models import MACHINES, PEOPLE, Gold, ItemState, Kind, Label
from apps.labels.selectors import no_item
from apps.projects.models import Item, LabelSchema, Project
from apps.projects.selectors import current_schema
from apps.reviews.adjudication.docket import UNSURE
from apps.reviews.models import Slot
from apps.reviews.queue.item_context import AnswerScreen, Choice, make_choices
from labelhub.core.errors import Conflict, InvalidInput
from labelhub.core.schema import Value, value_key

#: Keys of the page's actions, which are no keys of labels.
TAKEN = frozenset("bdefgjklnqrsu")


@dataclass(frozen=True)
class Opinion:
    """One annotator's label of the item. ``quotes`` are those that occur in its text."""

    label: Label
    quotes: tuple[tuple[str, str], ...] = ()

    @property
    def mark(self) -> str:
        """The name of the opinion's marks in the text."""
        return f"o{self.label.pk}"

    @property
    def remark(self) -> str:
        return str(self.label.provenance.get("comment", ""))

    @property
    def adjudicates(self) -> bool:
        """Whether an expert gave it after seeing the other opinions."""
        return self.label.settles


@dataclass(frozen=True)
class OpinionSide:
    """The opinions of one value. ``offered``: whether it may still be chosen; ``says`` and ``key``
    are those of the option with this value, if there is one."""

    value: Value | None
    opinions: tuple[Opinion, ...]
    offered: bool
    key: str = ""
    says: str = ""

    @property
    def words(self) -> str:
        return gettext(UNSURE) if self.value is None else value_words(self.value)

    @property
    def names(self) -> list[str]:
        """The value as fields of the form would send it."""
        if self.value is None:
            return []
        return self.value if isinstance(self.value, list) else [str(self.value)]


@dataclass(frozen=True)
class Opinions(AnswerScreen):
    """One item as an adjudicator sees it."""

    state: ItemState
    schema: LabelSchema
    choices: Sequence[Choice]
    opinions: tuple[Opinion, ...]
    gold: Gold | None
    hides_machines: bool

    @property
    def waits(self) -> bool:
        """Whether it still waits for an expert."""
        conflict = self.state.stage == ItemState.Stage.CONFLICT
        return self.state.queued and (conflict or self.state.disputed)

    @property
    def shown(self) -> int:
        """The id of the suggestion among these opinions, 0 for none."""
        suggested = self.state.suggestion_id
        return suggested if suggested and not self.hides_machines else 0

    @property
    def evidence(self) -> dict[str, list[str]]:
        """The quotes of each opinion for each label, by their mark."""
        marks: dict[str, list[str]] = {}
        for opinion in self.opinions:
            for name, quote in opinion.quotes:
                marks.setdefault(f"{opinion.mark}:{name}", []).append(quote)
        return marks

    @property
    def quoted(self) -> dict[str, tuple[str, str]]:
        """Name and colour of the label of each mark."""
        names = {mark: mark.partition(":")[2] for mark in self.evidence}
        color = self.schema.parsed.color
        return {mark: (name, color(name, self.item.options)) for mark, name in names.items()}

    @property
    def people(self) -> list[Opinion]:
        return [opinion for opinion in self.opinions if opinion.label.annotator.kind in PEOPLE]

    @property
    def debated(self) -> bool:
        return any(opinion.label.annotator.kind == Kind.LLM for opinion in self.opinions)

    @cached_property
    def sides(self) -> list[OpinionSide]:
        """The opinions by value, in the order of the schema."""
        groups: dict[str, list[Opinion]] = {}
        for opinion in self.opinions:
            groups.setdefault(value_key(opinion.label.value), []).append(opinion)
        sides = [self._side(group) for group in groups.values()]
        if not self.task.one_of_several:
            return sides
        order = {choice.value: position for position, choice in enumerate(self.choices)}
        return sorted(sides, key=lambda side: (order.get(side.says, len(order)), side.words))

    def own(self, user: User) -> Opinion | None:
        return next(
            (opinion for opinion in self.opinions if opinion.label.annotator.user_id == user.pk),
            None,
        )

    def _side(self, opinions: Sequence[Opinion]) -> OpinionSide:
        value = opinions[0].label.value
        offered = value is not None and self._is_offered(value)
        names = self.schema.parsed.names_in(value)
        same = (choice for choice in self.choices if choice.value in names)
        choice = next(same, None) if not self.task.several else None
        key, says = (choice.key, choice.value) if choice else ("", "")
        return OpinionSide(value, tuple(opinions), offered, key, says)

    def _is_offered(self, value: Any) -> bool:
        try:
            self.schema.parsed.normalise(value, self.item.options)
        except InvalidInput:
            return False
        return True


def read_opinions(project: Project, user: User, item_id: int) -> Opinions:
    """The item with all its current labels. Four queries.

    Of an undecided audit the labels by machines are left out: the decision measures how often they
    are wrong, and must not be influenced by them.

    Raises:
        NotFound: the project has no such item.
    """
    states = ItemState.objects.select_related("item", "gold__decided_by")
    state = states.filter(project=project, item=item_id).first()
    if state is None:
        raise no_item(project, item_id)
    labels = list(
        Label.objects.current().filter(item=item_id).select_related("annotator").order_by("pk")
    )
    answered = any(label.annotator.user_id == user.pk for label in labels)
    hide = not answered and is_audit(state) and state.gold_id is None
    kinds = list(Kind)
    shown = [label for label in labels if not (hide and label.annotator.kind in MACHINES)]
    shown.sort(key=lambda label: (kinds.index(Kind(label.annotator.kind)), label.pk))
    opinions = tuple(Opinion(label, find_quotes(state.item, label.evidence)) for label in shown)
    version = current_schema(project)
    schema = version.parsed

    def kinds_of(name: str) -> tuple[str, ...]:
        named = (label for label in shown if name in schema.names_in(label.value))
        return tuple(label.annotator.kind for label in named)

    offered = schema.offered(state.item.options)
    choices = make_choices(schema, state.item, offered, TAKEN, kinds=kinds_of)
    return Opinions(state, version, choices, opinions, state.gold, hide)


def readable_opinions(project: Project, user: User, item_id: int) -> Opinions:
    """As :func:`read_opinions`, if the item waits for an expert or ``user`` has labelled it. Other
    items they must label before they see opinions.

    Raises:
        NotFound: the project has no such item.
        Conflict: it waits for no expert, and they have not labelled it.
    """
    case = read_opinions(project, user, item_id)
    if not case.waits and case.own(user) is None:
        raise Conflict("This item does not wait for an expert: reviewers do not disagree on it.")
    return case


def find_quotes(item: Item, evidence: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The quotes that occur in the item's text, in its spelling, each with its label."""
    named = [
        (str(name), find_quote(item.text, str(phrase)))
        for name, phrases in evidence.items()
        for phrase in ((phrases,) if isinstance(phrases, str) else phrases)
    ]
    return tuple(dict.fromkeys((name, quote) for name, quote in named if quote))


def lease_of_others(item_id: int, user: User) -> Slot | None:
    """The live slot by which somebody else holds the item."""
    live = Slot.objects.live(timezone.now()).filter(item=item_id).exclude(holder=user)
    return live.select_related("holder").first()
