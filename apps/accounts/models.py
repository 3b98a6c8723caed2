"""Users and their API keys."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    """API keys."""

    def active(self) -> "ApiKeyQuerySet":
        """Keys that are not revoked, of active users."""
        return self.filter(revoked_at__isnull=True, user__is_active=True)


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

    class Meta(AbstractUser.Meta):  # type: ignore[name-defined]
        constraints = [
            models.UniqueConstraint(
                fields=["email"], condition=~models.Q(email=""), name="accounts_user_email_once"
            )
        ]

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
        READ = "read", _("Read")
        WRITE = "write", _("Read and write")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12, help_text="First characters, to recognise the key by.")
    digest = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=5, choices=Scope.choices, default=Scope.WRITE)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"

    @property
    def may_write(self) -> bool:
        """Whether the key allows changes."""
        return self.scope == self.Scope.WRITE
