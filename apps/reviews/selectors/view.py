"""What a reviewer sees of one item: text, choices, and what was suggested with its quotes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from django.db.models import QuerySet

from apps.common.prepared import prepared
from apps.debates.naming import reason_words
from apps.labels.models import ItemState, Label
from apps.projects.models import Item, LabelSchema, Project
from apps.projects.selectors import current_schema
from apps.reviews.models import Comment, ReviewSettings, Slot
from apps.reviews.selectors.arms import is_blind_for
from apps.reviews.selectors.beside import (
    draft_of,
    earlier_answers,
    opinions_on,
    returned_for,
    told_about,
)
from apps.reviews.selectors.conversation import Conversation, conversation
from apps.reviews.selectors.settings import review_settings
from labelhub.core.errors import NotFound
from labelhub.core.schema import LabelDef, LabelType, Schema

#: Choices beyond the ninth have no key of their own.
KEYS = 9


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing an answer may say. ``quotes`` are the suggestion's evidence for it."""

    value: str
    title: str
    key: str
    suggested: bool
    quotes: tuple[str, ...] = ()
    help: LabelDef | None = None

    @property
    def has_help(self) -> bool:
        """Whether the schema explains this label."""
        return self.help is not None and bool(
            self.help.description or self.help.include or self.help.exclude
        )


@dataclass(frozen=True, slots=True)
class ReviewTask:
    """One item as handed to one reviewer."""

    state: ItemState
    schema: LabelSchema
    choices: tuple[Choice, ...]
    slot: Slot
    settings: ReviewSettings
    begun: Mapping[str, Sequence[str]]
    opinions: Sequence[Label] = ()
    answers: Sequence[str] = ()
    told: Sequence[Comment] = ()
    returned: str = ""

    @property
    def item(self) -> Item:
        """The item."""
        return self.state.item

    @property
    def suggestion(self) -> Label | None:
        """What was proposed; an abstention proposes nothing."""
        label = self.state.suggestion
        return label if label is not None and not label.abstained else None

    @property
    def question(self) -> str:
        """The item's own question, or the schema's."""
        return self.item.question or self.schema.parsed.question

    @property
    def task(self) -> LabelType:
        """What kind of answer is asked for."""
        return self.schema.parsed.of_item(self.item.options).task

    @property
    def evidence(self) -> Mapping[str, Sequence[str]]:
        """The suggestion's quotes by label."""
        return dict(self.suggestion.evidence) if self.suggestion else {}

    @property
    def draft(self) -> str:
        """What has been begun, as JSON for the page's script; empty where nothing has."""
        return json.dumps(self.begun) if self.begun else ""

    @property
    def order(self) -> str:
        """The order in which the choices are shown, as JSON; empty where it is the schema's own."""
        shown = [choice.value for choice in self.choices]
        plain = self.schema.parsed.offered(self.item.options)
        return json.dumps(shown) if shown != list(plain) else ""

    @property
    def returns(self) -> str:
        """Where the text has a carriage return before a line feed, as JSON: browsers drop those,
        and places that are marked are to be counted in the text as it is."""
        text = self.item.text
        return json.dumps([at for at in range(len(text) - 1) if text[at : at + 2] == "\r\n"])

    @property
    def before(self) -> Conversation:
        """What was said before the text."""
        return conversation(self.item.context)

    @property
    def reasons(self) -> list[str]:
        """Why the item comes early, in words."""
        if self.state.stage == ItemState.Stage.CONFLICT:
            return ["reviewers disagree"]
        return [reason_words(str(code)) for code in self.state.reasons]

    @property
    def debated(self) -> bool:
        """Whether there is a debate to show."""
        return bool(self.state.signals) or self.state.suggestion_id is not None

    @property
    def suggests_none(self) -> bool:
        """Whether the suggestion is that no label applies: no box shows it."""
        label = self.suggestion
        return label is not None and self.task.several and label.value == []

    @property
    def default_question(self) -> str:
        """What to ask where nobody wrote a question."""
        return self.task.question_to_people

    @property
    def last_choice(self) -> Choice | None:
        """The far end of a scale."""
        return self.choices[-1] if self.choices else None

    @property
    def suggested_text(self) -> str:
        """The suggestion of a free-text project."""
        return str(self.suggestion.value) if self.suggestion and self.task.written else ""


def item_state(project: Project, item_id: int, user_id: int) -> ItemState:
    """The item with its suggestion as it is handed out to ``user_id``: nothing that its debate said
    of an item that is audited, or that they are to label without suggestion. One query, or two
    where there is a suggestion: most of the time of a query goes into its columns, and a project
    without runs has no suggestions.

    Raises:
        NotFound: the project has no such item.
    """
    state = _state_of.first(project.pk, item_id)
    if state is None:
        raise NotFound(f"There is no item {item_id} in the project '{project.slug}'.")
    if is_blind_for(user_id, project, state):
        _hide_debate(state)
    elif state.suggestion_id is not None:
        state.suggestion = _suggested.first(state.suggestion_id)
    return state


def _hide_debate(state: ItemState) -> None:
    """As if the item had never been debated: what a person says of it is to owe nothing to it."""
    state.suggestion, state.signals, state.reasons = None, {}, []
    if state.stage == ItemState.Stage.SUGGESTED:
        state.stage = ItemState.Stage.NEW


@prepared
def _state_of(project: int, item: int) -> QuerySet[ItemState]:
    return ItemState.objects.select_related("item").filter(project=project, item=item)


@prepared
def _suggested(label: int) -> QuerySet[Label]:
    return Label.objects.select_related("annotator").filter(pk=label).order_by()


def review_task(project: Project, *, slot: Slot) -> ReviewTask:
    """The item of a lease as its holder sees it, in a few queries.

    Raises:
        NotFound: the project has no such item.
    """
    user = slot.holder_id or 0
    state = item_state(project, slot.item_id, user)
    schema, settings = current_schema(project), review_settings(project)
    offered = list(schema.parsed.offered(state.item.options))
    if settings.shuffle_options and schema.parsed.task.item_options:
        offered = shuffled(offered, user, state.item_id)
    return ReviewTask(
        state=state,
        schema=schema,
        choices=tuple(_choices(schema.parsed, state, offered)),
        slot=slot,
        settings=settings,
        begun=draft_of(state.item_id, user, schema),
        opinions=opinions_on(state.item_id, user) if settings.show_opinions else (),
        answers=earlier_answers(project, user) if schema.parsed.task.written else (),
        told=told_about(state.item_id, user),
        returned=returned_for(state.item_id, user),
    )


def shuffled(options: Sequence[str], user_id: int, item_id: int) -> list[str]:
    """The options in an order of this person's own, the same whenever they see the item: where all
    see one order, the first option gains by it."""
    order = Random(f"options {user_id} {item_id}")  # noqa: S311 - an order, not a secret
    return order.sample(options, len(options))


def _choices(schema: Schema, state: ItemState, offered: Sequence[str]) -> list[Choice]:
    label = state.suggestion
    suggested = schema.names_in(label.value if label is not None and not label.abstained else None)
    quotes: Mapping[str, Any] = label.evidence if label is not None else {}
    return [
        Choice(
            value=name,
            title=_title(schema, name),
            key=str(at) if at <= KEYS else "",
            suggested=name in suggested,
            quotes=tuple(str(phrase) for phrase in quotes.get(name, ())),
            help=schema.label(name),
        )
        for at, name in enumerate(offered, start=1)
    ]


def _title(schema: Schema, name: str) -> str:
    """A scale point shows its number beside its name."""
    label = schema.label(name)
    if not schema.task.ordered or label is None or label.point is None:
        return name
    point = f"{label.point:g}"
    return point if point == name else f"{point} · {name}"
