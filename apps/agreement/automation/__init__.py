"""Auto-accept: items are accepted without a person, under a promise that is kept or ended.

- ``promise``: its numbers; no database.
- ``pool``: which items it is about and which may be drawn, how many they are, how far bounds reach.
- ``decisions``: the first blind decisions on a sample's items and on audits.
- ``sample``: drawing a sample, and the one verdict on it.
- ``guarantee``: switching on and off, the blind audits since, the end of a promise that is broken;
  the background work.
- ``page``: all of it as the page and REST show it, and why a sample failed or a promise ended.
"""
