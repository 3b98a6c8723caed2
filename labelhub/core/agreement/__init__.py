"""Statistics of labels: pure functions over plain values and numpy arrays.

``figures`` is the shape every number is shown in; ``intervals`` says how sure it is;
``evaluation`` says when two values are the same, and compares predictions with gold.
"""
