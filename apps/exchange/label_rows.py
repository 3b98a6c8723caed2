"""Annotations and decisions inside a row: every field of the contract and of our own export."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware

from apps.exchange.readers.base import RowFault
from apps.exchange.values import (
    LabelLeftOut,
    as_list,
    as_object,
    is_number,
    json_cell,
    label_value,
    past_value,
)
from apps.labels.models import MACHINES, PEOPLE, Gold, Kind, Label
from apps.labels.services import GoldContent, LabelContent
from labelhub.core.phrases import Phrase
from labelhub.core.schema import Schema

#: Names of the kinds of annotators in files, besides the ledger's own.
KINDS = {
    "llm": "llm", "crowd": "crowd", "expert": "expert", "author": "author", "model": "model",
    "human": "crowd", "worker": "crowd", "annotator": "crowd", "": "crowd",
}  # fmt: skip


def is_annotations(raw: Any) -> bool:
    """Whether a ``labels`` value is a list of annotations (and not the gold itself)."""
    return isinstance(raw, list) and all(isinstance(label, dict) for label in raw)


def by_source(raw: Any) -> Any:
    """``{"crowd_majority": "A", "expert_bio": "B"}`` as annotations; anything else unchanged.

    Only where every name begins with a kind of annotator: kinds are never guessed.
    """
    if not isinstance(raw, dict) or all(isinstance(value, bool) for value in raw.values()):
        return raw
    kinds = [name.partition("_")[0].lower() for name in raw]
    if not all(kind and kind in KINDS for kind in kinds):
        return raw
    pairs = zip(raw.items(), kinds, strict=True)
    return [{"annotator": name, "kind": kind, "value": value} for (name, value), kind in pairs]


#: Made once: an enumeration makes a new list at each access.
ACTIONS, BASES = tuple(Label.Action.values), tuple(Gold.Basis.values)
Role = Label.Role
ROLES = tuple(Role.values)
#: Role → the kinds of annotators whose labels may have it; the other roles fit all kinds.
ALL_KINDS = tuple(Kind)
KINDS_OF_ROLE: dict[str, tuple[Kind, ...]] = {
    Role.EXTRA: PEOPLE,
    Role.GOLD_QUESTION: PEOPLE,
    Role.ADJUDICATION: (Kind.EXPERT,),
    Role.UNCLEAR: (Kind.EXPERT,),
    Role.ADVISORY: (Kind.AUTHOR,),
    Role.TRAINED: MACHINES,
}
#: Keys of provenance that held the role in old exports of ours. Other files may use them freely.
OLD_ROLES = {"aside", "learned", "advisory", "check", "adjudicates", "unclear", "unasked"}
#: In a table of texts a truth value is a text.
TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
YEARS = range(1900, 2201)
MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class AnnotatorRef:
    """An annotator as a file names it; equal references mean the same annotator."""

    kind: str
    name: str
    offline: bool = False


@dataclass(slots=True, kw_only=True)
class LabelRow(LabelContent):
    annotator: AnnotatorRef
    schema_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldRow(GoldContent):
    """One decision of an item's history, oldest first in the file."""

    decided_by: AnnotatorRef | None
    schema_version: int | None


def read_labels(raw: Any, schema: Schema, options: Sequence[str]) -> tuple[LabelRow, ...]:
    """The annotations of a row, in file order.

    Raises:
        RowFault: names the place, such as ``labels[2].value``.
    """
    given = [as_object(label, f"labels[{index}]") for index, label in enumerate(raw or ())]
    past = {label["supersedes"] for label in given if isinstance(label.get("supersedes"), str)}
    read = []
    for index, label in enumerate(given):
        with suppress(LabelLeftOut):
            superseded = str(label.get("uid")) in past
            read.append(read_label(label, schema, options, f"labels[{index}]", past=superseded))
    return tuple(read)


def read_label(
    raw: Any, schema: Schema, options: Sequence[str], where: str, *, past: bool = False
) -> LabelRow:
    """One annotation; ``past``: another one of the same file supersedes it."""
    # Most fields of most rows are empty: they keep the defaults of a label.
    given = {name: part for name, part in as_object(raw, where).items() if part not in (None, "")}
    content: dict[str, Any] = {"action": Label.Action.IMPORTED}
    for name, part in given.items():
        if name in READERS:
            field_name, read = READERS[name]
            content[field_name] = read(part, f"{where}.{name}")
    read_value = past_value if past else label_value
    value = read_value(schema, _raw_value(given, where), options, where=f"{where}.value")
    row = LabelRow(annotator=read_annotator(given, where), value=value, **content)
    _read_supersedes(row, given.get("supersedes"), f"{where}.supersedes")
    row.shown_uid = row.shown_uid or row.proposed_from_uid
    _check_answer(row, where)
    if row.withdrawn or row.abstained:
        row.value = None
    if row.rejected:
        row.abstained, row.proposed_from_uid = False, None
    if "role" not in given and row.uid and (keys := OLD_ROLES.intersection(row.provenance)):
        # An old export of ours, without roles: as plain votes, answers to gold questions and late
        # answers of authors would decide gold.
        raise RowFault(
            "Without 'role' but with '%(keys)s' in 'provenance': add the role of this row.",
            keys=min(keys),
            field=f"{where}.role",
        )
    _check_role(row, f"{where}.role")
    return row


def _read_supersedes(row: LabelRow, raw: Any, where: str) -> None:
    """The uid of the label that it revises; or true, for the annotator's current one."""
    own = TRUTHS.get(str(raw).strip().lower())
    if own is None:
        row.supersedes_uid = _uuid(raw, where)
    row.supersedes_own = bool(own)


def _check_answer(row: LabelRow, where: str) -> None:
    if row.rejected and (row.value is not None or row.withdrawn):
        raise RowFault(
            "A rejection of a suggestion has no value and withdraws nothing.",
            field=f"{where}.rejected",
        )
    if row.value is None and not (row.withdrawn or row.abstained or row.rejected):
        raise RowFault(
            "No value, and the annotator neither abstained, withdrew nor rejected a suggestion.",
            field=f"{where}.value",
        )
    if row.rejected and row.shown_uid is None:
        raise RowFault("The uid of the rejected suggestion is missing.", field=f"{where}.shown")


def _check_role(row: LabelRow, where: str) -> None:
    kind, role = row.annotator.kind, row.role
    if role in Label.ASIDE:
        fits = row.withdrawn and row.supersedes_uid is None and not row.supersedes_own
    else:
        fits = role == Role.VOTE or not row.withdrawn
    fits = fits and (row.abstained or role != Role.UNCLEAR)
    if not fits or kind not in KINDS_OF_ROLE.get(role, ALL_KINDS):
        raise RowFault(
            "'%(role)s' does not fit this row, whose kind is %(kind)s.",
            role=role,
            kind=kind,
            field=where,
        )


def read_annotator(given: dict[str, Any], where: str) -> AnnotatorRef:
    """The annotator that ``annotator`` and ``kind`` name; without a kind, a crowd worker."""
    name = given.get("annotator")
    name = str(name).strip() if isinstance(name, str | int) and not isinstance(name, bool) else ""
    if not name:
        raise RowFault("The name of the annotator is missing.", field=f"{where}.annotator")
    if len(name) > MAX_NAME:
        raise RowFault(
            "Longer than %(max_name)s characters.",
            max_name=MAX_NAME,
            field=f"{where}.annotator",
        )
    kind = KINDS.get(str(given.get("kind") or "").strip().lower())
    if kind is None:
        given_kind = str(given.get("kind"))[:40]
        raise RowFault(
            "'%(given_kind)s' is not a kind of annotator; use llm, crowd, expert, author or model.",
            given_kind=given_kind,
            field=f"{where}.kind",
        )
    return AnnotatorRef(kind, name, _flag(given.get("offline"), f"{where}.offline"))


def read_gold_history(raw: Any, schema: Schema, options: Sequence[str]) -> tuple[GoldRow, ...]:
    """The decisions of our own export, oldest first."""
    given = json_cell(raw, "gold_history")
    given = [] if given is None else as_list(given, "gold_history")
    last = len(given) - 1
    return tuple(
        _gold_row(decision, schema, options, f"gold_history[{index}]", past=index < last)
        for index, decision in enumerate(given)
    )


def _gold_row(
    raw: Any, schema: Schema, options: Sequence[str], where: str, *, past: bool
) -> GoldRow:
    given = as_object(raw, where)
    withdrawn = _flag(given.get("withdrawn"), f"{where}.withdrawn")
    read_value = past_value if past else label_value
    raw_value = None if withdrawn else _raw_value(given, where)
    value = read_value(schema, raw_value, options, where=f"{where}.value")
    if value is None and not withdrawn:
        raise RowFault("No value, and not withdrawn.", field=f"{where}.value")
    decided_by, evidence = given.get("decided_by"), given.get("evidence") or []
    if not isinstance(evidence, list) or not all(isinstance(uid, str) for uid in evidence):
        raise RowFault("Must be a list of label uids.", field=f"{where}.evidence")
    return GoldRow(
        value=value,
        basis=_choice(given.get("basis") or Gold.Basis.IMPORTED, f"{where}.basis", offered=BASES),
        withdrawn=withdrawn,
        decided_by=None
        if decided_by is None
        else read_annotator(as_object(decided_by, where), f"{where}.decided_by"),
        evidence=tuple(evidence),
        uid=_uuid(given.get("uid"), f"{where}.uid"),
        supersedes_uid=_uuid(given.get("supersedes"), f"{where}.supersedes"),
        schema_version=_whole(given.get("schema_version"), f"{where}.schema_version"),
        created_at=_moment(given.get("created_at"), f"{where}.created_at"),
    )


def _raw_value(given: dict[str, Any], where: str) -> Any:
    """The value; in our Parquet files one that its column cannot hold stands beside it."""
    if given.get("value") is None and isinstance(other := given.get("value_json"), str):
        # Within a list, as a text alone does not begin like JSON.
        (value,) = json_cell(f"[{other}]", f"{where}.value_json")
        return value
    return given.get("value")


def _flag(raw: Any, where: str) -> bool:
    flag = raw or False
    if isinstance(flag, str):  # a cell of a table of texts
        flag = TRUTHS.get(flag.strip().lower(), flag)
    if not isinstance(flag, bool):
        raise RowFault("Must be true or false.", field=where)
    return flag


def _choice(raw: Any, where: str, *, offered: Sequence[str]) -> str:
    if raw not in offered:
        raise RowFault(
            "'%(raw)s' is not one of %(offered)s.",
            raw=str(raw)[:40],
            offered=", ".join(offered),
            field=where,
        )
    return str(raw)


def _number(raw: Any, where: str, highest: float = math.inf) -> float | None:
    raw = _from_cell(raw, float)
    if raw is None:
        return None
    if not is_number(raw) or not 0 <= raw <= min(highest, 1e15):
        words = (
            Phrase("Must be a number from 0.")
            if math.isinf(highest)
            else Phrase("Must be a number from 0 to %(highest)s.", highest=highest)
        )
        raise RowFault(words, field=where)
    return float(raw)


def _from_cell(raw: Any, kind: type[int] | type[float]) -> Any:
    """In a table of texts a number is a text, and an empty cell is None."""
    if not isinstance(raw, str):
        return raw
    try:
        return kind(raw) if raw.strip() else None
    except ValueError:
        return raw


def _whole(raw: Any, where: str, highest: int = 2**62) -> int | None:
    raw = _from_cell(raw, int)
    if raw is None:
        return None
    if isinstance(raw, bool) or not isinstance(raw, int) or not 0 <= raw <= highest:
        raise RowFault("Must be a whole number from 0.", field=where)
    return raw


def _replicate(raw: Any, where: str) -> int:
    return _whole(raw, where, highest=32_767) or 1


def _uuid(raw: Any, where: str) -> UUID | None:
    if not raw:
        return None
    try:
        return UUID(raw)
    except (ValueError, AttributeError, TypeError):
        raise RowFault("'%(raw)s' is not a UUID.", raw=str(raw)[:40], field=where) from None


def _moment(raw: Any, where: str) -> datetime | None:
    if raw is None:
        return None
    try:
        moment = parse_datetime(raw)
        moment = make_aware(moment) if moment and is_naive(moment) else moment
        # Databases refuse a time near the ends of the calendar, in some time zones.
        if moment is not None and moment.astimezone(UTC).year in YEARS:
            return moment
    except (ValueError, TypeError, OverflowError):
        pass
    raise RowFault(
        "'%(raw)s' is not a time such as 2026-11-21T09:30:00Z.", raw=str(raw)[:40], field=where
    )


def _rationale(raw: Any, where: str) -> str:
    if raw and not isinstance(raw, str):
        raise RowFault("Must be a text.", field=where)
    return raw or ""


def _provenance(raw: Any, where: str) -> dict[str, Any]:
    return as_object(json_cell(raw, where) or {}, where)


def _evidence(raw: Any, where: str) -> dict[str, list[str]]:
    if isinstance(raw, list):  # in a typed table there are no keys of any name
        pairs = [as_object(quoted, where) for quoted in raw]
        raw = {str(quoted.get("label")): quoted.get("quotes") for quoted in pairs}
    given = as_object(raw or {}, where)
    for name, phrases in given.items():
        if not isinstance(phrases, list) or not all(isinstance(phrase, str) for phrase in phrases):
            raise RowFault(
                "Must be label names with lists of quoted phrases.", field=f"{where}.{name}"
            )
    return given


#: Column of a file → the field of a label, and the function that reads it.
READERS: Mapping[str, tuple[str, Callable[[Any, str], Any]]] = {
    "abstained": ("abstained", _flag),
    "withdrawn": ("withdrawn", _flag),
    "rejected": ("rejected", _flag),
    "action": ("action", partial(_choice, offered=ACTIONS)),
    "role": ("role", partial(_choice, offered=ROLES)),
    "confidence": ("confidence", partial(_number, highest=1.0)),
    "rationale": ("rationale", _rationale),
    "evidence": ("evidence", _evidence),
    "seconds": ("seconds", _number),
    "cost_nanousd": ("cost_nanousd", _whole),
    "uid": ("uid", _uuid),
    "shown": ("shown_uid", _uuid),
    "proposed_from": ("proposed_from_uid", _uuid),
    "run": ("run_uid", _uuid),
    "replicate": ("replicate", _replicate),
    "schema_version": ("schema_version", _whole),
    "provenance": ("provenance", _provenance),
    "created_at": ("created_at", _moment),
}
