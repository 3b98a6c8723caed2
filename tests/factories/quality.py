"""Answers of reviewers as the queue stores them, made straight away where thousands are needed."""

from collections.abc import Sequence
from typing import Any

from apps.accounts.models import User
from apps.labels.models import Label
from apps.labels.services import NewLabel, annotator_for_user, import_gold, record_label
from apps.labels.services.new_rows import NewGold
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from apps.reviews.models import Decision, Purpose

ACTIONS = {
    Decision.Action.ACCEPT: Label.Action.ACCEPTED,
    Decision.Action.FIX: Label.Action.FIXED,
    Decision.Action.REJECT: Label.Action.REJECTED,
    Decision.Action.LABEL: Label.Action.NEW,
}


def decided(item: Item, user: User, value: Any, **fields: Any) -> Decision:
    """What ``user`` said of ``item``, through the ledger, and the decision that tells of it.

    ``seconds``, ``supersedes`` and ``rejected`` are the label's, all else the decision's; None as
    ``value`` says that it cannot be told, or with ``rejected`` only that the suggestion is wrong.
    """
    rejected = fields.pop("rejected", False)
    purpose = fields.get("purpose", Purpose.WORK)
    action = fields.setdefault("action", Decision.Action.LABEL)
    supersedes = fields.pop("supersedes", None)
    label = record_label(
        NewLabel(
            item_id=item.pk,
            annotator=annotator_for_user(item.project, user),
            schema=current_schema(item.project),
            value=value,
            abstained=value is None and not rejected,
            rejected=rejected,
            shown_id=fields["suggestion"].pk if rejected else None,
            action=ACTIONS[Decision.Action(action)],
            seconds=fields.pop("seconds", 8.0),
            supersedes_id=supersedes.pk if supersedes else None,
            role=Label.Role.VOTE if purpose == Purpose.WORK else Label.Role.GOLD_QUESTION,
        )
    )
    return Decision.objects.create(
        project=item.project, item=item, reviewer=user, label=label, **fields
    )


def known(items: Sequence[Item], value: Any = "good") -> None:
    """Let the answer to these items be known, as after an import with gold."""
    project = items[0].project
    schema = current_schema(project)
    import_gold(project, [NewGold(item_id=item.pk, schema=schema, value=value) for item in items])


def checked(
    items: Sequence[Item], user: User, right: Sequence[bool], purpose: str = Purpose.CHECK
) -> list[Decision]:
    """Answers of ``user`` to items whose known answer is ``good``."""
    return [
        decided(item, user, "good" if is_right else "bad", purpose=purpose, correct=is_right)
        for item, is_right in zip(items, right, strict=True)
    ]


def worked(items: Sequence[Item], user: User, value: Any = "good", **fields: Any) -> None:
    """The same answer of ``user`` to all of these items."""
    for item in items:
        decided(item, user, value, **fields)


def project_of(item: Item) -> Project:
    """The item's project as it is stored now."""
    return Project.objects.get(pk=item.project_id)
