"""Groups of the company's provider, and the rights on this server that they give."""

import logging
from collections.abc import Iterable

from django.conf import settings
from django.contrib.auth.models import Permission
from django.db import transaction
from django.dispatch import Signal

from apps.accounts.models import DirectoryGroup, GroupMember, User
from apps.accounts.providers import must_use_provider
from apps.accounts.services import ADD_USER, shut_out
from apps.common.audit import Action, record

logger = logging.getLogger(__name__)

#: The provider's groups of ``user`` may have changed; sent in the transaction of the change.
#: ``apps.projects`` gives and takes roles.
groups_changed = Signal()
LONGEST_NAME = 255
#: More groups than any provider sends in a token.
MOST_GROUPS = 2000


def groups_of(user: User) -> set[str]:
    """The names of the groups that any source puts ``user`` in."""
    return set(user.group_members.values_list("group__name", flat=True))


def may_sign_in(groups: Iterable[str]) -> bool:
    """Whether the settings let people of these groups in."""
    allowed = settings.LABELHUB_SSO_ALLOWED_GROUPS
    return not allowed or not set(allowed).isdisjoint(groups)


@transaction.atomic
def set_groups(user: User, names: Iterable[str], source: GroupMember.Source) -> None:
    """Make ``names`` the groups that ``source`` puts ``user`` in, and give and take what follows.

    Names are compared as sent, letter by letter; too long ones are ignored.
    """
    wanted = {name for name in names if 0 < len(name) <= LONGEST_NAME}
    if len(wanted) > MOST_GROUPS:
        logger.warning("%s is in %d groups; the first %d count", user, len(wanted), MOST_GROUPS)
        wanted = set(sorted(wanted)[:MOST_GROUPS])
    DirectoryGroup.objects.bulk_create(
        [DirectoryGroup(name=name) for name in sorted(wanted)], ignore_conflicts=True
    )
    rows = GroupMember.objects.filter(user=user, source=source)
    rows.exclude(group__name__in=wanted).delete()
    GroupMember.objects.bulk_create(
        [
            GroupMember(group=group, user=user, source=source)
            for group in DirectoryGroup.objects.filter(name__in=wanted)
        ],
        ignore_conflicts=True,
    )
    apply_groups(user)


@transaction.atomic
def apply_groups(user: User) -> None:
    """Give and take the rights on the server that the groups of ``user`` give, then those in
    projects. What was given by hand stays. Whom no group lets in any more is signed out, and their
    API keys are revoked.

    The account is locked before the projects. One after the other, all see the newest groups.
    """
    fresh = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    for name in ("operator_by_group", "creator_by_group", "is_superuser", "is_staff"):
        setattr(user, name, getattr(fresh, name))
    groups = groups_of(user)
    _apply_operator(user, wanted=not groups.isdisjoint(settings.LABELHUB_SSO_OPERATORS))
    _apply_creator(user, wanted=not groups.isdisjoint(settings.LABELHUB_SSO_ACCOUNT_CREATORS))
    groups_changed.send(sender=User, user=user)
    if not may_sign_in(groups) and must_use_provider(user):
        shut_out(user)


def _apply_operator(user: User, *, wanted: bool) -> None:
    if wanted == user.operator_by_group or (wanted and user.is_superuser):
        return
    user.operator_by_group = user.is_superuser = user.is_staff = wanted
    user.save(update_fields=["operator_by_group", "is_superuser", "is_staff"])
    record(Action.USER_CHANGED, user, changes={"operator_by_group": (not wanted, wanted)})


def _apply_creator(user: User, *, wanted: bool) -> None:
    permission = Permission.objects.get_by_natural_key(*ADD_USER)
    by_hand = not user.creator_by_group and user.user_permissions.filter(pk=permission.pk).exists()
    if wanted == user.creator_by_group or by_hand:
        return
    change = user.user_permissions.add if wanted else user.user_permissions.remove
    change(permission)
    user.creator_by_group = wanted
    user.save(update_fields=["creator_by_group"])
    record(Action.USER_CHANGED, user, changes={"creator_by_group": (not wanted, wanted)})
