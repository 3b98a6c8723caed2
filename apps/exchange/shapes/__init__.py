"""Rows of other tools as rows of ours; told by their shape. A new tool is one more module here."""

from apps.exchange.columns import ColumnMap
from apps.exchange.shapes import argilla, doccano, label_studio, label_studio_min
from apps.exchange.shapes.base import Data, Shape, Translated
from apps.exchange.shapes.label_studio_min import gathered
from labelhub.core.schema import Schema

SHAPES: tuple[Shape, ...] = (
    label_studio.SHAPE,
    label_studio_min.SHAPE,
    argilla.SHAPE,
    doccano.SHAPE,
)

__all__ = ["SHAPES", "Shape", "Translated", "gathered", "shape_of", "translated"]


def shape_of(data: Data) -> Shape | None:
    """Whose row it is; None for a row of ours or of nobody in particular."""
    return next((shape for shape in SHAPES if shape.fits(data)), None)


def translated(data: Data, columns: ColumnMap, schema: Schema) -> Translated | None:
    """The row in our own fields, if it is another tool's.

    Raises:
        RowFault: names the place in the row as that tool has it.
    """
    shape = shape_of(data)
    return shape.read(data, columns, schema) if shape else None
