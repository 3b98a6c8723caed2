"""Agreement beyond chance, one small file per family.

``metrics`` says how near two categories are; ``sums`` turns items into rows of numbers whose sums
are all that a coefficient needs; ``chance`` has the coefficients of any number of raters,
``pairwise`` and ``two_raters`` those of two, ``ordinal`` alpha of
ranks, ``conger`` the one with a margin for each rater, ``own_options`` that of
items which bring their own options.
"""
