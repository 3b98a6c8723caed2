"""Safe automation: items are accepted without a person, under a promise that is kept or ended.

- ``promise``: what it takes, as numbers; no database.
- ``pool``: which items it is about and which may be drawn, how many they are, how far bounds reach.
- ``decisions``: what was first decided, blind, of a sample's items and of audits.
- ``sample``: drawing a sample, and the one verdict on it.
- ``guarantee``: switching on and off, the blind audits since, the end of a promise that is broken.
- ``tasks``: what must happen though nobody looks.
- ``page``: all of it as the page and REST show it, and why a sample failed or a promise ended.
"""
