"""Users, their API keys, and the groups that the company's provider puts them in."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.crypto import salted_hmac as keyed
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    """API keys."""

    def active(self) -> "ApiKeyQuerySet":
        """Keys that are neither revoked nor expired, of active users."""
        unexpired = Q(expires_at__isnull=True) | Q(expires_at__gt=timezone.now())
        return self.filter(unexpired, revoked_at__isnull=True, user__is_active=True)


class User(AbstractUser):
    """A person who signs in. Memberships give the rights in projects."""

    email = models.EmailField("email address", blank=True)
    must_change_password = models.BooleanField(
        default=False,
        help_text="Somebody else has set the password: until it is changed, no page opens.",
    )
    notify_by_email = models.BooleanField(
        default=True, help_text="Send an e-mail when work that they started has ended."
    )
    language = models.CharField(
        max_length=10, blank=True, editable=False, help_text="Chosen in a page; for their e-mails."
    )

    # Rows of servers that know nothing of these get the database's defaults.
    operator_by_group = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="A group of the provider makes them an operator.",
    )
    creator_by_group = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="A group of the provider lets them add users.",
    )
    session_epoch = models.CharField(
        max_length=16,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="Part of each session's hash: a new one ends all sessions at once.",
    )
    scim_name = models.CharField(
        max_length=255,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="The directory's name of an account that it manages by SCIM.",
    )
    scim_external_id = models.CharField(
        max_length=255, blank=True, default="", db_default="", editable=False
    )

    #: No database field: the only project that this request may touch, by its API key.
    bound_to: int | None = None

    class Meta(AbstractUser.Meta):  # type: ignore[name-defined]
        constraints = [
            models.UniqueConstraint(
                fields=["email"], condition=~models.Q(email=""), name="accounts_user_email_once"
            ),
            models.UniqueConstraint(
                Lower("scim_name"),
                condition=~models.Q(scim_name=""),
                name="accounts_scim_name_once",
            ),
        ]

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Also of the epoch; without one, what Django computes."""
        of_password: str = super()._get_session_auth_hash(secret=secret)  # type: ignore[misc]
        if not self.session_epoch:
            return of_password
        return keyed(of_password, self.session_epoch, secret=secret, algorithm="sha256").hexdigest()

    @property
    def makes_accounts(self) -> bool:
        """Whether they may create accounts: by a permission, not by a role in a project."""
        return self.has_perm("accounts.add_user")

    @cached_property
    def unread_notifications(self) -> int:
        """How many notifications they have not read, as of their first use in a request."""
        return self.notifications.shown_to(self).filter(read_at=None).count()

    @property
    def display_name(self) -> str:
        """The full name, or else the user name."""
        return self.get_full_name() or self.username


class ApiKey(models.Model):
    """A long-lived key of one user: 256 random bits, stored as SHA-256 only."""

    class Scope(models.TextChoices):
        """What a key allows of what its owner may do; each scope includes those before it."""

        READ = "read", _("Read")
        LABEL = "label", _("Read and label")
        WRITE = "write", _("Read and write")
        ADMIN = "admin", _("Operate the server")

    class State(models.TextChoices):
        """What a key is to the person who looks at it."""

        WORKS = "works", _("works")
        REPLACED = "replaced", _("replaced")
        EXPIRED = "expired", _("expired")
        REVOKED = "revoked", _("revoked")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12, help_text="First characters, to recognise the key by.")
    digest = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=5, choices=Scope.choices, default=Scope.WRITE)
    project = models.ForeignKey(
        "projects.Project",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="The only project that it opens; empty: all of its owner's.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    rotated_at = models.DateTimeField(
        null=True, blank=True, help_text="When another key took its place; it soon ends."
    )
    revoked_at = models.DateTimeField(null=True, blank=True)
    made_by = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        editable=False,
        on_delete=models.SET_NULL,
        related_name="made_keys",
        help_text="The key of the program that created it, with which it ends.",
    )

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"

    @property
    def is_expired(self) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def state(self) -> State:
        """Whether it works; a replaced one still does for a while."""
        if self.revoked_at:
            return self.State.REVOKED
        if self.is_expired:
            return self.State.EXPIRED
        return self.State.REPLACED if self.rotated_at else self.State.WORKS

    def allows(self, scope: str) -> bool:
        """Whether its scope includes ``scope``."""
        order = self.Scope.values
        return order.index(self.scope) >= order.index(scope)

    def covers(self, other: "ApiKey") -> bool:
        """Whether ``other`` allows nothing, and nothing for longer, that this key does not."""
        wider = self.project_id is None or self.project_id == other.project_id
        longer = self.expires_at is None or (
            other.expires_at is not None and other.expires_at <= self.expires_at
        )
        return self.allows(other.scope) and wider and longer


class DirectoryGroup(models.Model):
    """A group of the company's provider, by the name (or the id) that the provider sends."""

    name = models.CharField(max_length=255, unique=True)
    external_id = models.CharField(max_length=255, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return self.name


class GroupMember(models.Model):
    """A person is in a group, as the source says. Each source replaces only what it said."""

    class Source(models.TextChoices):
        SIGN_IN = "sign_in", _("at sign-in")
        SCIM = "scim", _("SCIM")

    group = models.ForeignKey(DirectoryGroup, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="group_members")
    source = models.CharField(max_length=8, choices=Source.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["group", "user", "source"], name="accounts_group_member_once"
            )
        ]
