"""LabelHub's composition root and pure core."""
