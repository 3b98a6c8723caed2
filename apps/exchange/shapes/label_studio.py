"""Label Studio tasks as rows of ours, with nothing of them lost. No I/O.

Every annotation, prediction and draft stays as it was in the provenance of its label, and what the
task has besides in the item's ``meta``, both under ``label_studio``: our export gives them back.
"""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid5

from apps.exchange.columns import CONTENT, ColumnMap
from apps.exchange.readers.base import RowFault
from apps.exchange.shapes.base import (
    NAMESPACE,
    AnnotationContext,
    Data,
    ParsedAnnotation,
    Shape,
    Translated,
    seconds_of,
    user_name,
)
from apps.exchange.values import as_object
from apps.labels.models import Label
from labelhub.core.schema import Schema, role_of

#: Where an item's ``meta`` keeps what only Label Studio knows what to do with.
KEPT = "label_studio"
#: Made anew by an export from what there is then.
COUNTED = ("total_annotations", "cancelled_annotations", "total_predictions")
READ = ("data", "meta", "annotations", "predictions", "drafts", *COUNTED)
FIELDS = ("id", "text", "context", "question", "options")


def content_of(task: Data, columns: ColumnMap) -> dict[str, Any]:
    """A row without labels: item fields out of ``data``; the remaining columns and the task's own
    ``meta`` are metadata.

    A column of ``data`` is gold only where somebody chose it, and then kept as that alone: metadata
    is shown to those who label.
    """
    data = as_object(task["data"], "data")
    fields, others = columns.of(data, CONTENT)
    fields = dict(fields)
    if "text" not in fields and (only := _only_text(data)):
        fields["text"] = only
        others = tuple(name for name in others if name != only)
    gold = _gold(data, fields)
    row = {name: data[fields[name]] for name in FIELDS if name in fields}
    if "options" in row:
        row["options"] = _options(row["options"])
    if gold:
        row["gold"] = data[gold]
    if "id" not in row and task.get("id") is not None:
        row["id"] = task["id"]
    row["meta"] = _meta(task, data, fields, [name for name in others if name != gold], gold)
    return row


def _only_text(data: Mapping[str, Any]) -> str:
    texts = [name for name, value in data.items() if isinstance(value, str)]
    return texts[0] if len(texts) == 1 else ""


def _gold(data: Mapping[str, Any], fields: Mapping[str, str]) -> str:
    """The column that was chosen to hold a decided value, if its value can be one."""
    column = fields.get("gold", "")
    value = data.get(column)
    parts = value if isinstance(value, list) else [value]
    return "" if value is None or any(isinstance(part, list | dict) for part in parts) else column


def _options(raw: Any) -> Any:
    """Dynamic choices come as objects."""
    if isinstance(raw, list) and raw and all(isinstance(choice, dict) for choice in raw):
        return [choice.get("value") for choice in raw]
    return raw


def _meta(
    task: Data, data: Mapping[str, Any], fields: Mapping[str, str], others: list[str], gold: str
) -> dict[str, Any]:
    meta = task.get("meta")
    text = fields.get("text", "")
    text = text if isinstance(data.get(text), str) else ""
    kept: dict[str, Any] = {
        "columns": {name: column for name, column in (("text", text), ("gold", gold)) if column},
        "task": {name: value for name, value in task.items() if name not in READ},
    }
    theirs = meta if isinstance(meta, dict) else {"meta": meta} if meta else {}
    own = data.get(fields.get("meta", ""))
    besides = own if isinstance(own, dict) else {}
    shown = {**{name: data[name] for name in others}, **besides, **theirs}
    shown.pop(KEPT, None)
    rest = {name: value for name, value in data.items() if name not in (text, gold)}
    kept["data"] = _apart(rest, shown)
    if "meta" in task:
        kept["meta"] = _apart(meta, shown) if isinstance(meta, dict) else meta
    return {**shown, KEPT: kept}


def _apart(given: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` without what is among the metadata: of that, the names."""
    there = [name for name, value in given.items() if shown.get(name, given) is value]
    rest = {name: value for name, value in given.items() if name not in there}
    return {"shown": there, "rest": rest}


def together(apart: Any, shown: Mapping[str, Any]) -> Any:
    """What :func:`_apart` took apart."""
    if not isinstance(apart, dict) or set(apart) != {"shown", "rest"}:
        return apart
    if not (isinstance(apart["shown"], list) and isinstance(apart["rest"], dict)):
        return apart
    names = [name for name in apart["shown"] if isinstance(name, str) and name in shown]
    return {**{name: shown[name] for name in names}, **apart["rest"]}


def kept_in(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What :func:`_meta` kept of a task; nothing where others use the name for something else."""
    kept: Any = meta.get(KEPT)
    parts = ("columns", "task", "data")
    if not (isinstance(kept, dict) and all(isinstance(kept.get(part), dict) for part in parts)):
        return {}
    return kept


#: Type → where its ``value`` has the answer.
ANSWERS = {"choices": "choices", "rating": "rating", "number": "number", "textarea": "text"}
SPANS = ("labels", "hypertextlabels")


def said_in(given: Mapping[str, Any], where: str, asked: AnnotationContext) -> ParsedAnnotation:
    """What the results in ``given`` say, together.

    Raises:
        RowFault: a type that is no answer and no quote, another question, a label not offered.
    """
    results = given.get("result") or []
    if not isinstance(results, list):
        raise RowFault("Must be a list.", field=f"{where}.result")
    annotation = ParsedAnnotation(asked)
    for index, result in enumerate(results):
        place = f"{where}.result[{index}]"
        _take(annotation, as_object(result, place), place)
    return annotation


def questions_in(results: Iterable[Any]) -> list[str]:
    """The names of the controls whose results answer a question of their own."""
    answers = [
        result for result in results if isinstance(result, dict) and result.get("type") in ANSWERS
    ]
    names = [
        str(answer.get("from_name") or answer["type"])
        for answer in answers
        if "parentID" not in answer
    ]
    return [name for name in names if not role_of(name)]


def _take(annotation: ParsedAnnotation, result: Mapping[str, Any], where: str) -> None:
    value = as_object(result.get("value") or {}, f"{where}.value")
    kind = _kind(result, value, where)
    name = result.get("from_name")
    if isinstance(meta := result.get("meta"), dict):
        annotation.words("rationale", meta.get("text"))
    if kind in SPANS:
        for label in _labels(value, kind, where):
            ends = value.get("start"), value.get("end")
            if "globalOffsets" in value:  # of HTML: start and end are within their elements
                offsets = as_object(value["globalOffsets"], f"{where}.value.globalOffsets")
                ends = offsets.get("start"), offsets.get("end")
            annotation.span(label, ends, value.get("text"), f"{where}.value")
        return
    _take_answer(
        annotation, role_of(name), str(name or kind), result, f"{where}.value.{ANSWERS[kind]}"
    )


def _take_answer(
    annotation: ParsedAnnotation, role: str, name: str, result: Mapping[str, Any], where: str
) -> None:
    value, kind = result["value"], where.rpartition(".")[2]
    of_region = "parentID" in result or "start" in value
    if name == annotation.asked.question.chosen:
        role, of_region = "", False
    if annotation.asked.schema.task.written and annotation.asked.question.name in ("", name):
        role = ""  # a project that asks for words may call them anything
    if kind == "text" and (role in ("rationale", "comment") or of_region):
        annotation.words(role or "rationale", value[kind])
    elif role == "confidence" and kind in ("number", "rating"):
        annotation.sure(value[kind])
    elif of_region:
        raise RowFault(f"'{name[:80]}' is asked of a part of the text, not of all.", field=where)
    else:
        annotation.answer(name, value[kind], where)


def _kind(result: Mapping[str, Any], value: Mapping[str, Any], where: str) -> str:
    """The type as told, else by what the value has."""
    given_kind = result.get("type")
    kind = next((kind for kind, key in ANSWERS.items() if key in value), "")
    kind = given_kind if given_kind in SPANS else kind
    if not kind or (given_kind is not None and given_kind != kind):
        raise RowFault(f"Results of type '{str(given_kind)[:40]}' cannot be imported.", field=where)
    return str(kind)


def _labels(value: Mapping[str, Any], kind: str, where: str) -> list[Any]:
    labels = value.get(kind, value.get("labels"))
    if not isinstance(labels, list) or not labels:
        raise RowFault("A list of labels is missing.", field=f"{where}.value.labels")
    return labels


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
        asked = AnnotationContext.of(row, schema, columns.question)
        since, truth = _since(task, row, given, asked)
        if truth is not None and row.get("gold") is None and not row.get("gold_history"):
            row["gold"] = truth
        return Translated(row | {"labels": [*given, *since]})
    row = content_of(task, columns)
    found = _Labels(task, AnnotationContext.of(row, schema, columns.question)).read()
    if found.labels:
        row["labels"] = found.labels
    if found.gold is not None:
        row["gold"] = found.gold
    remarks = (("predictions", BARE),) if found.bare else ()
    return Translated(row, remarks)


def _since(
    task: Data, row: Data, given: list[Any], asked: AnnotationContext
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
            for original in _theirs_in(label):
                known |= (
                    {original["id"]: label} if isinstance(original.get("id"), int | str) else {}
                )
                results |= dict.fromkeys(_result_ids(original), label)
    made_there = {name: task.get(name) for name in ("annotations", "drafts")}
    found = _Labels(made_there, asked, known=results).read()
    return [label for label in found.labels if not _is_known(label, known)], found.gold


def _theirs_in(label: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a label of ours came from in Label Studio."""
    provenance = label.get("provenance")
    kept = provenance.get(THEIRS) if isinstance(provenance, dict) else None
    return (
        [original for original in kept.values() if isinstance(original, dict)]
        if isinstance(kept, dict)
        else []
    )


def _result_ids(original: Mapping[str, Any]) -> list[str]:
    """The ids of results: they stay what they are, while predictions get new ones there."""
    results = original.get("result")
    listed = results if isinstance(results, list) else []
    return [str(result["id"]) for result in listed if isinstance(result, dict) and result.get("id")]


def _is_known(label: dict[str, Any], known: Mapping[Any, Any]) -> bool:
    kept = label["provenance"][THEIRS]
    if "prediction" in kept:
        return False
    (original,) = (kept[what] for what in ("annotation", "draft") if what in kept)
    ids = [n for n in (original.get("import_id"), original.get("id")) if isinstance(n, int | str)]
    before = next((known[number] for number in ids if number in known), None)
    if before is None or label.get("value") == before.get("value"):
        return before is not None
    label |= {"proposed_from": before["uid"]} if "uid" in before else {}
    return False


@dataclass(slots=True)
class _Labels:
    """The labels of one task, with the references that its numbers make."""

    task: Data
    asked: AnnotationContext
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
            for position, original in enumerate(_listed(self.task, name)):
                if isinstance(original, int) and name == "predictions":
                    self.bare = True
                else:
                    self._add(
                        what,
                        as_object(original, f"{name}[{position}]"),
                        position,
                        f"{name}[{position}]",
                    )
        self._chain()
        return self

    def _add(self, what: str, original: dict[str, Any], position: int, where: str) -> None:
        if what == "annotation" and isinstance(original.get("prediction"), dict):
            self._add_embedded(original, original["prediction"], f"{where}.prediction")
        label = self._label(what, original, where)
        origin = {what: original, "at": position}
        uid = uuid5(NAMESPACE, json.dumps([self.task.get("id"), origin], sort_keys=True))
        label["uid"] = str(uid)
        label["provenance"] = {**label.get("provenance", {}), THEIRS: origin}
        self.labels.append(label)
        if original.get("id") is not None:
            self._by_number.setdefault((what, str(original["id"])), label)
        if original.get("ground_truth") is True and self.gold is None:
            self.gold = label.get("value")

    def _add_embedded(
        self, annotation: Mapping[str, Any], body: Mapping[str, Any], where: str
    ) -> None:
        """An annotation tells of a prediction for its task: all there is where only ids are listed.
        One that says nothing, or that we made, is no new label."""
        number = body.get("id", annotation.get("parent_prediction"))
        if number is None or ("prediction", str(number)) in self._by_number:
            return
        ids = _result_ids(body)
        ours = next((self.known[number] for number in ids if number in self.known), None)
        if ours is not None:
            self._by_number["prediction", str(number)] = ours
        elif body.get("result"):
            position = sum(label["kind"] == "model" for label in self.labels)
            self._add("prediction", {"id": number, **body}, position, where)

    def _label(self, what: str, original: dict[str, Any], where: str) -> dict[str, Any]:
        machine = what == "prediction"
        label: dict[str, Any] = {
            "kind": "model" if machine else "crowd",
            "annotator": _who(what, original),
        }
        label |= {"created_at": original["created_at"]} if original.get("created_at") else {}
        label |= seconds_of(original.get("lead_time"))
        if what == "draft" or original.get("was_cancelled") is True:
            role = Label.Role.DRAFT if what == "draft" else Label.Role.SKIP
            return {**label, "withdrawn": True, "role": role}
        annotation = said_in(original, where, self.asked)
        if machine:
            annotation.sure(original.get("score"))
        return label | annotation.to_label() | self._origin(original)

    def _origin(self, original: Mapping[str, Any]) -> dict[str, Any]:
        """What it was made from: accepted or fixed is then whether the values are the same. As an
        action that would say that somebody was asked here, whose labels decide."""
        for what in ("prediction", "annotation"):
            source = self._by_number.get((what, str(original.get(f"parent_{what}"))))
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


def _who(what: str, original: Mapping[str, Any]) -> str:
    if what == "prediction":
        return str(original.get("model_version") or "Label Studio prediction").strip()[:200]
    return user_name(original.get("completed_by") if what == "annotation" else original.get("user"))


def number_of(uid: str) -> int:
    """Label Studio's ids are numbers; these are stable and refer within their task only."""
    return zlib.crc32(uid.encode()) & 0x7FFFFFFF


def _columns(task: Data) -> list[str]:
    return list(task["data"])


def _questions(task: Data) -> list[str]:
    asked: dict[str, None] = {}
    for name in LISTS:
        for original in task.get(name) or ():
            results = original.get("result") if isinstance(original, dict) else None
            asked |= dict.fromkeys(questions_in(results if isinstance(results, list) else ()))
    return list(asked)


SHAPE = Shape("Label Studio tasks", fits, read, _columns, _questions)
