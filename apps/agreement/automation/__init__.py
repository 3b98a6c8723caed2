"""Safe automation: items are accepted without a person, under a promise that is kept or ended.

- ``promise``: what it takes, as numbers; no database.
- ``calibration``: which items it is about and which may be drawn; what is known of them.
- ``counts``: the sizes of that, counted by the database.
- ``decisions``: what was first decided, blind, of a sample's items and of audits.
- ``judging``, ``reach``: the one verdict on a sample, and what its bounds accept.
- ``guarantee``: drawing the sample, switching on, switching off.
- ``watching``: the blind audits since, and the end of a promise that no longer holds.
- ``tasks``: what must happen though nobody looks.
- ``words``: why a sample failed, why a promise ended.
- ``page``: all of it as the page and REST show it.
"""
