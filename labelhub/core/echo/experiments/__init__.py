"""Experiments: which arm a message belongs to, what counts, and what the counts show (paper 004,
section 4).

- ``assignment``: the design and its arms; fixed before the start, a function of a secret key.
- ``impressions``: counts impressions and their clicks from logged displays and clicks.
- ``click_through``: totals and figures by arm, an arm against the control, and parts of one arm by
  day, weekday, vertical and time since the first impression.
- ``looks``: any number of interim looks, with at most 5 % false alarms.
- ``clusters``: rates of clustered events, on which all intervals here rest.

Unknown figures are null with a reason; all others have their n, interval and method.
"""
