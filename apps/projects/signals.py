"""What other apps may have to follow up when somebody's place in a project changes.

Sent by the services, in their transaction; ``apps.reviews`` gives back what the person held.
"""

from django.dispatch import Signal

#: ``user`` may no longer label in ``project``: removed, or lowered below reviewer.
reviewer_left = Signal()
