"""Telling other servers what happens in a project.

Events are read from the ledger and the runs (``event_feed``) and queued as deliveries; each webhook
has a queue of its own (``delivery_queue``), so that no receiver waits for another.
"""
