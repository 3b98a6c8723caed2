"""Telling other servers what happens in a project.

Events are read from the ledger and the runs (``deriving``), queued as deliveries, and sent line by
line (``lines``): one line per webhook, so that no receiver waits for another.
"""
