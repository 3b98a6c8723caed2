"""What a ``labels`` field may look like, and what files call the kinds of annotators."""

from typing import Any

#: What files call the kinds of annotators, beside the ledger's own names.
KINDS = {
    "llm": "llm", "crowd": "crowd", "expert": "expert", "author": "author", "model": "model",
    "human": "crowd", "worker": "crowd", "annotator": "crowd", "": "crowd",
}  # fmt: skip


def is_annotations(raw: Any) -> bool:
    """Whether a ``labels`` value is a list of annotations (and not the gold itself)."""
    return isinstance(raw, list) and all(isinstance(one, dict) for one in raw)


def by_source(raw: Any) -> Any:
    """``{"crowd_majority": "A", "expert_bio": "B"}`` as annotations; anything else as it is.

    Only where every name begins with a kind: whose labels others are is never guessed.
    """
    if not isinstance(raw, dict) or not raw or all(isinstance(one, bool) for one in raw.values()):
        return raw
    kinds = [name.partition("_")[0].lower() for name in raw]
    if not all(kind and kind in KINDS for kind in kinds):
        return raw
    pairs = zip(raw.items(), kinds, strict=True)
    return [{"annotator": name, "kind": kind, "value": value} for (name, value), kind in pairs]
