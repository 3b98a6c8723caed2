"""Counts of a change of labels, by kind of annotator."""

from collections.abc import Mapping

from apps.labels.models import Kind


def kinds_of(counts: Mapping[str, int], what: str) -> dict[str, int]:
    """Of counts such as ``labels:crowd``: kind → count, in the kinds' own order."""
    return {
        str(kind): counts[f"{what}:{kind}"] for kind in Kind.values if counts.get(f"{what}:{kind}")
    }
