"""Experiments: which arm an author belongs to, and what clicks show (paper 004, section 4).

- ``assignment``: the design and its arms; fixed before the start, a function of a secret key.
- ``click_through``: impressions, figures by arm, and an arm against the control.
- ``looks``: any number of interim looks, with at most 5 % false alarms.
- ``clusters``: rates of clustered events, on which all intervals here rest.

Unknown figures are null with a reason; all others have their n, interval and method.
"""
