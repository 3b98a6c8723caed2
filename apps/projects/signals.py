"""Signals about changes of projects and memberships, sent by the services in their transaction.

``apps.reviews`` releases the leases of a reviewer who left; ``apps.agreement`` ends guarantees
about labels that no longer exist.
"""

from django.dispatch import Signal

#: ``user`` may no longer label in ``project``: removed, or now less than a reviewer.
reviewer_left = Signal()

#: A schema change starts in ``project``; ``plan`` maps old values to new ones.
labels_changed = Signal()
