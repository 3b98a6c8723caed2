"""Many people who open one link at once, in real threads with connections of their own."""

from functools import partial
from pathlib import Path

import pytest

from apps.accounts.models import User
from apps.projects.invitations import Unusable, join
from apps.projects.models import Invitation, Membership
from tests.factories.accounts import UserFactory
from tests.factories.projects import ProjectFactory, invited
from tests.services.threads import shared_database, together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]


def try_to_join(invitation: Invitation, user: User) -> bool:
    try:
        join(invitation=invitation, user=user)
    except Unusable:
        return False
    return True


def counted(invitation: Invitation) -> tuple[int, int]:
    """(uses, members that were invited)."""
    uses = Invitation.objects.values_list("uses", flat=True).get(pk=invitation.pk)
    return uses, Membership.objects.filter(project=invitation.project_id).count() - 1


def test_no_more_join_than_the_link_is_for(tmp_path: Path) -> None:
    invitation = invited(ProjectFactory.create(), uses_allowed=2)
    people = UserFactory.create_batch(6)
    with shared_database(tmp_path):
        joined = together([partial(try_to_join, invitation, person) for person in people])
        counts = together([partial(counted, invitation)])[0]
    assert sorted(joined) == [False] * 4 + [True] * 2
    assert counts == (2, 2)
