"""Safe automation: items are accepted without a person, under a promise that is kept or ended.

- ``promise``: what it takes, as numbers; no database.
- ``calibration``: which items it is about and which may be drawn; what is known of them.
- ``counts``: the sizes of that, counted by the database.
- ``decisions``, ``judging``: what people first said of the sample, and the one verdict on it.
- ``guarantee``: drawing the sample, switching on, switching off.
- ``watching``: the blind audits since, and the end of a promise that no longer holds.
- ``tasks``: what must happen though nobody looks.
- ``page``: all of it as the page and REST show it.
"""
