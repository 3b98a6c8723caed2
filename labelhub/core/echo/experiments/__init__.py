"""Experiments: which arm a message belongs to, what counts, and what the counts show (paper 004,
section 4).

- ``assignment``: the design and its arms; fixed before the start, a function of a secret key.
- ``impressions``: ``count`` makes impressions and clicks of displays and clicks.
- ``click_through``: totals and figures by arm, an arm against the control, and parts of one arm by
  day, weekday, vertical and time since the first impression.
- ``looks``: as many looks as one likes, at most 5 % false alarms.
- ``clusters``: rates of clustered events, on which all intervals here rest.

What is not known is null with the reason; every other figure carries its n, interval and method.
"""
