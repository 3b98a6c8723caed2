"""The audit log: who did what, to what, when and from where.

:func:`record` is called in the transaction of the change, so that the log holds exactly what
happened. A worker then adds each committed entry to a chain of hashes: every hash covers its entry
and the hash before it. To chain within the transaction would make all administrative changes wait
for the longest one, and could deadlock. So what is guaranteed is:

- from the commit on, triggers of the database refuse to change or delete the entry;
- from two seconds later, while a worker lives, :func:`check_chain` also finds out whether somebody
  got around the triggers, unless they rewrote the whole chain after that entry: compare its
  :func:`chain_head` with one that was noted elsewhere.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from cryptography.fernet import Fernet
from django.contrib.auth import get_user_model
from django.db import connection, models, transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.common.locks import try_lock
from apps.common.models import AuditCut, AuditEntry, AuditPerson
from apps.common.request_record import security
from labelhub.core.errors import LabelhubError

#: Characters of a value in ``changes``; longer ones are cut.
LONGEST = 200
#: The "hash before" of the first entry.
GENESIS = "0" * 64
#: One process chains or cuts at a time.
_CHAIN = "audit chain"
_AT_ONCE = 1000
#: With the few hours between two rounds of a worker: once a day.
_CHECKED_EVERY = timedelta(hours=20)
_SEAL = "UPDATE common_auditentry SET number = %s, hash = %s WHERE id = %s"


class Action(models.TextChoices):
    """What is recorded. The values are stored: never change one."""

    SIGNED_IN = "session.started", _("Signed in")
    SIGN_IN_FAILED = "session.refused", _("Sign-in failed")
    SIGNED_OUT = "session.ended", _("Signed out")
    SESSIONS_ENDED = "sessions.ended", _("Sessions ended")
    SECOND_STEP_ADDED = "second_step.added", _("Second step set up")
    SECOND_STEP_REMOVED = "second_step.removed", _("Second step removed")
    IDENTITY_CONNECTED = "identity.connected", _("Connected with the company's sign-in")
    IDENTITY_REMOVED = "identity.removed", _("Disconnected from the company's sign-in")
    PASSWORD_CHANGED = "password.changed", _("Password changed")
    PASSWORD_SET = "password.set", _("Password set by somebody else")
    USER_CREATED = "user.created", _("Account created")
    USER_CHANGED = "user.changed", _("Account changed")
    USER_DELETED = "user.deleted", _("Account deleted")
    USER_ERASED = "user.erased", _("Personal data erased")
    USER_EXPORTED = "user.exported", _("Personal data downloaded")
    GROUP_CHANGED = "group.changed", _("Group changed")
    GROUP_DELETED = "group.deleted", _("Group deleted")
    KEY_CREATED = "key.created", _("API key created")
    KEY_CHANGED = "key.changed", _("API key changed")
    KEY_REVOKED = "key.revoked", _("API key revoked")
    PROJECT_CREATED = "project.created", _("Project created")
    PROJECT_EXPORTED = "project.exported", _("Project saved as an archive")
    PROJECT_IMPORTED = "project.imported", _("Project loaded from an archive")
    PROJECT_CHANGED = "project.changed", _("Project changed")
    PROJECT_DELETED = "project.deleted", _("Project deleted")
    SCHEMA_CHANGED = "schema.changed", _("Labels changed")
    GUIDELINE_CHANGED = "guideline.changed", _("Guideline changed")
    PLAN_CHANGED = "plan.changed", _("Review plan changed")
    MEMBER_ADDED = "member.added", _("Member added")
    MEMBER_CHANGED = "member.changed", _("Member changed")
    MEMBER_REMOVED = "member.removed", _("Member removed")
    GROUP_ROLE_CHANGED = "group.role_changed", _("Role of a group changed")
    GROUP_ROLE_REMOVED = "group.role_removed", _("Role of a group removed")
    REVIEWER_PAUSED = "reviewer.paused", _("Annotator paused")
    REVIEWER_RESUMED = "reviewer.resumed", _("Annotator resumed")
    LEASES_ENDED = "leases.ended", _("Leases ended")
    INVITATION_CREATED = "invitation.created", _("Invitation created")
    INVITATION_REVOKED = "invitation.revoked", _("Invitation revoked")
    PROVIDER_CREATED = "provider.created", _("Provider added")
    PROVIDER_CHANGED = "provider.changed", _("Provider changed")
    PROVIDER_KEY_SET = "provider.key_set", _("Key of a provider stored")
    PROVIDER_KEY_REMOVED = "provider.key_removed", _("Key of a provider removed")
    PROVIDER_REMOVED = "provider.removed", _("Provider removed")
    MODEL_CREATED = "model.created", _("Model added")
    MODEL_CHANGED = "model.changed", _("Model changed")
    IMPORT_STARTED = "import.started", _("Import started")
    IMPORT_STOPPED = "import.stopped", _("Import stopped")
    ITEM_CHANGED = "item.changed", _("Item changed")
    ITEM_DELETED = "item.deleted", _("Item deleted")
    EXPORT_DOWNLOADED = "export.downloaded", _("Data downloaded")
    EXPORT_SAVED = "export.saved", _("Export saved")
    EXPORT_DELETED = "export.deleted", _("Saved export deleted")
    WEBHOOK_CREATED = "webhook.created", _("Webhook created")
    WEBHOOK_CHANGED = "webhook.changed", _("Webhook changed")
    WEBHOOK_SECRET_CHANGED = "webhook.secret_changed", _("Secret of a webhook replaced")
    WEBHOOK_REPLAYED = "webhook.replayed", _("Events of a webhook sent again")
    WEBHOOK_DELETED = "webhook.deleted", _("Webhook deleted")
    RUN_STARTED = "run.started", _("Run started")
    RUN_CHANGED = "run.changed", _("Run changed")
    ROUTING_CHANGED = "routing.changed", _("Routing rule changed")
    PROMPT_CREATED = "prompt.created", _("Version of a prompt created")
    PROMPT_RETIRED = "prompt.retired", _("Version of a prompt retired")
    AUTOMATION_CHANGED = "automation.changed", _("Auto-accept changed")
    LEARNING_CHANGED = "learning.changed", _("Learning changed")
    BULK_STARTED = "bulk.started", _("Bulk edit started")
    BULK_UNDONE = "bulk.undone", _("Bulk edit undone")
    LABELS_REQUEUED = "labels.requeued", _("Labels of a person put back")
    SITE_CREATED = "site.created", _("Site created")
    SITE_CHANGED = "site.changed", _("Site changed")
    SITE_DELETED = "site.deleted", _("Site deleted")
    SITE_KEY_CREATED = "site.key_created", _("Key of a site created")
    SITE_KEY_REVOKED = "site.key_revoked", _("Key of a site revoked")
    CONSENT_CHANGED = "site.consent_changed", _("Consent text changed")
    FEATURES_CHANGED = "site.features_changed", _("Questions of a site changed")
    ECHO_CHANGED = "echo.changed", _("Echo changed")
    CATALOGUE_CHANGED = "catalogue.changed", _("Catalogue changed")
    EXPERIMENT_CHANGED = "experiment.changed", _("Experiment with offers changed")
    AUTHOR_RULED = "author.ruled", _("Trust in an author decided")
    AUTHOR_EXPORTED = "author.exported", _("Data of an author downloaded")
    AUTHOR_ERASED = "author.erased", _("Data of an author erased")
    PAYOUT_CREATED = "payout.created", _("Rewards paid out")
    JOB_RETRIED = "job.retried", _("Job resumed at once")
    # No longer recorded: the console calls services, which record what they do.
    CONSOLE_ADDED = "console.added", _("Added in the admin console")
    CONSOLE_CHANGED = "console.changed", _("Changed in the admin console")
    CONSOLE_DELETED = "console.deleted", _("Deleted in the admin console")
    RETENTION_APPLIED = "retention.applied", _("Old data deleted")
    HOLD_RELEASED = "hold.released", _("Restored server released")
    LOG_CUT = "audit.cut", _("Old entries of this log deleted")
    LOG_CHECKED = "audit.checked", _("This log was checked")
    LOG_BROKEN = "audit.broken", _("This log was changed around LabelHub")


#: Logged as warnings.
_GRAVE = ("deleted", "removed", "erased", "refused", "revoked", "broken")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the present code was asked to act: a request, or else the words ``via``."""

    request: HttpRequest | None = None
    via: str = ""


_origin: ContextVar[Origin] = ContextVar(
    "audit_origin",
    default=Origin(via="system"),  # noqa: B039 - frozen
)


@contextmanager
def acting(request: HttpRequest | None = None, *, via: str = "") -> Iterator[None]:
    """What is recorded within was asked for by ``request`` or, without one, by ``via``."""
    token = _origin.set(Origin(request, via))
    try:
        yield
    finally:
        _origin.reset(token)


def record(
    action: Action,
    subject: models.Model | None = None,
    *,
    actor: Any = None,
    project: Any = None,
    name: str = "",
    changes: Mapping[str, tuple[Any, Any]] | None = None,
) -> None:
    """Add an entry to the log; call it in the transaction of the change.

    Args:
        subject: what was changed or read; a deleted row must still have its key.
        actor: the user who asked, for jobs and commands; by default who sent the request.
        project: by default the subject's; whose managers see the entry.
        name: by default the subject's ``name``, ``slug`` or ``title``.
        changes: small typed fields that changed; no secrets, no texts, no personal data.

    Raises:
        RuntimeError: the caller has no transaction.
    """
    # Django's own tests run in a transaction that is not the caller's.
    if all(getattr(block, "_from_testcase", False) for block in connection.atomic_blocks):
        raise RuntimeError(f"record({action.value}) needs the transaction of the change.")
    origin, users = _origin.get(), get_user_model()
    user = actor if actor is not None else _signed_in(origin.request)
    by = None if user is None else _person(user)
    about = _person(subject) if isinstance(subject, users) else None
    if subject is not None and not name and about is None:
        name = _name_of(subject)
    project = project if project is not None else _project_of(subject)
    keeper = by or about
    entry = AuditEntry(
        at=timezone.now(),
        actor=by,
        via=_via(origin),
        address=_encrypt(keeper, _address(origin.request)),
        request_id=structlog.contextvars.get_contextvars().get("request_id"),
        action=action.value,
        project_id=project.pk if project is not None else None,
        project=project.slug if project is not None else "",
        subject_type=subject._meta.model_name or "" if subject is not None else "",
        subject_id=str(subject.pk) if subject is not None else "",
        subject_name=name[:LONGEST],
        subject_person=about,
        changes={
            field: [_small(old), _small(new)] for field, (old, new) in (changes or {}).items()
        },
    )
    entry.save(force_insert=True)
    line = {
        "action": action.value,
        "user": by.name if by else None,
        "user_id": by.user_id if by else None,
        "via": entry.via,
        "subject": str(entry).removeprefix(action.value).strip(),
        "name": about.name if about else entry.subject_name,
        "project": entry.project,
    }
    tell = security.warning if action.value.endswith(_GRAVE) else security.info
    transaction.on_commit(lambda: tell("recorded", **line), robust=True)


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The fields of ``after`` whose values differ in ``before``, for :func:`record`; an empty text
    is no value."""
    pairs = {field: (before.get(field), value) for field, value in after.items()}
    return {
        field: (old, new)
        for field, (old, new) in pairs.items()
        if old != new and not (old is None and new == "")
    }


def address_of(entry: AuditEntry) -> str:
    """The client's address; empty if there was none, or if the person was erased."""
    keeper = entry.actor or entry.subject_person
    if keeper is None or not entry.address:
        return entry.address
    return Fernet(keeper.key).decrypt(entry.address).decode() if keeper.key else ""


def erase_person(user_id: int, pseudonym: str) -> None:
    """Replace the names of a user in the log, and make their addresses unreadable."""
    AuditPerson.objects.filter(user_id=user_id).update(name=pseudonym, key="")


def seal_entries() -> int:
    """Add committed entries to the chain; how many. One process at a time, others return 0."""
    if not AuditEntry.objects.filter(number=None).exists():
        return 0
    with transaction.atomic():
        if not try_lock(_CHAIN):
            return 0
        number, last = _end_of_chain()
        unsealed = AuditEntry.objects.filter(number=None).select_related("actor", "subject_person")
        entries = list(unsealed.order_by("pk")[:_AT_ONCE])
        sealed = []
        for entry in entries:
            number, last = number + 1, _hash(entry, number + 1, last)
            sealed.append((number, last, entry.pk))
        with connection.cursor() as cursor:
            cursor.executemany(_SEAL, sealed)
    return len(entries)


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The last entry of the chain: its number and hash."""

    number: int
    hash: str

    def __str__(self) -> str:
        return f"{self.number}:{self.hash}"


class BrokenChain(LabelhubError):
    """The log was changed around LabelHub."""

    code = "broken_audit_log"


def chain_head() -> ChainHead:
    """The head of the chain; note it elsewhere, so that a cut tail shows."""
    return ChainHead(*_end_of_chain())


def check_log(keep: Callable[[], None] = lambda: None) -> None:
    """Check the log if that was not done today, and record the result. ``keep`` is called between
    entries."""
    results = AuditEntry.objects.filter(action__in=[Action.LOG_CHECKED, Action.LOG_BROKEN])
    if results.filter(at__gt=timezone.now() - _CHECKED_EVERY).exists():
        return
    try:
        _, head = check_chain(keep=keep)
        changes: dict[str, tuple[Any, Any]]
        action, changes = Action.LOG_CHECKED, {"number": (None, head.number)}
        changes["hash"] = (None, head.hash)
    except BrokenChain as error:
        action, changes = Action.LOG_BROKEN, {"message": (None, str(error))}
    with transaction.atomic():
        record(action, changes=changes)


def check_chain(
    noted: str = "", *, keep: Callable[[], None] = lambda: None
) -> tuple[int, ChainHead]:
    """Add what is not in the chain yet, and compute the chain anew; how many entries were checked,
    and the head.

    Args:
        noted: a head from before, as ``number:hash``, which must still be in the chain.

    Raises:
        BrokenChain: names the first entry that does not fit; it is logged as an error.
    """
    while seal_entries():
        keep()
    try:
        return _check_chain(noted, keep)
    except BrokenChain:
        # For whoever watches the log, and for Sentry, which hears of Python's own lines only.
        logging.getLogger("labelhub.security").exception("The audit log is broken")
        raise


def _check_chain(noted: str, keep: Callable[[], None]) -> tuple[int, ChainHead]:
    cut = AuditCut.objects.order_by("-number").first()
    head = ChainHead(cut.number, cut.hash) if cut else ChainHead(0, GENESIS)
    expected = _read_head(noted) if noted else None
    _compare(head, expected)
    checked = 0
    sealed = AuditEntry.objects.filter(number__isnull=False).order_by("number")
    for entry in sealed.select_related("actor", "subject_person").iterator(chunk_size=_AT_ONCE):
        head = _next_head(head, entry)
        _compare(head, expected)
        checked += 1
        keep()
    if expected is not None and expected.number > head.number:
        raise BrokenChain(
            "The log ends with entry %(number)s, before the noted head %(noted)s.",
            number=str(head.number),
            noted=noted,
        )
    cuts = AuditEntry.objects.filter(action=Action.LOG_CUT.value)
    if cut is not None and not cuts.filter(changes__hash__1=cut.hash).exists():
        raise BrokenChain("The beginning of the log was cut off, and no entry says so.")
    return checked, head


def _next_head(head: ChainHead, entry: AuditEntry) -> ChainHead:
    """The head after ``entry``.

    Raises:
        BrokenChain: it does not follow ``head``.
    """
    number = head.number + 1
    if entry.number != number:
        raise BrokenChain("Entry %(number)s is missing.", number=str(number))
    if entry.hash != _hash(entry, number, head.hash):
        raise BrokenChain("Entry %(number)s was changed.", number=str(number))
    for person in (entry.actor, entry.subject_person):
        if person is not None and person.key and person.digest != _digest(person):
            raise BrokenChain("A name in entry %(number)s was changed.", number=str(number))
    return ChainHead(number, entry.hash)


def _read_head(noted: str) -> ChainHead:
    """Raises: BrokenChain for what is no head."""
    number, _, hash_ = noted.partition(":")
    if not number.isdecimal():
        raise BrokenChain("'%(noted)s' is not a head: expected number:hash.", noted=noted)
    return ChainHead(int(number), hash_)


def _compare(head: ChainHead, expected: ChainHead | None) -> None:
    if expected is not None and head.number == expected.number and head != expected:
        raise BrokenChain("The noted head %(noted)s is not in the log.", noted=str(expected))


def old_entries(before: datetime) -> "models.QuerySet[AuditEntry]":
    """The chained entries from the beginning of the log up to the first one that is newer."""
    newer = AuditEntry.objects.filter(Q(at__gte=before), number__isnull=False).order_by("number")
    first = newer.values_list("number", flat=True).first()
    old = AuditEntry.objects.filter(number__isnull=False)
    return old if first is None else old.filter(number__lt=first)


def cut_log(before: datetime, most: int = _AT_ONCE) -> int:
    """Delete entries from before ``before``, from the beginning of the log; how many.

    The number and hash of the last one stay, so that the rest can be checked, and an entry of the
    log itself confirms them.
    """
    with transaction.atomic():
        if not try_lock(_CHAIN):
            return 0
        last = list(old_entries(before).order_by("number")[:most])[-1:]
        if not last:
            return 0
        number, hash_ = last[0].number or 0, last[0].hash
        AuditCut.objects.create(number=number, hash=hash_, at=timezone.now())
        count, _ = AuditEntry.objects.filter(number__lte=number).delete()
        record(Action.LOG_CUT, changes={"number": (None, number), "hash": (None, hash_)})
        used = AuditEntry.objects.filter(actor=models.OuterRef("pk"))
        named = AuditEntry.objects.filter(subject_person=models.OuterRef("pk"))
        AuditPerson.objects.filter(~models.Exists(used), ~models.Exists(named)).delete()
    return count


def _end_of_chain() -> tuple[int, str]:
    sealed = AuditEntry.objects.filter(number__isnull=False).order_by("-number")
    cut = AuditCut.objects.order_by("-number")
    found = (
        sealed.values_list("number", "hash").first() or cut.values_list("number", "hash").first()
    )
    return found or (0, GENESIS)  # type: ignore[return-value]  # sealed entries have numbers


def _hash(entry: AuditEntry, number: int, before: str) -> str:
    """SHA-256 of the hash before and of everything that the entry says."""
    content = [
        before,
        number,
        entry.at.isoformat(timespec="microseconds"),
        entry.actor.digest if entry.actor else None,
        entry.via,
        entry.address,
        entry.request_id,
        entry.action,
        entry.project_id,
        entry.project,
        entry.subject_type,
        entry.subject_id,
        entry.subject_name,
        entry.subject_person.digest if entry.subject_person else None,
        entry.changes,
    ]
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _signed_in(request: HttpRequest | None) -> Any:
    user = getattr(request, "user", None)
    return user if isinstance(user, get_user_model()) else None


def _person(user: Any) -> AuditPerson:
    """The row for the user's present name, made on first use."""
    known = AuditPerson.objects.filter(user_id=user.pk, name=user.username).exclude(key="").first()
    if known is not None:
        return known
    person = AuditPerson(user_id=user.pk, name=user.username, key=Fernet.generate_key().decode())
    found, _created = AuditPerson.objects.exclude(key="").get_or_create(
        user_id=user.pk,
        name=person.name,
        defaults={"key": person.key, "digest": _digest(person)},
    )
    return found


def _digest(person: AuditPerson) -> str:
    return hashlib.sha256(f"{person.key}:{person.name}".encode()).hexdigest()


def _encrypt(keeper: AuditPerson | None, address: str) -> str:
    if keeper is None or not address or not keeper.key:
        return address
    return Fernet(keeper.key).encrypt(address.encode()).decode()


def _via(origin: Origin) -> str:
    """The API key of the request, or what acts without a request."""
    prefix = getattr(getattr(origin.request, "auth", None), "prefix", "")
    if prefix:
        return f"key {prefix}…"
    return origin.via[:100]


def _address(request: HttpRequest | None) -> str:
    return str(request.META.get("REMOTE_ADDR", "")) if request is not None else ""


def _project_of(subject: Any) -> Any:
    if subject is None or subject._meta.label == "projects.Project":
        return subject
    return getattr(subject, "project", None)


def _name_of(subject: Any) -> str:
    names = (getattr(subject, field, "") for field in ("name", "slug", "title", "file_name"))
    return next((str(name) for name in names if name), "")


def _small(value: Any) -> Any:
    """``value`` for JSON: numbers, truth values and None as they are, all else as short text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple | set):
        return [_small(part) for part in list(value)[:20]]
    return str(value)[:LONGEST]
