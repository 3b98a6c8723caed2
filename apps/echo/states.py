"""Stored states: the selector, and one row per feature's model and per author's trust.

Learning and selecting read and write only the parts that they need, as one message concerns few of
a thousand features and a hundred thousand authors. Snapshots hold whole states.
"""

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable

from apps.echo.models import AuthorTrust, Echo, ModelState, Snapshot
from labelhub.core.echo.state import (
    EchoState,
    pack_model,
    pack_selector,
    unpack_model,
    unpack_selector,
)
from labelhub.core.echo.trust import AuthorBelief
from labelhub.core.errors import InvalidInput

_AT_ONCE = 500
_TRUST = AuthorBelief._fields


def stored_state(
    echo: Echo,
    features: Iterable[str] | None = None,
    authors: Iterable[str] | None = None,
) -> EchoState:
    """The stored state: the selector, the models of ``features`` and the trusts of ``authors``;
    None for all of them.

    Raises:
        InvalidInput: another version has written it, or it is damaged.
    """
    state = unpack_selector(bytes(echo.state)) if echo.state else EchoState()
    models, trusts = echo.models.all(), echo.trusts.all()
    if features is not None:
        models = models.filter(feature__in=features)
    if authors is not None:
        trusts = trusts.filter(author__in=authors)
    state.models = {row.feature: unpack_model(bytes(row.packed)) for row in models}
    state.trusts = {row[0]: AuthorBelief(*row[1:]) for row in trusts.values_list("author", *_TRUST)}
    return state


def readable_selector(echo: Echo) -> EchoState | None:
    """The stored state without models and trusts; None if it cannot be read and will be rebuilt."""
    try:
        return stored_state(echo, (), ())
    except InvalidInput:
        return None


def store_state(echo: Echo, state: EchoState, number: int, *, whole: bool = True) -> None:
    """Replace the stored state by a whole one, or write only the parts in ``state``; the caller
    holds the transaction and the lease."""
    if whole:
        echo.models.exclude(feature__in=state.models).delete()
        echo.trusts.all().delete()
        echo.era += 1
    ModelState.objects.bulk_create(
        [
            ModelState(echo=echo, feature=key, packed=pack_model(model), learnt=number)
            for key, model in sorted(state.models.items())
        ],
        batch_size=_AT_ONCE,
        update_conflicts=True,
        unique_fields=["echo", "feature"],
        update_fields=["packed", "learnt"],
    )
    AuthorTrust.objects.bulk_create(
        [
            AuthorTrust(echo=echo, author=author, **trust._asdict())
            for author, trust in sorted(state.trusts.items())
        ],
        batch_size=_AT_ONCE,
        update_conflicts=True,
        unique_fields=["echo", "author"],
        update_fields=_TRUST,
    )
    echo.state, echo.learnt = pack_selector(state), number
    echo.save(update_fields=["state", "learnt", "era"])


def take_snapshot(echo: Echo, state: EchoState, number: int) -> Snapshot:
    """Store the whole state after event ``number``."""
    whole = {
        "selector": b64encode(pack_selector(state)).decode(),
        "models": {
            key: b64encode(pack_model(model)).decode() for key, model in state.models.items()
        },
        "trusts": state.trusts,
    }
    packed = zlib.compress(json.dumps(whole).encode(), 1)
    kept, _ = Snapshot.objects.update_or_create(
        echo=echo, number=number, defaults={"packed": packed}
    )
    return kept


def snapshot_state(snapshot: Snapshot) -> EchoState:
    """The state in a snapshot.

    Raises:
        InvalidInput: it cannot be read.
    """
    try:
        whole = json.loads(zlib.decompress(bytes(snapshot.packed)))
        state = unpack_selector(b64decode(whole["selector"]))
        models = whole["models"].items()
        state.models = {key: unpack_model(b64decode(packed)) for key, packed in models}
        state.trusts = {author: AuthorBelief(*belief) for author, belief in whole["trusts"].items()}
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"Snapshot {snapshot.number} cannot be read: {error}.") from None
    return state
