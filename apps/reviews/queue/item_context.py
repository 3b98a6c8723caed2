"""The review screen's view of one item: text, choices, suggestion, opinions of others, debate."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from random import Random
from string import ascii_lowercase
from typing import Any

from django.db.models import Prefetch, Q, QuerySet
from django.utils.translation import gettext_noop

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.common.prepared import prepared
from apps.debates.models import Debate, Turn
from apps.debates.naming import reason_words
from apps.labels.blindness import ONLY_AUDITED, unanswered_by
from apps.labels.models import PEOPLE, ItemState, Kind, Label
from apps.labels.selectors import no_item
from apps.projects.changes import Translator
from apps.projects.models import Item, LabelSchema, Project
from apps.projects.selectors import role_in
from apps.reviews.models import Comment, Draft, ReviewSettings, Slot
from apps.reviews.queue.selectors import is_blind_for, read_setup
from labelhub.core.schema import LabelDef, LabelType, Schema

#: Messages shown at once (paper 004); the earlier ones are a click away.
RECENT = 5
#: Characters shown of a model's reply; people's own messages are shown in full.
REPLY = 300
_MODELS = frozenset({"assistant", "bot", "model", "system"})
#: Of this many earlier answers of a person the most frequent are offered again.
REMEMBERED, OFFERED = 300, 8
#: The questions of tasks, which the core has in English.
QUESTIONS = (gettext_noop("Which one fits?"), gettext_noop("Which apply?"))
#: More choices than these can be filtered, and are shown close together.
FEW = 9


@dataclass(frozen=True, slots=True)
class ContextMessage:
    """One message. ``rest`` is what was cut from a model's long reply."""

    role: str
    text: str
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages before a text, oldest first; ``earlier`` ones are collapsed."""

    earlier: tuple[ContextMessage, ...]
    recent: tuple[ContextMessage, ...]


def read_conversation(context: Sequence[Mapping[str, Any]]) -> Conversation:
    """The five most recent messages, and those before them; see ``Item.context``."""
    turns = []
    for turn in context:
        role, text = str(turn.get("role", "")), str(turn.get("text", ""))
        cut = len(text)
        if role in _MODELS and len(text) > REPLY:
            cut = text.rfind(" ", REPLY - 40, REPLY) + 1 or REPLY  # not in the middle of a word
        turns.append(ContextMessage(role, text[:cut], text[cut:]))
    return Conversation(tuple(turns[:-RECENT]), tuple(turns[-RECENT:]))


def draft_of(item_id: int, user_id: int, schema: LabelSchema) -> dict[str, list[str]]:
    """The fields of this person's draft for the item, under the labels of ``schema``."""
    found = _drafts_of.first(item_id, user_id)
    return _translate_draft(dict(found.fields), schema) if found else {}


def _translate_draft(fields: dict[str, list[str]], schema: LabelSchema) -> dict[str, list[str]]:
    under = "".join(fields.pop("schema", []))
    if not (under.isdecimal() and len(under) < 10 and int(under) < schema.version):
        return fields
    given = LabelSchema.objects.filter(project=schema.project_id, version=int(under)).first()
    names = Translator.of(schema.project_id).names(given) if given else {}
    fields.pop("none", None)  # it referred to the old labels
    if "value" in fields:
        now = (names.get(name, name) for name in fields["value"])
        fields["value"] = list(dict.fromkeys(name for name in now if name is not None))
    if "spans" in fields:
        fields["spans"] = [_translate_spans(spans, names) for spans in fields["spans"]]
    return fields


def _translate_spans(raw: str, names: Mapping[str, str | None]) -> str:
    try:
        spans = json.loads(raw)
    except ValueError:
        return raw
    kept = [
        {**span, "label": now}
        for span in (spans if isinstance(spans, list) else ())
        if isinstance(span, dict)
        and (now := names.get(str(span.get("label")), span.get("label"))) is not None
    ]
    return json.dumps(kept)


@prepared
def _drafts_of(item: int, user: int) -> QuerySet[Draft]:
    return Draft.objects.filter(item=item, user=user)


@prepared
def explanations_for(item: int, user: int) -> QuerySet[Comment]:
    """Unresolved explanations of adjudicators to this person about the item."""
    meant = Comment.objects.filter(item=item, explains=True, mentions__user=user)
    return meant.filter(resolved_at__isnull=True).select_related("author").order_by("pk")


def return_reason(item_id: int, user_id: int) -> str:
    """Why others withdrew this person's label of the item; empty if they did not, or if the person
    has answered since."""
    last = _last_label.first(item_id, user_id)
    if last is None or last.action != Label.Action.WITHDRAWN:
        return ""
    return str(last.provenance.get("reason", ""))


@prepared
def _last_label(item: int, user: int) -> QuerySet[Label]:
    labels = Label.objects.filter(item=item, annotator__user=user, annotator__kind__in=PEOPLE)
    return labels.order_by("-pk")


def other_opinions(item_id: int, user_id: int) -> Sequence[Label]:
    """Current labels of other people and authors, oldest first; none of audited items and gold
    questions, whose answer they would give away."""
    labels = Label.objects.current().filter(
        item=item_id, annotator__kind__in=[*PEOPLE, Kind.AUTHOR]
    )
    labels = labels.filter(item__state__is_gold_question=False).exclude(
        item__state__reasons=ONLY_AUDITED
    )
    others = labels.exclude(annotator__user=user_id).select_related("annotator")
    return list(others.order_by("pk"))


def earlier_answers(project: Project, user_id: int) -> list[str]:
    """Free texts that this person has given here before, the most frequent first; not those of
    others, which would lead to an answer."""
    values = (
        Label.objects.current()
        .filter(annotator__project=project, annotator__user=user_id, annotator__kind__in=PEOPLE)
        .order_by("-pk")
        .values_list("value", flat=True)[:REMEMBERED]
    )
    counts = Counter(value for value in values if isinstance(value, str) and len(value) <= 200)
    return [value for value, _ in counts.most_common(OFFERED)]


def is_debate_hidden(user: User, project: Project, item_id: int) -> bool:
    """Whether the item's debate is hidden from ``user``: they have not answered, and label the item
    blind. One query."""
    states = ItemState.objects.filter(project=project, item=item_id)
    state = states.filter(unanswered_by(user.pk, item="item_id")).first()
    return state is not None and is_blind_for(user.pk, project, state)


def may_open_debate(user: User, project: Project, item_id: int) -> bool:
    """Whether ``user`` may open the page of the debate: a reviewer only after their answer, as a
    missing page would give a gold question away. One query, or two."""
    if role_in(user, project) != Role.REVIEWER:
        return True
    states = ItemState.objects.filter(project=project, item=item_id)
    return not states.filter(unanswered_by(user.pk, item="item_id")).exists()


def debate_behind(project: Project, item_id: int) -> Debate | None:
    """The debate that led to the item's suggestion, or the latest that ended without one.

    With its run, turns and their models, in three queries. None when the item was never debated.
    """
    suggested = ItemState.objects.filter(project=project, item=item_id).values("suggestion")[:1]
    carried = Q(label__superseded_by__in=suggested, label__superseded_by__change__isnull=False)
    debates = ended_debates(project, item_id)
    behind = debates.filter(Q(label__in=suggested) | carried).order_by("pk")
    return behind.first() or debates.first()


def ended_debates(project: Project, item_id: int) -> QuerySet[Debate]:
    """The item's debates with run, turns and their models, the newest first."""
    turns = Turn.objects.select_related("model__provider", "debate__item").order_by("pk")
    debates = Debate.objects.filter(run__project=project, item=item_id)
    return (
        debates.exclude(status=Debate.Status.WAITING)
        .select_related("run", "label")
        .prefetch_related(Prefetch("turns", queryset=turns))
        .order_by("-pk")
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """One label to choose. ``group``: the common beginning of its name and others'; ``short``: the
    rest of its name, or all of it; ``kinds`` of the annotators who gave it, if that is shown."""

    value: str
    title: str
    key: str
    color: str
    suggested: bool
    group: str = ""
    short: str = ""
    help: LabelDef | None = None
    kinds: tuple[str, ...] = ()

    @property
    def has_help(self) -> bool:
        return self.help is not None and bool(
            self.help.description or self.help.include or self.help.exclude
        )


class AnswerScreen:
    """What the templates of an answer read of the item on the screen."""

    state: ItemState
    schema: LabelSchema
    choices: Sequence[Choice]

    @property
    def item(self) -> Item:
        return self.state.item

    @property
    def question(self) -> str:
        """The item's own question, or the schema's."""
        return self.item.question or self.schema.parsed.question

    @property
    def before(self) -> Conversation:
        return read_conversation(self.item.context)

    @property
    def task(self) -> LabelType:
        return self.schema.parsed.of_item(self.item.options).task

    @property
    def many(self) -> bool:
        """Whether there are too many choices to see at a glance."""
        return len(self.choices) > FEW


@dataclass(frozen=True)
class ReviewTask(AnswerScreen):
    """One item as handed to one reviewer."""

    state: ItemState
    schema: LabelSchema
    choices: Sequence[Choice]
    slot: Slot
    settings: ReviewSettings
    begun: Mapping[str, Sequence[str]]
    opinions: Sequence[Label] = ()
    answers: Sequence[str] = ()
    explanations: Sequence[Comment] = ()
    returned: str = ""

    @property
    def suggestion(self) -> Label | None:
        """The suggestion; an abstention suggests nothing."""
        label = self.state.suggestion
        return label if label is not None and not label.abstained else None

    @property
    def evidence(self) -> Mapping[str, Sequence[str]]:
        return dict(self.suggestion.evidence) if self.suggestion else {}

    @property
    def quoted(self) -> dict[str, tuple[str, str]]:
        """Name and colour of each label with quotes."""
        return {
            name: (name, self.schema.parsed.color(name, self.item.options))
            for name in self.evidence
        }

    @property
    def draft(self) -> str:
        """The draft as JSON for the page's script; empty without one."""
        return json.dumps(self.begun) if self.begun else ""

    @property
    def order(self) -> str:
        """The order of the choices as JSON; empty if it is the schema's."""
        shown = [choice.value for choice in self.choices]
        plain = self.schema.parsed.offered(self.item.options)
        return json.dumps(shown) if shown != list(plain) else ""

    @property
    def returns(self) -> str:
        """Positions of carriage returns before line feeds, as JSON: browsers drop them, but the
        positions of marked passages have to count them."""
        text = self.item.text
        return json.dumps(
            [
                position
                for position in range(len(text) - 1)
                if text[position : position + 2] == "\r\n"
            ]
        )

    @property
    def reasons(self) -> list[str]:
        """Why the item comes early, in words. That others disagree is no such reason: it would
        influence the answer."""
        return [reason_words(str(code)) for code in self.state.reasons]

    @property
    def debated(self) -> bool:
        return bool(self.state.signals) or self.state.suggestion_id is not None

    @property
    def suggests_none(self) -> bool:
        label = self.suggestion
        return label is not None and self.task.several and label.value == []

    @property
    def suggested_text(self) -> str:
        return str(self.suggestion.value) if self.suggestion and self.task.written else ""


def item_state(project: Project, item_id: int, user_id: int) -> ItemState:
    """The item as it is handed out to ``user_id``, without suggestion, signals and reasons if they
    label it blind. One query, or two with a suggestion: most of a query's time goes into its
    columns, and a project without runs has no suggestions.

    Raises:
        NotFound: the project has no such item.
    """
    state = _states_with_item.first(project.pk, item_id)
    if state is None:
        raise no_item(project, item_id)
    if is_blind_for(user_id, project, state):
        # Like an item that was never debated.
        state.suggestion, state.signals, state.reasons = None, {}, []
        if state.stage == ItemState.Stage.SUGGESTED:
            state.stage = ItemState.Stage.NEW
    elif state.suggestion_id is not None:
        state.suggestion = _suggestions.first(state.suggestion_id)
    return state


@prepared
def _states_with_item(project: int, item: int) -> QuerySet[ItemState]:
    return ItemState.objects.select_related("item").filter(project=project, item=item)


@prepared
def _suggestions(label: int) -> QuerySet[Label]:
    return Label.objects.select_related("annotator").filter(pk=label).order_by()


def review_task(project: Project, *, slot: Slot, taken_keys: Collection[str] = ()) -> ReviewTask:
    """The item of a lease as its holder sees it, in a few queries. ``taken_keys`` are keys of
    actions, and so of no label.

    Raises:
        NotFound: the project has no such item.
    """
    user = slot.holder_id or 0
    state = item_state(project, slot.item_id, user)
    setup = read_setup(project)
    schema, settings = setup.schema, setup.settings
    offered = list(schema.parsed.offered(state.item.options))
    if settings.shuffle_options and schema.parsed.task.item_options:
        offered = shuffle_options(offered, user, state.item_id)
    return ReviewTask(
        state=state,
        schema=schema,
        choices=_choices(schema.parsed, state, offered, taken_keys),
        slot=slot,
        settings=settings,
        begun=draft_of(state.item_id, user, schema),
        opinions=other_opinions(state.item_id, user) if settings.show_opinions else (),
        answers=earlier_answers(project, user) if schema.parsed.task.written else (),
        explanations=explanations_for(state.item_id, user),
        returned=return_reason(state.item_id, user),
    )


def preview_task(project: Project, schema: Schema, item: Item) -> ReviewTask:
    """The item as a reviewer would see it, before it or its project are stored."""
    state = ItemState(project=project, item=item)
    version = LabelSchema(project=project, version=1, definition=schema.to_json())
    offered = schema.offered(item.options)
    return ReviewTask(
        state=state,
        schema=version,
        choices=_choices(schema, state, offered, ()),
        slot=Slot(),
        settings=ReviewSettings(project=project),
        begun={},
    )


def shuffle_options(options: Sequence[str], user_id: int, item_id: int) -> list[str]:
    """The options in an order that depends only on person and item. With one order for all, people
    would choose the first option too often."""
    order = Random(f"options {user_id} {item_id}")  # noqa: S311 - an order, not a secret
    return order.sample(options, len(options))


def _choices(
    schema: Schema, state: ItemState, offered: Sequence[str], taken_keys: Collection[str]
) -> list[Choice]:
    label = state.suggestion
    suggested = schema.names_in(label.value if label is not None and not label.abstained else None)
    return make_choices(schema, state.item, offered, taken_keys, suggested=suggested)


def make_choices(
    schema: Schema,
    item: Item,
    offered: Sequence[str],
    taken_keys: Collection[str],
    *,
    suggested: Collection[str] = (),
    kinds: Callable[[str], tuple[str, ...]] = lambda _: (),
) -> list[Choice]:
    """The choices in the order of ``offered``; ``kinds`` of the annotators who gave a label."""
    groups = group_names(offered)
    return [
        Choice(
            value=name,
            title=choice_title(schema, name),
            key=key,
            color=schema.color(name, item.options),
            suggested=name in suggested,
            group=groups[name][0],
            short=groups[name][1],
            help=schema.label(name),
            kinds=kinds(name),
        )
        for name, key in zip(offered, choice_keys(len(offered), taken_keys), strict=True)
    ]


def choice_keys(count: int, taken: Collection[str]) -> list[str]:
    """A key for each of ``count`` choices by its place: a digit, then a letter that is not
    ``taken``; "" when these are used up."""
    free = [*"123456789", *(letter for letter in ascii_lowercase if letter not in taken)]
    return [*free, *repeat("", count)][:count]


def group_names(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The group of each name and the rest of the name: what stands before and after its first "/"
    or ": ", if other names begin in the same way; else "" and the name."""
    parts = {name: re.split(r"/|: ", name, maxsplit=1) for name in names}
    count = Counter(head for head, *rest in parts.values() if rest)
    return {
        name: (head.strip(), rest[0].strip()) if rest and count[head] > 1 else ("", name)
        for name, (head, *rest) in parts.items()
    }


def choice_title(schema: Schema, name: str) -> str:
    """A scale point shows its number beside its name."""
    label = schema.label(name)
    if not schema.task.ordered or label is None or label.point is None:
        return name
    point = f"{label.point:g}"
    return point if point == name else f"{point} · {name}"
