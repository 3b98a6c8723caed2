"""Features as people and programs name them: a set of the starter library, or definitions."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.authors.services.sites import MOST_FEATURES
from labelhub.core.errors import InvalidInput
from labelhub.core.interview.features import Feature, parse_feature, starter_library

#: Faults of a list of features that are told at once.
MOST_FAULTS = 100


def read_features(raw: Any) -> list[Feature]:
    """The features of ``{"set": "shopping"}`` or of a list of definitions.

    Raises:
        InvalidInput: naming the definition and the field; the message says what would be right.
    """
    if isinstance(raw, Mapping) and set(raw) == {"set"}:
        return starter_set(raw["set"])
    if not isinstance(raw, list):
        sets = ", ".join(starter_library())
        raise InvalidInput.at(
            "features", f'Send {{"set": NAME}} with one of {sets}, or a list of features.'
        )
    return parsed_rows(raw)


def parsed_rows(rows: Sequence[Any], numbers: Sequence[int] = ()) -> list[Feature]:
    """The features of all rows, or none of them.

    Args:
        rows: definitions, from outside.
        numbers: what people call each row; by default they are counted from 1.

    Raises:
        InvalidInput: too many rows, or faults: ``data["errors"]`` has row, field ("features.3.key")
            and message of the first :data:`MOST_FAULTS`.
    """
    if len(rows) > MOST_FEATURES:
        raise InvalidInput.at("features", f"Choose between 1 and {MOST_FEATURES} features.")
    features: list[Feature] = []
    faults: list[dict[str, Any]] = []
    first: dict[str, int] = {}
    for at, (raw, number) in enumerate(zip(rows, numbers or range(1, len(rows) + 1), strict=True)):
        try:
            feature = parse_feature(raw)
            if feature.key in first:
                raise InvalidInput.at("key", f"is that of row {first[feature.key]} too.")
        except InvalidInput as error:
            faults.append(_fault(error, at, number))
            continue
        first[feature.key] = number
        features.append(feature)
    if faults:
        raise _refusal(faults)
    return features


def starter_set(name: Any) -> list[Feature]:
    """The features of one set of the starter library.

    Raises:
        InvalidInput: there is no such set; the message lists them.
    """
    sets = starter_library()
    if not isinstance(name, str) or name not in sets:
        raise InvalidInput.at("features", f"There is no set of that name, only {', '.join(sets)}.")
    return list(sets[name])


def _fault(error: InvalidInput, at: int, number: int) -> dict[str, Any]:
    told = (error.data.get("errors") or [{"field": "", "message": error.message}])[0]
    field = f"features.{at}.{told['field']}".rstrip(".")
    return {"row": number, "field": field, "message": told["message"]}


def _refusal(faults: Sequence[Mapping[str, Any]]) -> InvalidInput:
    first = faults[0]
    words = f"{first['field']}: {first['message']}"
    if len(faults) > 1:
        words += f" {len(faults):,} rows have faults; nothing is changed."
    return InvalidInput(words, data={"errors": list(faults[:MOST_FAULTS])})
