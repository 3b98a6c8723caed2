"""What is shown beside an item: what this person has begun, what others say, what they said."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from django.db.models import QuerySet

from apps.common.prepared import prepared
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import PEOPLE, Kind, Label
from apps.projects.changes import Translator
from apps.projects.models import LabelSchema, Project
from apps.reviews.models import Comment, Draft

#: Of this many earlier answers of a person the most frequent are offered again.
REMEMBERED, OFFERED = 300, 8


def draft_of(item_id: int, user_id: int, schema: LabelSchema) -> dict[str, list[str]]:
    """The fields of what this person has begun to say of the item, as the labels are called in
    ``schema``, the newest."""
    found = _draft.first(item_id, user_id)
    return _as_called_now(dict(found.fields), schema) if found else {}


def _as_called_now(fields: dict[str, list[str]], schema: LabelSchema) -> dict[str, list[str]]:
    under = "".join(fields.pop("schema", []))
    if not (under.isdecimal() and len(under) < 10 and int(under) < schema.version):
        return fields
    given = LabelSchema.objects.filter(project=schema.project_id, version=int(under)).first()
    names = Translator.of(schema.project_id).names(given) if given else {}
    fields.pop("none", None)  # it meant the labels of then
    if "value" in fields:
        now = (names.get(name, name) for name in fields["value"])
        fields["value"] = list(dict.fromkeys(name for name in now if name is not None))
    if "spans" in fields:
        fields["spans"] = [_marked_now(one, names) for one in fields["spans"]]
    return fields


def _marked_now(raw: str, names: Mapping[str, str | None]) -> str:
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
def _draft(item: int, user: int) -> QuerySet[Draft]:
    return Draft.objects.filter(item=item, user=user)


def told_about(item_id: int, user_id: int) -> list[Comment]:
    """What an adjudicator explained to this person about the item, and nobody has settled yet."""
    return _told(item_id, user_id)


@prepared
def _told(item: int, user: int) -> QuerySet[Comment]:
    meant = Comment.objects.filter(item=item, explains=True, mentions__user=user)
    return meant.filter(resolved_at__isnull=True).select_related("author").order_by("pk")


def returned_for(item_id: int, user_id: int) -> str:
    """Why what this person had said of the item was taken back by others, in their words; nothing
    where it was not, or where they have answered since."""
    last = _last_said.first(item_id, user_id)
    if last is None or last.action != Label.Action.WITHDRAWN:
        return ""
    return str(last.provenance.get("reason", ""))


@prepared
def _last_said(item: int, user: int) -> QuerySet[Label]:
    said = Label.objects.filter(item=item, annotator__user=user, annotator__kind__in=PEOPLE)
    return said.order_by("-pk")


def opinions_on(item_id: int, user_id: int) -> Sequence[Label]:
    """What other people and authors say of the item now, oldest first; nothing of an audited item,
    nor of one whose answer is known, which these tell."""
    said = Label.objects.current().filter(item=item_id, annotator__kind__in=[*PEOPLE, Kind.AUTHOR])
    said = said.filter(item__state__known=False).exclude(item__state__reasons=ONLY_AUDITED)
    others = said.exclude(annotator__user=user_id).select_related("annotator")
    return list(others.order_by("pk"))


def earlier_answers(project: Project, user_id: int) -> list[str]:
    """Free texts this person has given here before, the most frequent first: their own alone, so
    that nobody leads another to an answer."""
    said = (
        Label.objects.current()
        .filter(annotator__project=project, annotator__user=user_id, annotator__kind__in=PEOPLE)
        .order_by("-pk")
        .values_list("value", flat=True)[:REMEMBERED]
    )
    counts = Counter(value for value in said if isinstance(value, str) and len(value) <= 200)
    return [value for value, _ in counts.most_common(OFFERED)]
