"""Experiments: who gets which arm, what counts, and what the counts prove (paper 004, section 4).

- ``assignment``: ``design``, ``grid``, ``fingerprint``; ``arm_of_author``, ``window_of``,
  ``arm_of_window``. Fixed before the start, a function of a secret key.
- ``impressions``: ``count`` makes impressions and clicks of a log of ``Shown`` and ``Click``.
- ``click_through``: ``totals`` by arm, ``arm_figures``, ``compare``; ``percent_change`` and
  ``in_words`` keep "5.37 times" and "+437 %" apart.
- ``breakdowns``: ``by_day``, ``by_weekday``, ``by_vertical``, ``by_exposure`` of one arm.
- ``looks``: ``plan`` and ``look``: as many looks as one likes, at most 5 % false alarms.
- ``clusters``: rates of clustered events, on which all intervals here rest.

What is not known is null with the reason; every other figure carries its n, interval and method.
"""
