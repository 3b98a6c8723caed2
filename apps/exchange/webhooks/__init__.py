"""Sends the events of a project to other servers.

Events are read from the ledger and the runs (``event_feed``) and queued as deliveries; each webhook
has its own queue (``delivery_queue``), so that no receiver waits for another.
"""
