"""What a line of the log must hold to be learnt from: of each kind of event, what each field is.

A line that holds anything else was damaged. It is named and passed over: were it applied, what
is learnt could cease to be a number, and were it let stop learning, it would stop it for ever.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from labelhub.core.echo.uncertainty import SIGNS
from labelhub.core.echo.vectors import PLACES, Sparse

Check: TypeAlias = Callable[[Any], bool]


def _is_text(told: Any) -> bool:
    return isinstance(told, str)


def _is_name(told: Any) -> bool:
    return isinstance(told, str) and told != ""


def _is_switch(told: Any) -> bool:
    return isinstance(told, bool)


def _is_number(told: Any) -> bool:
    return isinstance(told, int | float) and not isinstance(told, bool) and math.isfinite(told)


def _is_share(told: Any) -> bool:
    return _is_number(told) and 0 <= told <= 1


def _is_prior(told: Any) -> bool:
    return _is_number(told) and -1 <= told <= 1


def _are(each: Check) -> Check:
    return lambda told: isinstance(told, tuple) and all(map(each, told))


def _are_signs(told: Any) -> bool:
    return _are(_is_number)(told) and len(told) == len(SIGNS)


def _is_vector(told: Sparse) -> bool:
    places, values = told
    return (
        places.ndim == 1
        and places.shape == values.shape
        and bool(((places >= 0) & (places < PLACES)).all())
        and bool((np.diff(places) > 0).all())
        and bool(np.isfinite(values).all())
    )


def _are_shown(told: Any) -> bool:
    """Pairs of a feature, none of them twice, and a chance."""
    pairs = isinstance(told, tuple) and all(
        isinstance(each, tuple) and len(each) == 2 and _is_name(each[0]) and _is_share(each[1])
        for each in told
    )
    return pairs and len({key for key, _ in told}) == len(told)


_CHECKS: Mapping[str, Mapping[str, Check]] = {
    "answered": {
        "author": _is_name,
        "trusted": _is_switch,
        "feature": _is_name,
        "value": _is_text,
        "predicted": _is_text,
        "loss": _is_share,
        "signs": _are_signs,
        "vector": _is_vector,
        "values": _are(_is_name),
        "said": _is_text,
        "told": _are(_is_share),
    },
    "rewarded": {
        "author": _is_name,
        "trusted": _is_switch,
        "shown": _are_shown,
        "value": _is_share,
        "signal": _is_name,
    },
    "expected": {"feature": _is_name, "prior": _is_prior},
    "withdrawn": {"about": _is_name},
    "restored": {"about": _is_name},
    "frozen": {"on": _is_switch},
}


def field_at_fault(kind: str, event: object) -> str:
    """The first field of an event that does not hold what it must; "" where all do."""
    checks = _CHECKS[kind]
    return next((name for name, right in checks.items() if not right(getattr(event, name))), "")
