"""The doors to the audit of published tables: what page, REST and command share.

A table that is audited belongs to no project, and nothing of it is kept.
"""
