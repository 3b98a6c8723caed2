"""What other apps may have to follow up when a project, or somebody's place in it, changes.

Sent by the services, in their transaction; ``apps.reviews`` gives back what the person held,
``apps.agreement`` ends promises about labels that are no more.
"""

from django.dispatch import Signal

#: ``user`` may no longer label in ``project``: removed, or lowered below reviewer.
reviewer_left = Signal()

#: A change of labels begins in ``project``; ``plan`` says what becomes of every value.
labels_changed = Signal()
