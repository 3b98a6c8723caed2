"""Statistics of labels: pure functions over plain values and numpy arrays.

``figures`` is the shape of every number that is shown, ``intervals`` has its interval;
``evaluation`` compares predictions with gold.
"""
