"""Accounts and groups as the directory sees and changes them."""

import re
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django_scim.adapters import SCIMGroup, SCIMUser
from django_scim.constants import SchemaURI
from django_scim.exceptions import BadRequestError, NotFoundError, SCIMException

from apps.accounts.directory import apply_groups
from apps.accounts.identities import free_username, visible
from apps.accounts.models import DirectoryGroup, GroupMember, User
from apps.accounts.services import shown_changes, shut_out
from apps.accounts.sessions import end_sessions
from apps.common.addresses import parse_row_id
from apps.common.audit import Action, differences, record

SCIM = GroupMember.Source.SCIM
#: All that a directory writes of an account: the rest may change at the same time.
_FIELDS = ("scim_name", "scim_external_id", "first_name", "last_name", "email", "is_active")
_MEMBER_PATH = re.compile(r'members\[\s*value\s+eq\s+"?([^"\]]*)"?\s*\]', re.IGNORECASE)
_EMAIL_PATH = re.compile(r"emails(\[.*\])?(\.value)?", re.IGNORECASE)


class ScimUser(SCIMUser):
    """An account as the directory sees it. Changes of single attributes are made in the document
    that it would be sent, which is then stored as a whole."""

    id_field = "pk"
    obj: User

    def to_dict(self) -> dict[str, Any]:
        """The account."""
        user = self.obj
        email = [{"value": user.email, "type": "work", "primary": True}] if user.email else []
        groups = DirectoryGroup.objects.filter(members__user=user, members__source=SCIM)
        return {
            "schemas": [SchemaURI.USER],
            "id": self.id,
            "externalId": user.scim_external_id,
            "userName": user.scim_name,
            "name": {
                "givenName": user.first_name,
                "familyName": user.last_name,
                "formatted": user.get_full_name(),
            },
            "displayName": user.display_name,
            "emails": email,
            "active": user.is_active,
            "groups": [{"value": str(group.pk), "display": group.name} for group in groups],
            "meta": self.meta,
        }

    @property
    def exists(self) -> bool:
        """Whether the account is stored."""
        return self.obj.pk is not None

    def validate_dict(self, d: dict[str, Any]) -> None:
        """See :meth:`from_dict`, which checks what it reads."""

    def from_dict(self, d: dict[str, Any]) -> None:
        """Take the attributes that accounts have, of a whole document; others, also passwords, are
        ignored.

        Raises:
            BadRequestError: one has a wrong type or length.
        """
        name = d.get("name") if isinstance(d.get("name"), dict) else {}
        user = self.obj
        user.scim_name = _text(d, "userName", required=True)
        user.scim_external_id = _text(d, "externalId")
        user.first_name = visible(_text(name or {}, "givenName"))
        user.last_name = visible(_text(name or {}, "familyName"))
        user.email = _email(d.get("emails"))
        user.is_active = _truth(d.get("active", True))

    @transaction.atomic
    def save(self) -> None:
        """Store the account, and end what an inactive one has.

        Raises:
            SCIMException: (409) name or address is of another account.
            NotFoundError: it was deleted or erased meanwhile.
        """
        user = self.obj
        before = _values(_locked(user)) if self.exists else {}
        others = User.objects.exclude(pk=user.pk)
        if others.filter(scim_name__iexact=user.scim_name).exists():
            raise _taken(f"There is an account with the userName {user.scim_name}.")
        owner = others.filter(email__iexact=user.email).first() if user.email else None
        if owner is not None:
            known = user.scim_external_id and owner.scim_external_id == user.scim_external_id
            if self.exists or not known or owner.scim_name or owner.is_active:
                raise _taken(
                    f"Another account has the address {user.email}: an operator of LabelHub frees "
                    "it, or its owner connects it when they sign in."
                )
            # The same person, deleted before, returns.
            before = _values(owner)
            for field in ("scim_name", "first_name", "last_name", "is_active"):
                setattr(owner, field, getattr(user, field))
            self.obj = user = owner
        if user.pk is None:
            user.username = free_username(user.scim_name)
            user.set_unusable_password()
        user.save(update_fields=_FIELDS if before else None)
        if changed := differences(before, _values(user)):
            action = Action.USER_CHANGED if before else Action.USER_CREATED
            record(action, user, changes=shown_changes(changed))
        if before and not user.is_active:
            end_sessions(user)
        apply_groups(user)

    @transaction.atomic
    def delete(self) -> None:
        """Deactivate the account, which the directory no longer sees. Its API keys do not return
        with the person.

        Raises:
            NotFoundError: it was deleted or erased meanwhile.
        """
        user = _locked(self.obj)
        shut_out(user)
        gone = {"is_active": (user.is_active, False), "scim_name": (None, None)}
        record(Action.USER_CHANGED, user, changes=gone)
        user.scim_name, user.is_active = "", False
        user.save(update_fields=["scim_name", "is_active"])
        GroupMember.objects.filter(user=user, source=SCIM).delete()
        apply_groups(user)

    def handle_operations(self, operations: list[dict[str, Any]]) -> None:
        """Make changes of single attributes, in the library's transaction."""
        self.obj = _locked(self.obj)
        document = self.to_dict()
        for _kind, path, value in _changes(operations):
            name = path.removeprefix(f"{SchemaURI.USER}:")
            if _EMAIL_PATH.fullmatch(name):
                document["emails"] = value
            elif name.lower().startswith("name."):
                document["name"][name.partition(".")[2]] = value
            elif name == "name" and isinstance(value, dict):
                document["name"] |= value
            else:
                document[name] = value
        self.from_dict(document)
        self.save()


class ScimGroup(SCIMGroup):
    """A group as the directory sees it."""

    id_field = "pk"
    obj: DirectoryGroup
    #: Ids to become the members; None: they stay.
    wanted: set[int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The group, with members unless the request leaves them out."""
        found = {
            "schemas": [SchemaURI.GROUP],
            "id": self.id,
            "externalId": self.obj.external_id,
            "displayName": self.obj.name,
            "meta": self.meta,
        }
        if "members" not in self.request.GET.get("excludedAttributes", "").split(","):
            rows = self.obj.members.filter(source=SCIM).select_related("user").order_by("pk")
            found["members"] = [
                {"value": str(row.user_id), "display": row.user.display_name} for row in rows
            ]
        return found

    def validate_dict(self, d: dict[str, Any]) -> None:
        """See :meth:`from_dict`."""

    def from_dict(self, d: dict[str, Any]) -> None:
        """Take name and members of a whole document.

        Raises:
            BadRequestError: the name is missing or too long, or a member is no account.
        """
        self.obj.name = _text(d, "displayName", required=True)
        self.obj.external_id = _text(d, "externalId")
        self.wanted = _member_ids(d.get("members"))

    @transaction.atomic
    def save(self) -> None:
        """Store the group, and give and take what follows for old and new members.

        Raises:
            SCIMException: (409) another group has the name.
        """
        group = self.obj
        if DirectoryGroup.objects.exclude(pk=group.pk).filter(name=group.name).exists():
            raise _taken(f"There is a group {group.name}.")
        stored = self._lock()
        group.save()
        rows = group.members.filter(source=SCIM)
        members = set(rows.values_list("user", flat=True))
        wanted = members if self.wanted is None else self.wanted
        added, removed = wanted - members, members - wanted
        rows.filter(user__in=removed).delete()
        GroupMember.objects.bulk_create(
            [GroupMember(group=group, user_id=pk, source=SCIM) for pk in added],
            ignore_conflicts=True,
        )
        was: dict[str, Any] = {"name": stored.name if stored else None, "added": [], "removed": []}
        now = {"name": group.name, "added": sorted(added), "removed": sorted(removed)}
        if changed := differences(was, now):
            record(Action.GROUP_CHANGED, group, changes=changed)
        renamed = set(group.members.values_list("user", flat=True)) if "name" in changed else set()
        _apply_to(added | removed | renamed)

    @transaction.atomic
    def delete(self) -> None:
        """Take out all members; the group stays while sign-ins name it."""
        self._lock()
        record(Action.GROUP_DELETED, self.obj)
        concerned = set(self.obj.members.values_list("user", flat=True))
        self.obj.members.filter(source=SCIM).delete()
        if not self.obj.members.exists():
            DirectoryGroup.objects.filter(pk=self.obj.pk).delete()
        _apply_to(concerned)

    def handle_operations(self, operations: list[dict[str, Any]]) -> None:
        """Add and remove members, and rename; one request at a time, as directories send many."""
        self._lock()
        rows = self.obj.members.filter(source=SCIM)
        self.wanted = set(rows.values_list("user", flat=True))
        for kind, path, value in _changes(operations):
            self._change(kind, path, value)
        self.save()

    def _lock(self) -> DirectoryGroup | None:
        groups = DirectoryGroup.objects.select_for_update(no_key=True)
        return groups.filter(pk=self.obj.pk).first()

    def _change(self, kind: str, path: str, value: Any) -> None:
        assert self.wanted is not None  # noqa: S101 - set by handle_operations
        if single := _MEMBER_PATH.fullmatch(path):
            self.wanted -= _member_ids([{"value": single[1]}], strict=False)
        elif path.lower() == "members":
            named = _member_ids(value, strict=kind != "remove")
            if kind == "add":
                self.wanted |= named
            elif kind == "remove":
                self.wanted = self.wanted - named if value else set()
            else:
                self.wanted = named
        elif path == "displayName":
            self.obj.name = _text({path: value}, path, required=True)
        elif path == "externalId":
            self.obj.external_id = _text({path: value}, path)


def _changes(operations: list[dict[str, Any]]) -> Iterable[tuple[str, str, Any]]:
    """Kind, path and value of each change; the value of one that removes may be None."""
    for operation in operations:
        if not isinstance(operation, dict):
            raise BadRequestError("Each operation is an object.")
        kind, path = str(operation.get("op", "")).lower(), operation.get("path")
        value = operation.get("value")
        if kind not in ("add", "replace", "remove"):
            raise BadRequestError(f"The operation {kind} is not known.")
        if isinstance(path, str) and path:
            yield kind, path, value
        elif kind != "remove" and isinstance(value, dict):
            yield from ((kind, name, part) for name, part in value.items())
        else:
            raise BadRequestError("The operation has no path.", scim_type="noTarget")


def _text(d: dict[str, Any], name: str, *, required: bool = False) -> str:
    value = d.get(name)
    text = "" if value is None else value
    if not isinstance(text, str) or len(text) > 255 or (required and not text.strip()):
        raise BadRequestError(f"{name} is a text of at most 255 letters.", scim_type="invalidValue")
    return text.strip()


def _truth(value: Any) -> bool:
    """Also of the texts that Entra ID sends."""
    if str(value).lower() not in ("true", "false"):
        raise BadRequestError("active is true or false.", scim_type="invalidValue")
    return str(value).lower() == "true"


def _email(value: Any) -> str:
    """The primary address, or else the first; also of a text, as of ``emails[…].value``."""
    entries = value if isinstance(value, list) else [value] if value else []
    objects = [e if isinstance(e, dict) else {"value": e} for e in entries]
    chosen = next((e for e in objects if e.get("primary")), objects[0] if objects else {})
    email = _text(chosen, "value").lower()
    try:
        if email:
            validate_email(email)
    except ValidationError:
        raise BadRequestError("emails has no usable address.", scim_type="invalidValue") from None
    return email


def _member_ids(value: Any, *, strict: bool = True) -> set[int]:
    """The accounts of ``members``; unless ``strict``, without unknown ones."""
    entries = value if isinstance(value, list) else [value] if value else []
    named = {str(e.get("value") if isinstance(e, dict) else e) for e in entries}
    ids = filter(None, map(parse_row_id, named))
    known = set(User.objects.filter(pk__in=ids).exclude(scim_name="").values_list("pk", flat=True))
    if strict and len(known) != len(named):
        raise BadRequestError("A member is no account of the directory.", scim_type="invalidValue")
    return known


def _apply_to(user_ids: set[int]) -> None:
    """First all accounts are locked, then projects, as everywhere."""
    people = User.objects.select_for_update(no_key=True).filter(pk__in=user_ids)
    for user in list(people.order_by("pk")):
        apply_groups(user)


def _locked(user: User) -> User:
    """The account as it is now, if the directory still sees it.

    Raises:
        NotFoundError: it does not.
    """
    people = User.objects.select_for_update(no_key=True).exclude(scim_name="")
    found = people.filter(pk=user.pk).first()
    if found is None:
        raise NotFoundError(user.pk)
    return found


def _values(user: User) -> dict[str, Any]:
    return {name: getattr(user, name) for name in _FIELDS}


def _taken(detail: str) -> SCIMException:
    return SCIMException(detail, status=409, scim_type="uniqueness")
