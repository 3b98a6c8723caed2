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
    tags = {str(tag.get("name")): tag for tag in root.iter() if tag.get("name")}
    for task in tasks:
        _check_data(task["data"], tags)
        assert isinstance(task.get("meta", {}), dict | list)
        predictions, annotations = task.get("predictions", []), task.get("annotations", [])
        _check_ids([*predictions], [*annotations])
        for part in [*predictions, *annotations]:
            assert isinstance(part["result"], list)
            for result in part["result"]:
                _check_result(result, tags, task["data"])
        for prediction in predictions:
            assert isinstance(prediction.get("score"), float | int | None)
            assert isinstance(prediction.get("model_version", ""), str)
        for annotation in annotations:
            _check_annotation(annotation)


def _check_data(data: dict[str, Any], tags: dict[str, Element]) -> None:
    for tag in tags.values():
        value = tag.get("value", "")
        if value.startswith("$"):
            assert isinstance(data[value[1:]], DATA_TYPES[tag.tag]), (tag.tag, value)


def _check_ids(predictions: list[Any], annotations: list[Any]) -> None:
    for several in (predictions, annotations):
        ids = [part["id"] for part in several if "id" in part]
        assert all(isinstance(number, int) for number in ids)
        assert len(set(ids)) == len(ids)
    known = {prediction["id"] for prediction in predictions if "id" in prediction}
    for annotation in annotations:
        assert annotation.get("parent_prediction") in {None, *known}


def _check_annotation(annotation: dict[str, Any]) -> None:
    assert isinstance(annotation["was_cancelled"], bool)
    assert isinstance(annotation["ground_truth"], bool)
    assert isinstance(annotation.get("lead_time"), float | int | None)
    who = annotation.get("completed_by")
    assert who is None or isinstance(who, int) or "email" in who
    if annotation.get("unique_id"):
        UUID(annotation["unique_id"])


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
        return {choice["value"] for choice in data[dynamic[1:]]}
    return {element.get("alias") or element.get("value") or "" for element in control.iter(tag)}
