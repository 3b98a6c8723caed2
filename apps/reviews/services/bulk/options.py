"""What an action needs to know besides the items, as a form or a program sends it."""

from collections.abc import Callable, Mapping
from typing import Any

from apps.accounts.roles import ROLES_WITH, Right
from apps.projects.models import Membership, Project
from apps.projects.selectors import current_schema
from apps.reviews.models import BulkJob
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import unstorable

KINDS = ("", "crowd", "expert")
MOST_PEOPLE = 50
LONGEST_REASON = 500


def read_options(project: Project, action: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The options of ``action``, checked, ready to be stored.

    Fields: ``value`` (label), ``users`` (ids or user names) and ``share`` (assign: each item to one
    of them in turn, else to all), ``kind`` (audience: crowd, expert or empty), ``promoted``
    (promote), ``reason`` (return).

    Raises:
        InvalidInput: an unknown action, or an option that cannot be used, by its name.
    """
    if action not in BulkJob.Action.values:
        raise InvalidInput.at("action", f"Must be one of {', '.join(BulkJob.Action.values)}.")
    return _READERS[BulkJob.Action(action)](project, data)


def _nothing(_project: Project, _data: Mapping[str, Any]) -> dict[str, Any]:
    return {}


def _value(project: Project, data: Mapping[str, Any]) -> dict[str, Any]:
    schema, raw = current_schema(project).parsed, data.get("value")
    if raw in (None, ""):
        raise InvalidInput.at("value", "Choose the label that all are to have.")
    if schema.task.item_options:
        if not isinstance(raw, str) or not raw.strip() or unstorable(raw):
            raise InvalidInput.at("value", "Must be one of the items' options, as text.")
        return {"value": raw.strip()}
    try:
        return {"value": schema.normalise(raw)}
    except InvalidInput as error:
        raise InvalidInput.at("value", error.message) from None


def _people(project: Project, data: Mapping[str, Any]) -> dict[str, Any]:
    raw = data.get("users") or []
    if not isinstance(raw, list | tuple) or not raw:
        raise InvalidInput.at("users", "Choose at least one person.")
    members = Membership.objects.filter(project=project, role__in=ROLES_WITH[Right.REVIEW])
    known: dict[str, int] = {}
    for pk, name in members.values_list("user_id", "user__username"):
        known |= {str(pk): pk, name: pk}
    strange = [str(one) for one in raw if str(one) not in known]
    if strange:
        raise InvalidInput.at("users", f"'{strange[0][:80]}' does not review in this project.")
    users = sorted({known[str(one)] for one in raw})
    if len(users) > MOST_PEOPLE:
        raise InvalidInput.at("users", f"At most {MOST_PEOPLE} people at once.")
    return {"users": users, "share": _flag(data, "share", default=False)}


def _kind(_project: Project, data: Mapping[str, Any]) -> dict[str, Any]:
    kind = data.get("kind", "")
    if kind not in KINDS:
        raise InvalidInput.at("kind", "Must be crowd, expert or empty (for everybody).")
    return {"kind": kind}


def _promoted(_project: Project, data: Mapping[str, Any]) -> dict[str, Any]:
    return {"promoted": _flag(data, "promoted", default=True)}


def _reason(_project: Project, data: Mapping[str, Any]) -> dict[str, Any]:
    raw = data.get("reason", "")
    reason = raw.strip() if isinstance(raw, str) else ""
    if not reason or unstorable(reason) or len(reason) > LONGEST_REASON:
        words = f"Say why, in at most {LONGEST_REASON} characters."
        raise InvalidInput.at("reason", words)
    return {"reason": reason}


def _flag(data: Mapping[str, Any], name: str, *, default: bool) -> bool:
    raw = data.get(name, default)
    if raw in (True, "true", "on", "1", "yes"):
        return True
    if raw in (False, "false", "", "0", "no"):
        return False
    raise InvalidInput.at(name, "Must be true or false.")


_READERS: dict[BulkJob.Action, Callable[[Project, Mapping[str, Any]], dict[str, Any]]] = {
    BulkJob.Action.ACCEPT: _nothing,
    BulkJob.Action.LABEL: _value,
    BulkJob.Action.ASSIGN: _people,
    BulkJob.Action.AUDIENCE: _kind,
    BulkJob.Action.PROMOTE: _promoted,
    BulkJob.Action.RETURN: _reason,
}
