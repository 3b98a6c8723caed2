"""Features as people and programs name them: a set of the starter library, or definitions."""

from collections.abc import Mapping
from typing import Any

from apps.authors.services.sites import MOST_FEATURES
from labelhub.core.errors import InvalidInput
from labelhub.core.interview.features import Feature, parse_feature, starter_library


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
    if len(raw) > MOST_FEATURES:
        raise InvalidInput.at("features", f"Choose between 1 and {MOST_FEATURES} features.")
    return [_read(at, each) for at, each in enumerate(raw)]


def starter_set(name: Any) -> list[Feature]:
    """The features of one set of the starter library.

    Raises:
        InvalidInput: there is no such set; the message lists them.
    """
    sets = starter_library()
    if not isinstance(name, str) or name not in sets:
        raise InvalidInput.at("features", f"There is no set of that name, only {', '.join(sets)}.")
    return list(sets[name])


def _read(at: int, raw: Any) -> Feature:
    try:
        return parse_feature(raw)
    except InvalidInput as error:
        faults = error.data.get("errors") or [{"field": "", "message": error.message}]
        field = f"features.{at}.{faults[0]['field']}".rstrip(".")
        raise InvalidInput.at(field, faults[0]["message"]) from None
