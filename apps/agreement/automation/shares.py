"""How often each label occurs: as the debates say, and corrected by what the sample shows of them.

The share of a label among machine labels carries their errors with it. The sample was drawn by lot,
so it says how far off they are, and the corrected share is right however bad the debates may be
(``risk_control.ppi_mean``).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.agreement.automation.calibration import Pool
from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.risk_control import ppi_mean
from labelhub.core.schema import Schema, value_words

#: Below this the normal interval promises too much.
LEAST = 50


@dataclass(frozen=True, slots=True)
class LabelShare:
    """A label's share among the items the promise is about: by the debates alone, and corrected."""

    name: str
    naive: float
    corrected: Figure


def label_shares(pool: Pool, truths: Mapping[int, str], schema: Schema) -> list[LabelShare]:
    """A row for each label of the schema; empty where the task has no labels in common, or the
    sample is too small for an interval.

    ``truths``: first blind decisions of the sample's items.
    """
    sampled = [each for each in truths if each in pool.candidates]
    if not schema.task.labelled or len(sampled) < LEAST:
        return []
    rest = [pool.candidates[each].value for each in pool.drawable if each not in truths]
    said = [pool.candidates[each].value for each in sampled]
    truth = [truths[each] for each in sampled]
    return [_share(label, label_name, truth, (said, rest)) for label, label_name in _labels(schema)]


def _share(
    key: str, name: str, truth: Sequence[str], debates: tuple[Sequence[str], Sequence[str]]
) -> LabelShare:
    said, rest = [[float(_has(value, key)) for value in values] for values in debates]
    every = [*said, *rest]
    powered = ppi_mean([float(_has(value, key)) for value in truth], said, rest)
    return LabelShare(name, sum(every) / len(every), powered)


def _labels(schema: Schema) -> list[tuple[str, str]]:
    """What to look for in a value, and how people call it."""
    if schema.task.ordered:
        points = [each.point for each in schema.labels if each.point is not None]
        return [(value_words(point), value_words(point)) for point in points]
    return [(name, name) for name in schema.names]


def _has(value: str, label: str) -> bool:
    """Whether the value, as compared, is the label or a set with it."""
    found = json.loads(value)
    return label in found if isinstance(found, list) else value_words(found) == label
