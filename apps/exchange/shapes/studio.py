"""Label Studio tasks as rows of ours, with nothing of them lost. No I/O.

Every annotation, prediction and draft stays as it was in the provenance of its label, and what the
task has besides in the item's ``meta``, both under ``label_studio``: our export gives them back.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid5

from apps.exchange.columns import ColumnMap
from apps.exchange.readers.base import RowFault
from apps.exchange.shapes.base import NAMESPACE, Data, Shape, Translated
from apps.exchange.shapes.said import Asked, seconds_of, user_name
from apps.exchange.shapes.studio_results import questions_in, said_in
from apps.exchange.shapes.studio_task import content_of
from apps.exchange.values import as_object
from apps.labels.models import Label
from labelhub.core.schema import Schema

#: Where our own export keeps the full row inside a task's ``meta``.
OURS = "labelhub"
#: Where ``provenance`` keeps what came from Label Studio, as it came.
THEIRS = "label_studio"
#: How many places of a task may hold a label each.
LISTS = {"predictions": "prediction", "annotations": "annotation", "drafts": "draft"}
BARE = (
    "Label Studio's plain export has the predictions' ids only: their contents are not in this "
    "file. Export them with JSON_MIN, over its API, or from the Data Manager, or go without."
)


def fits(data: Data) -> bool:
    """Whether a row is a Label Studio task: its content sits in ``data``."""
    return isinstance(data.get("data"), dict) and "text" not in data


def read(task: Data, columns: ColumnMap, schema: Schema) -> Translated:
    """The row of a task.

    Our own export carries its full row in ``meta.labelhub``; what people annotated since in Label
    Studio is added to it. Otherwise annotations become labels of people, predictions labels of
    models, a ``ground_truth`` annotation the gold. Skips, drafts and what has no answer
    are kept aside.

    Raises:
        RowFault: names the place, such as ``annotations[0].result[1].value.choices``.
    """
    meta = task.get("meta")
    if isinstance(meta, dict) and isinstance(meta.get(OURS), dict):
        row = dict(meta[OURS])
        given = row.get("labels") or []
        if not isinstance(given, list):
            raise RowFault("Must be a list.", field=f"meta.{OURS}.labels")
        asked = Asked.of(row, schema, columns.question)
        since, truth = _since(task, row, given, asked)
        if truth is not None and row.get("gold") is None and not row.get("gold_history"):
            row["gold"] = truth
        return Translated(row | {"labels": [*given, *since]})
    row = content_of(task, columns)
    found = _Labels(task, Asked.of(row, schema, columns.question)).read()
    if found.labels:
        row["labels"] = found.labels
    if found.gold is not None:
        row["gold"] = found.gold
    remarks = (("predictions", BARE),) if found.bare else ()
    return Translated(row, remarks)


def _since(
    task: Data, row: Data, given: list[Any], asked: Asked
) -> tuple[list[dict[str, Any]], Any]:
    """Labels for what was not in our export, or says something else by now; and what is marked as
    the truth. Gold went out as an annotation that has no label here."""
    known: dict[Any, Any] = {number_of(f"gold {row.get('id')}"): {"value": row.get("gold")}}
    results: dict[str, dict[str, Any]] = {}
    for label in given:
        if isinstance(label, dict) and isinstance(label.get("uid"), str):
            number = number_of(label["uid"])
            known[number] = label
            results[f"r{number}"] = label
            for one in _theirs_in(label):
                known |= {one["id"]: label} if isinstance(one.get("id"), int | str) else {}
                results |= dict.fromkeys(_result_ids(one), label)
    made_there = {name: task.get(name) for name in ("annotations", "drafts")}
    found = _Labels(made_there, asked, known=results).read()
    return [label for label in found.labels if not _is_known(label, known)], found.gold


def _theirs_in(label: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a label of ours came from in Label Studio."""
    told = label.get("provenance")
    kept = told.get(THEIRS) if isinstance(told, dict) else None
    return [one for one in kept.values() if isinstance(one, dict)] if isinstance(kept, dict) else []


def _result_ids(one: Mapping[str, Any]) -> list[str]:
    """The ids of results: they stay what they are, while predictions get new ones there."""
    results = one.get("result")
    told = results if isinstance(results, list) else []
    return [str(each["id"]) for each in told if isinstance(each, dict) and each.get("id")]


def _is_known(label: dict[str, Any], known: Mapping[Any, Any]) -> bool:
    kept = label["provenance"][THEIRS]
    if "prediction" in kept:
        return False
    (one,) = (kept[what] for what in ("annotation", "draft") if what in kept)
    told = [n for n in (one.get("import_id"), one.get("id")) if isinstance(n, int | str)]
    before = next((known[number] for number in told if number in known), None)
    if before is None or label.get("value") == before.get("value"):
        return before is not None
    label |= {"proposed_from": before["uid"]} if "uid" in before else {}
    return False


@dataclass(slots=True)
class _Labels:
    """The labels of one task, with the references that its numbers make."""

    task: Data
    asked: Asked
    #: Id of a result → the label of ours that it was exported from.
    known: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    labels: list[dict[str, Any]] = field(default_factory=list)
    gold: Any = None
    bare: bool = False
    #: (list, number in Label Studio) → the label.
    _by_number: dict[tuple[str, Any], dict[str, Any]] = field(default_factory=dict)

    def read(self) -> "_Labels":
        """Gather them all."""
        for name, what in LISTS.items():
            for at, one in enumerate(_listed(self.task, name)):
                if isinstance(one, int) and name == "predictions":
                    self.bare = True
                else:
                    self._add(what, as_object(one, f"{name}[{at}]"), at, f"{name}[{at}]")
        self._chain()
        return self

    def _add(self, what: str, one: dict[str, Any], at: int, where: str) -> None:
        if what == "annotation" and isinstance(one.get("prediction"), dict):
            self._add_embedded(one, one["prediction"], f"{where}.prediction")
        label = self._label(what, one, where)
        origin = {what: one, "at": at}
        uid = uuid5(NAMESPACE, json.dumps([self.task.get("id"), origin], sort_keys=True))
        label["uid"] = str(uid)
        label["provenance"] = {**label.get("provenance", {}), THEIRS: origin}
        self.labels.append(label)
        if one.get("id") is not None:
            self._by_number.setdefault((what, str(one["id"])), label)
        if one.get("ground_truth") is True and self.gold is None:
            self.gold = label.get("value")

    def _add_embedded(self, one: Mapping[str, Any], body: Mapping[str, Any], where: str) -> None:
        """An annotation tells of a prediction for its task: all there is where only ids are listed.
        One that says nothing, or that we made, is no new label."""
        number = body.get("id", one.get("parent_prediction"))
        if number is None or ("prediction", str(number)) in self._by_number:
            return
        ids = _result_ids(body)
        ours = next((self.known[each] for each in ids if each in self.known), None)
        if ours is not None:
            self._by_number["prediction", str(number)] = ours
        elif body.get("result"):
            at = sum(label["kind"] == "model" for label in self.labels)
            self._add("prediction", {"id": number, **body}, at, where)

    def _label(self, what: str, one: dict[str, Any], where: str) -> dict[str, Any]:
        machine = what == "prediction"
        label: dict[str, Any] = {
            "kind": "model" if machine else "crowd",
            "annotator": _who(what, one),
        }
        label |= {"created_at": one["created_at"]} if one.get("created_at") else {}
        label |= seconds_of(one.get("lead_time"))
        if what == "draft" or one.get("was_cancelled") is True:
            role = Label.Role.DRAFT if what == "draft" else Label.Role.SKIP
            return {**label, "withdrawn": True, "role": role}
        said = said_in(one, where, self.asked)
        if machine:
            said.sure(one.get("score"))
        return label | said.to_label() | self._origin(one)

    def _origin(self, one: Mapping[str, Any]) -> dict[str, Any]:
        """What it was made from: accepted or fixed is then whether the values are the same. As an
        action that would say that somebody was asked here, whose labels decide."""
        for what in ("prediction", "annotation"):
            source = self._by_number.get((what, str(one.get(f"parent_{what}"))))
            if source is not None and not source.get("withdrawn"):
                return {"proposed_from": source["uid"]}
        return {}

    def _chain(self) -> None:
        """Who annotated a task several times says by now what they said last."""
        last: dict[tuple[str, str], dict[str, Any]] = {}
        for label in self.labels:
            if label.get("withdrawn"):
                continue
            before = last.get((label["kind"], label["annotator"]))
            if before is not None:
                label["supersedes"] = before["uid"]
            last[label["kind"], label["annotator"]] = label


def _listed(task: Data, name: str) -> list[Any]:
    given = task.get(name) or []
    if not isinstance(given, list):
        raise RowFault("Must be a list.", field=name)
    return given


def _who(what: str, one: Mapping[str, Any]) -> str:
    if what == "prediction":
        return str(one.get("model_version") or "Label Studio prediction").strip()[:200]
    return user_name(one.get("completed_by") if what == "annotation" else one.get("user"))


def number_of(uid: str) -> int:
    """Label Studio's ids are numbers; these are stable and refer within their task only."""
    return zlib.crc32(uid.encode()) & 0x7FFFFFFF


def _columns(task: Data) -> list[str]:
    return list(task["data"])


def _questions(task: Data) -> list[str]:
    asked: dict[str, None] = {}
    for name in LISTS:
        for one in task.get(name) or ():
            results = one.get("result") if isinstance(one, dict) else None
            asked |= dict.fromkeys(questions_in(results if isinstance(results, list) else ()))
    return list(asked)


SHAPE = Shape("Label Studio tasks", fits, read, _columns, _questions)
