"""Label Studio's checks of an import, as its 1.23 makes them and stricter where it is lax.

It takes a task with ``data`` (the columns that the configuration names, in the types of their
tags), ``meta`` (object or list), ``annotations`` and ``predictions`` (objects with a list
``result``). Predictions are held against the configuration; annotations are not: here both are.
"""

from typing import Any
from uuid import UUID
from xml.etree.ElementTree import Element, fromstring

DATA_TYPES: dict[str, tuple[type, ...]] = {
    "Text": (str, int, float), "Paragraphs": (list, str), "Choices": (list,),
}  # fmt: skip
TYPE_OF = {"Choices": "choices", "Rating": "rating", "Number": "number", "TextArea": "textarea",
           "Labels": "labels"}  # fmt: skip


def check_import(tasks: Any, config: bytes) -> None:
    """Refuse what Label Studio would refuse, and what it takes but cannot show."""
    assert isinstance(tasks, list)
    root = fromstring(config)  # noqa: S314 - our own export
    tags = {str(one.get("name")): one for one in root.iter() if one.get("name")}
    for task in tasks:
        _check_data(task["data"], tags)
        assert isinstance(task.get("meta", {}), dict | list)
        predictions, annotations = task.get("predictions", []), task.get("annotations", [])
        _check_ids([*predictions], [*annotations])
        for one in [*predictions, *annotations]:
            assert isinstance(one["result"], list)
            for result in one["result"]:
                _check_result(result, tags, task["data"])
        for one in predictions:
            assert isinstance(one.get("score"), float | int | None)
            assert isinstance(one.get("model_version", ""), str)
        for one in annotations:
            _check_annotation(one)


def _check_data(data: dict[str, Any], tags: dict[str, Element]) -> None:
    for tag in tags.values():
        value = tag.get("value", "")
        if value.startswith("$"):
            assert isinstance(data[value[1:]], DATA_TYPES[tag.tag]), (tag.tag, value)


def _check_ids(predictions: list[Any], annotations: list[Any]) -> None:
    for several in (predictions, annotations):
        ids = [one["id"] for one in several if "id" in one]
        assert all(isinstance(one, int) for one in ids)
        assert len(set(ids)) == len(ids)
    known = {one["id"] for one in predictions if "id" in one}
    for one in annotations:
        assert one.get("parent_prediction") in {None, *known}


def _check_annotation(one: dict[str, Any]) -> None:
    assert isinstance(one["was_cancelled"], bool)
    assert isinstance(one["ground_truth"], bool)
    assert isinstance(one.get("lead_time"), float | int | None)
    who = one.get("completed_by")
    assert who is None or isinstance(who, int) or "email" in who
    if one.get("unique_id"):
        UUID(one["unique_id"])


def _check_result(result: dict[str, Any], tags: dict[str, Element], data: dict[str, Any]) -> None:
    control = tags[result["from_name"]]
    assert control.get("toName") == result["to_name"]
    kind, value = result["type"], result["value"]
    assert TYPE_OF[control.tag] == kind
    if kind == "choices":
        assert set(value["choices"]) <= _offered(control, "Choice", data)
        assert control.get("choice") == "multiple" or len(value["choices"]) <= 1
    elif kind == "labels":
        assert set(value["labels"]) <= _offered(control, "Label", data)
        text = data[tags[result["to_name"]].get("value", "")[1:]]
        assert text[value["start"] : value["end"]] == value["text"]
    elif kind == "textarea":
        assert all(isinstance(text, str) for text in value["text"])
    else:
        assert isinstance(value[kind], int | float)


def _offered(control: Element, tag: str, data: dict[str, Any]) -> set[str]:
    dynamic = control.get("value", "")
    if dynamic.startswith("$"):
        return {one["value"] for one in data[dynamic[1:]]}
    return {one.get("alias") or one.get("value") or "" for one in control.iter(tag)}
