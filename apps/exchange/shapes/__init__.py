"""Translates rows of other tools, recognised by their shape. A new tool is a new module here."""

from apps.exchange.columns import ColumnMap
from apps.exchange.shapes import argilla, doccano, label_studio, label_studio_min
from apps.exchange.shapes.base import Data, Shape, Translated
from labelhub.core.schema import Schema

SHAPES: tuple[Shape, ...] = (
    label_studio.SHAPE,
    label_studio_min.SHAPE,
    argilla.SHAPE,
    doccano.SHAPE,
)


def shape_of(data: Data) -> Shape | None:
    """The shape of the tool that the row is from; None for a row of ours or a plain one."""
    return next((shape for shape in SHAPES if shape.fits(data)), None)


def translate(data: Data, columns: ColumnMap, schema: Schema) -> Translated | None:
    """The row in our own fields, if it is another tool's.

    Raises:
        RowFault: names the place in the row as that tool has it.
    """
    shape = shape_of(data)
    return shape.read(data, columns, schema) if shape else None
