"""A state as bytes and back, exactly; and its digest.

Selector, models and trusts are packed apart: an answer changes one model and the trust in one
author, and rewrites no other.
"""

import hashlib
import json
import struct
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo.models import FeatureModel
from labelhub.core.echo.online_classifier import OnlineClassifier
from labelhub.core.echo.relevance import Relevance
from labelhub.core.echo.state import EchoState
from labelhub.core.echo.uncertainty import Uncertainty
from labelhub.core.errors import InvalidInput

Arrays: TypeAlias = Mapping[str, NDArray[Any]]

#: Raised whenever a packed state cannot be read by what comes later, or the same log makes another
#: one; the migration that goes with it counts ``erased`` up, so that states are made anew.
FORMAT = 1
_LENGTH, _TRUST = struct.Struct("<I"), struct.Struct("<5d")
_TYPES = {"d": "<f8", "i": "<i4"}


def pack_selector(state: EchoState) -> bytes:
    """All of a state but its models and trusts."""
    relevance, doubt = state.relevance, state.uncertainty
    told = {
        "features": state.features,
        "bases": relevance.bases,
    }
    arrays: Arrays = {
        "odds": relevance.odds,
        "weight": relevance.weight,
        "variance": relevance.variance,
        "prior_odds": relevance.prior_odds,
        "signs": doubt.weight,
        "covariance": doubt.covariance,
        "mismatches": doubt.mismatches,
        "answers": doubt.answers,
    }
    return _pack(told, arrays)


def unpack_selector(packed: bytes) -> EchoState:
    """What :func:`pack_selector` wrote, without models and trusts.

    Raises:
        InvalidInput: it was written by another version, or is cut.
    """
    told, arrays = _unpack(packed)
    return EchoState(
        features=list(told["features"]),
        relevance=Relevance(
            odds=arrays["odds"],
            weight=arrays["weight"],
            variance=arrays["variance"],
            prior_odds=arrays["prior_odds"],
            bases={signal: (mean, variance) for signal, (mean, variance) in told["bases"].items()},
        ),
        uncertainty=Uncertainty(
            weight=arrays["signs"],
            covariance=arrays["covariance"],
            mismatches=arrays["mismatches"],
            answers=arrays["answers"],
        ),
    )


def pack_model(model: FeatureModel) -> bytes:
    """One feature's model."""
    told = {
        "values": model.values,
        "losses": model.losses,
        "llm_right": model.llm_right,
        "llm_asked": model.llm_asked,
    }
    arrays: Arrays = {
        "counts": model.counts,
        "places": model.places,
        "mean": model.head.mean,
        "var": model.head.var,
    }
    return _pack(told, arrays)


def unpack_model(packed: bytes) -> FeatureModel:
    """What :func:`pack_model` wrote; see :func:`unpack_selector`."""
    told, arrays = _unpack(packed)
    return FeatureModel(
        values=list(told["values"]),
        counts=arrays["counts"],
        places=arrays["places"],
        head=OnlineClassifier(arrays["mean"], arrays["var"]),
        losses=dict(told["losses"]),
        llm_right=told["llm_right"],
        llm_asked=told["llm_asked"],
    )


def digest(state: EchoState) -> str:
    """SHA-256 of a whole state in hexadecimal digits: equal for equal states, to the last bit."""
    parts = [pack_selector(state)]
    for key in sorted(state.models):
        parts += [json.dumps(["model", key]).encode(), pack_model(state.models[key])]
    for author in sorted(state.trusts):
        parts += [json.dumps(["trust", author]).encode(), _TRUST.pack(*state.trusts[author])]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _pack(told: Mapping[str, Any], arrays: Arrays) -> bytes:
    shapes = {name: [each.dtype.char, *each.shape] for name, each in arrays.items()}
    head = json.dumps([FORMAT, told, shapes], sort_keys=True).encode()
    # In the order of their names, as the head has them.
    parts = [arrays[name].astype(_TYPES[shapes[name][0]]).tobytes() for name in sorted(arrays)]
    return b"".join([_LENGTH.pack(len(head)), head, *parts])


def _unpack(packed: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    try:
        (length,) = _LENGTH.unpack_from(packed)
        at = _LENGTH.size + length
        version, told, shapes = json.loads(packed[_LENGTH.size : at])
        if version != FORMAT:
            raise InvalidInput("This state was written by another version; it is made anew.")
        arrays = {}
        for name, (kind, *shape) in shapes.items():
            count = int(np.prod(shape))
            flat = np.frombuffer(packed, _TYPES[kind], count, at)
            arrays[name] = flat.reshape(shape).astype(kind)
            at += flat.nbytes
        if at != len(packed):
            raise InvalidInput("This state cannot be read: its length is another.")
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"This state cannot be read: {error}.") from None
    return told, arrays
