"""Signals about people, sent in the transaction of the change."""

from django.dispatch import Signal

#: The provider's groups of ``user`` may have changed. ``apps.projects`` gives and takes roles.
groups_changed = Signal()
