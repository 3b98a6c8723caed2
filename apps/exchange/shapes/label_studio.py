"""Label Studio tasks as rows of ours, without loss. No I/O.

The provenance of each label keeps its annotation, prediction or draft unchanged, and the item's
``meta`` the rest of the task, both under ``label_studio``: our export gives them back.
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
    FIELDS,
    NAMESPACE,
    AnnotationContext,
    Data,
    ParsedAnnotation,
    Shape,
    Translated,
    chain_revisions,
    only_text,
    seconds_of,
    user_name,
)
from apps.exchange.values import as_list, as_object
from apps.labels.models import Label
from labelhub.core.schema import Schema, role_of

#: Where an item's ``meta`` keeps the parts of a task that only Label Studio uses.
KEPT = "label_studio"
#: An export computes these anew.
COUNTED = ("total_annotations", "cancelled_annotations", "total_predictions")
READ = ("data", "meta", "annotations", "predictions", "drafts", *COUNTED)


def content_of(task: Data, columns: ColumnMap) -> dict[str, Any]:
    """A row without labels: item fields out of ``data``; the remaining columns and the task's own
    ``meta`` are metadata.

    A column of ``data`` is gold only if somebody chose it, and is then not in the metadata, which
    annotators see.
    """
    data = as_object(task["data"], "data")
    fields, others = columns.of(data, CONTENT)
    fields = dict(fields)
    if "text" not in fields and (only := only_text(data)):
        fields["text"] = only
        others = tuple(name for name in others if name != only)
    gold = _gold_column(data, fields)
    row = {name: data[fields[name]] for name in FIELDS if name in fields}
    options = row.get("options")
    if isinstance(options, list) and all(isinstance(choice, dict) for choice in options):
        row["options"] = [choice.get("value") for choice in options]  # dynamic choices
    if gold:
        row["gold"] = data[gold]
    if "id" not in row and task.get("id") is not None:
        row["id"] = task["id"]
    row["meta"] = _meta(task, data, fields, [name for name in others if name != gold], gold)
    return row


def _gold_column(data: Mapping[str, Any], fields: Mapping[str, str]) -> str:
    """The column that was chosen for gold, if its value can be one."""
    column = fields.get("gold", "")
    value = data.get(column)
    parts = value if isinstance(value, list) else [value]
    return "" if value is None or any(isinstance(part, list | dict) for part in parts) else column


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
    kept["data"] = _without_shown(rest, shown)
    if "meta" in task:
        kept["meta"] = _without_shown(meta, shown) if isinstance(meta, dict) else meta
    return {**shown, KEPT: kept}


def _without_shown(given: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` with only the names of those values that the metadata ``shown`` has as well."""
    there = [name for name, value in given.items() if shown.get(name, given) is value]
    rest = {name: value for name, value in given.items() if name not in there}
    return {"shown": there, "rest": rest}


def with_shown(kept: Any, shown: Mapping[str, Any]) -> Any:
    """Undo :func:`_without_shown`."""
    if not isinstance(kept, dict) or set(kept) != {"shown", "rest"}:
        return kept
    if not (isinstance(kept["shown"], list) and isinstance(kept["rest"], dict)):
        return kept
    names = [name for name in kept["shown"] if isinstance(name, str) and name in shown]
    return {**{name: shown[name] for name in names}, **kept["rest"]}


def kept_task(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a task that :func:`_meta` kept; empty where others use the name."""
    kept: Any = meta.get(KEPT)
    parts = ("columns", "task", "data")
    if not (isinstance(kept, dict) and all(isinstance(kept.get(part), dict) for part in parts)):
        return {}
    return kept


#: Type → where its ``value`` has the answer.
ANSWERS = {"choices": "choices", "rating": "rating", "number": "number", "textarea": "text"}
SPANS = ("labels", "hypertextlabels")


def parse_results(
    given: Mapping[str, Any], where: str, asked: AnnotationContext
) -> ParsedAnnotation:
    """The annotation that the results in ``given`` make together.

    Raises:
        RowFault: a type that is no answer and no quote, another question, a label not offered.
    """
    annotation = ParsedAnnotation(asked)
    for index, result in enumerate(as_list(given.get("result") or [], f"{where}.result")):
        place = f"{where}.result[{index}]"
        _add_result(annotation, as_object(result, place), place)
    return annotation


def questions_in(results: Iterable[Any]) -> list[str]:
    """The names of the controls whose results answer a question of their own."""
    names = [
        str(result.get("from_name") or result["type"])
        for result in results
        if isinstance(result, dict) and result.get("type") in ANSWERS and "parentID" not in result
    ]
    return [name for name in names if not role_of(name)]


def _add_result(annotation: ParsedAnnotation, result: Mapping[str, Any], where: str) -> None:
    value = as_object(result.get("value") or {}, f"{where}.value")
    kind = _result_type(result, value, where)
    name = result.get("from_name")
    if isinstance(meta := result.get("meta"), dict):
        annotation.add_words("rationale", meta.get("text"))
    if kind in SPANS:
        labels = value.get(kind, value.get("labels"))
        if not isinstance(labels, list) or not labels:
            raise RowFault("A list of labels is missing.", field=f"{where}.value.labels")
        offsets = value
        if "globalOffsets" in value:  # of HTML: start and end are within their elements
            offsets = as_object(value["globalOffsets"], f"{where}.value.globalOffsets")
        ends = offsets.get("start"), offsets.get("end")
        for label in labels:
            annotation.add_span(label, ends, value.get("text"), f"{where}.value")
        return
    _add_answer(
        annotation, role_of(name), str(name or kind), result, f"{where}.value.{ANSWERS[kind]}"
    )


def _add_answer(
    annotation: ParsedAnnotation, role: str, name: str, result: Mapping[str, Any], where: str
) -> None:
    value, kind = result["value"], where.rpartition(".")[2]
    of_region = "parentID" in result or "start" in value
    if name == annotation.asked.question.chosen:
        role, of_region = "", False
    if annotation.asked.schema.task.written and annotation.asked.question.name in ("", name):
        role = ""  # a project that asks for words may call them anything
    if kind == "text" and (role in ("rationale", "comment") or of_region):
        annotation.add_words(role or "rationale", value[kind])
    elif role == "confidence" and kind in ("number", "rating"):
        annotation.set_confidence(value[kind])
    elif of_region:
        raise RowFault(
            "'%(name)s' is a question about a part of the text, not about all of it.",
            name=name[:80],
            field=where,
        )
    else:
        annotation.set_answer(name, value[kind], where)


def _result_type(result: Mapping[str, Any], value: Mapping[str, Any], where: str) -> str:
    """The type of a result; where it has none, by the keys of its value."""
    given_kind = result.get("type")
    kind = next((kind for kind, key in ANSWERS.items() if key in value), "")
    kind = given_kind if given_kind in SPANS else kind
    if not kind or (given_kind is not None and given_kind != kind):
        raise RowFault(
            "Results of type '%(given_kind)s' cannot be imported.",
            given_kind=str(given_kind)[:40],
            field=where,
        )
    return str(kind)


#: Where our own export keeps the full row inside a task's ``meta``.
OURS = "labelhub"
#: Where ``provenance`` keeps the original from Label Studio.
THEIRS = "label_studio"
#: The lists of a task that hold labels, and what each entry is.
LISTS = {"predictions": "prediction", "annotations": "annotation", "drafts": "draft"}
BARE = (
    "Label Studio's plain export has the predictions' ids only: their contents are not in this "
    "file. Export them with JSON_MIN, over its API, or from the Data Manager, or import without "
    "them."
)


def fits(data: Data) -> bool:
    """Whether a row is a Label Studio task: its content is in ``data``."""
    return isinstance(data.get("data"), dict) and "text" not in data


def read(task: Data, columns: ColumnMap, schema: Schema) -> Translated:
    """The row of a task.

    Our own export has the full row in ``meta.labelhub``; later annotations from Label Studio are
    added to it. Otherwise annotations become labels of people, predictions labels of models, a
    ``ground_truth`` annotation the gold. Skips, drafts and annotations without an answer are kept
    aside.

    Raises:
        RowFault: names the place, such as ``annotations[0].result[1].value.choices``.
    """
    meta = task.get("meta")
    if isinstance(meta, dict) and isinstance(meta.get(OURS), dict):
        row = dict(meta[OURS])
        given = as_list(row.get("labels") or [], f"meta.{OURS}.labels")
        asked = AnnotationContext.of(row, schema, columns.question)
        since, truth = _labels_since_export(task, row, given, asked)
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


def _labels_since_export(
    task: Data, row: Data, given: list[Any], asked: AnnotationContext
) -> tuple[list[dict[str, Any]], Any]:
    """Labels of annotations that are new or changed since our export, and the value that is marked
    as the truth. Our export writes gold as an annotation, which has no label here."""
    known: dict[Any, Any] = {number_of(f"gold {row.get('id')}"): {"value": row.get("gold")}}
    results: dict[str, dict[str, Any]] = {}
    for label in given:
        if isinstance(label, dict) and isinstance(label.get("uid"), str):
            number = number_of(label["uid"])
            known[number] = label
            results[f"r{number}"] = label
            for original in originals_of(label.get("provenance")):
                known |= (
                    {original["id"]: label} if isinstance(original.get("id"), int | str) else {}
                )
                results |= dict.fromkeys(_result_ids(original), label)
    made_there = {name: task.get(name) for name in ("annotations", "drafts")}
    found = _Labels(made_there, asked, known=results).read()
    return [label for label in found.labels if not _is_unchanged(label, known)], found.gold


def originals_of(provenance: Any) -> list[dict[str, Any]]:
    """The entries of Label Studio that the label with this provenance was made of."""
    kept = provenance.get(THEIRS) if isinstance(provenance, dict) else None
    originals = kept.values() if isinstance(kept, dict) else ()
    return [original for original in originals if isinstance(original, dict)]


def _result_ids(original: Mapping[str, Any]) -> list[str]:
    """The ids of results: Label Studio keeps those, and gives new ids to predictions."""
    results = original.get("result")
    listed = results if isinstance(results, list) else []
    return [str(result["id"]) for result in listed if isinstance(result, dict) and result.get("id")]


def _is_unchanged(label: dict[str, Any], known: Mapping[Any, Any]) -> bool:
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
    """The labels of one task, with their references to each other."""

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
        """Collect the labels of all lists."""
        for name, what in LISTS.items():
            for position, original in enumerate(as_list(self.task.get(name) or [], name)):
                where = f"{name}[{position}]"
                if isinstance(original, int) and name == "predictions":
                    self.bare = True
                else:
                    self._add(what, as_object(original, where), position, where)
        chain_revisions(self.labels)
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
        """Add the prediction inside an annotation: the only copy where the task lists ids. An empty
        one, or one of our own export, is no new label."""
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
        label: dict[str, Any]
        if what == "prediction":
            name = str(original.get("model_version") or "Label Studio prediction").strip()[:200]
            label = {"kind": "model", "annotator": name}
        else:
            user = original.get("completed_by" if what == "annotation" else "user")
            label = {"kind": "crowd", "annotator": user_name(user)}
        label |= {"created_at": original["created_at"]} if original.get("created_at") else {}
        label |= seconds_of(original.get("lead_time"))
        if what == "draft" or original.get("was_cancelled") is True:
            role = Label.Role.DRAFT if what == "draft" else Label.Role.SKIP
            return {**label, "withdrawn": True, "role": role}
        annotation = parse_results(original, where, self.asked)
        if what == "prediction":
            annotation.set_confidence(original.get("score"))
        return label | annotation.to_label() | self._origin(original)

    def _origin(self, original: Mapping[str, Any]) -> dict[str, Any]:
        """The label that it was made from. It gets no action "accepted" or "fixed", which only
        labels given here have."""
        for what in ("prediction", "annotation"):
            source = self._by_number.get((what, str(original.get(f"parent_{what}"))))
            if source is not None and not source.get("withdrawn"):
                return {"proposed_from": source["uid"]}
        return {}


def number_of(uid: str) -> int:
    """A stable number for a uid, as Label Studio wants it; unique within its task."""
    return zlib.crc32(uid.encode()) & 0x7FFFFFFF


def column_names(task: Data) -> list[str]:
    """The columns of the task's ``data``."""
    return list(task["data"])


def question_names(task: Data) -> list[str]:
    """The controls that the task's labels answer."""
    asked: dict[str, None] = {}
    for name in LISTS:
        for original in task.get(name) or ():
            results = original.get("result") if isinstance(original, dict) else None
            asked |= dict.fromkeys(questions_in(results if isinstance(results, list) else ()))
    return list(asked)


SHAPE = Shape("Label Studio", fits, read, column_names, question_names)
