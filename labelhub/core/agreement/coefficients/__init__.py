"""Agreement beyond chance.

``sums`` turns items into rows of numbers whose sums are all that a coefficient needs; ``chance``
has the coefficients of any number of raters, ``pairwise`` those of two, ``alpha`` Krippendorff's
for any distance, with the distances and weights of categories.
"""
