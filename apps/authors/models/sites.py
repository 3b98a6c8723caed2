"""One embedding of the widget: whom it serves, what it asks, and by which rules."""

from functools import cached_property

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, URLValidator
from django.db import models
from django.utils import timezone

from apps.authors.querysets import FeatureQuerySet, SiteQuerySet
from apps.llm.models import ModelSpec
from apps.projects.models import Project
from labelhub.core.interview.features import Feature as Definition
from labelhub.core.interview.features import parse_feature


class Site(models.Model):
    """One embedding of the widget in somebody's pages; its answers go into one project."""

    class Identity(models.TextChoices):
        ANONYMOUS = "anonymous", "Everybody who agrees"
        VERIFIED = "verified", "Only people whom the host has signed in"

    class ConsentBy(models.TextChoices):
        WIDGET = "widget", "The widget asks"
        HOST = "host", "The host has asked already"

    class KeepText(models.TextChoices):
        SEALED = "sealed", "As written, encrypted"
        REDACTED = "redacted", "Without personal data"
        NOTHING = "nothing", "Only authors' messages that were asked about, no personal data"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sites")
    name = models.CharField(max_length=100)
    public_key = models.CharField(max_length=40, unique=True, editable=False)
    enabled = models.BooleanField(default=True)
    allowed_origins = models.JSONField(
        default=list, blank=True, help_text='Such as "https://shop.example.org".'
    )
    languages = models.JSONField(default=list, help_text='The first is the default: ["en", "de"].')
    region = models.CharField(
        max_length=2, default="US", help_text="Country whose way of writing phone numbers counts."
    )
    identity = models.CharField(max_length=10, choices=Identity.choices, default=Identity.ANONYMOUS)
    consent_by = models.CharField(
        max_length=10, choices=ConsentBy.choices, default=ConsentBy.WIDGET
    )
    # Not an URLField, whose form field guesses a scheme where none was written.
    privacy_url = models.CharField(
        max_length=500, blank=True, validators=[URLValidator(["https", "http"])]
    )
    least_relevant = models.PositiveSmallIntegerField(
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(20)],
        help_text="Features that must matter to a message before it is asked about.",
    )
    most_questions = models.PositiveSmallIntegerField(
        default=3,
        validators=[MinValueValidator(1), MaxValueValidator(4)],
        help_text="Questions after one message.",
    )
    sampling = models.FloatField(
        default=1.0,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="Share of the messages worth asking about that is asked about.",
    )
    every_messages = models.PositiveSmallIntegerField(
        default=3,
        validators=[MinValueValidator(1)],
        help_text="Ask after every so many at most; the first time, too.",
    )
    min_seconds = models.PositiveIntegerField(
        default=90, help_text="Seconds between two surveys of one author, and before the first one."
    )
    per_conversation = models.PositiveSmallIntegerField(
        default=4, help_text="Surveys in one conversation."
    )
    per_day = models.PositiveSmallIntegerField(default=10, help_text="Surveys of one author a day.")
    reask_share = models.FloatField(
        default=0.05,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="Share of surveys with a question the author has answered before.",
    )
    model = models.ForeignKey(
        ModelSpec,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Words the questions; empty = the offline model.",
    )
    chat_model = models.ForeignKey(
        ModelSpec,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Answers in chat mode; empty = the offline model.",
    )
    chat_title = models.CharField(max_length=60, blank=True)
    chat_greeting = models.CharField(max_length=300, blank=True)
    chat_instructions = models.TextField(blank=True, max_length=8000)
    daily_budget_nanousd = models.BigIntegerField(
        null=True, blank=True, validators=[MinValueValidator(0)]
    )
    calls_per_day = models.PositiveIntegerField(
        default=5000, help_text="Calls to models for authors, of the whole site in a day."
    )
    replies_anonymous = models.PositiveIntegerField(
        default=30, help_text="Replies to an anonymous author in a day."
    )
    replies_verified = models.PositiveIntegerField(
        default=200, help_text="Replies to a signed-in author in a day."
    )
    replies_network = models.PositiveIntegerField(
        default=300, help_text="Replies to all in one network in a day."
    )
    reward_cents = models.PositiveIntegerField(default=0, help_text="For each answer; 0 = none.")
    currency = models.CharField(max_length=3, default="USD")
    reward_daily_cents = models.PositiveIntegerField(
        default=100, help_text="Most per author a day."
    )
    reward_total_cents = models.PositiveIntegerField(default=2000, help_text="Most per author.")
    reward_hold_days = models.PositiveSmallIntegerField(default=7)
    keep_text = models.CharField(max_length=10, choices=KeepText.choices, default=KeepText.REDACTED)
    retention_days = models.PositiveIntegerField(
        default=90,
        validators=[MinValueValidator(1)],
        help_text="After so many days messages are deleted; labelled items stay.",
    )
    answers_decide = models.BooleanField(
        default=True, help_text="A trusted author's answer decides the item: it becomes gold."
    )
    country_header = models.CharField(
        max_length=60,
        blank=True,
        help_text="Header in which your proxy tells the visitor's country, such as CF-IPCountry.",
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = SiteQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="authors_site_name_once")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def language(self) -> str:
        """The default language."""
        return str(self.languages[0]) if self.languages else "en"


class SiteUse(models.Model):
    """What a site's models have cost on one day (UTC), how often they were called, and how often
    they were not because of a limit, whatever was deleted since."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="uses")
    day = models.DateField()
    cost_nanousd = models.BigIntegerField(default=0)
    calls = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-day"]
        constraints = [
            models.UniqueConstraint(fields=["site", "day"], name="authors_site_use_once")
        ]


class ConsentText(models.Model):
    """One version of what authors agree to; a change is a new version, never an edit."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="consent_texts")
    version = models.PositiveIntegerField()
    texts = models.JSONField(help_text="Language → text.")
    recommends = models.BooleanField(
        default=False, help_text="The sentence about recommendations was shown after the text."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["site", "version"], name="authors_consent_text_version_once"
            )
        ]

    def __str__(self) -> str:
        return f"version {self.version}"


class SiteKey(models.Model):
    """A secret that the host's own servers hold; more than one may be valid while it is changed."""

    class Purpose(models.TextChoices):
        SIGN = "sign", "Signs who an author is"
        SERVER = "server", "Posts messages from a server"

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="keys")
    purpose = models.CharField(max_length=10, choices=Purpose.choices)
    kid = models.CharField(max_length=20, unique=True, help_text="Its name; no secret.")
    digest = models.CharField(max_length=64, blank=True, db_index=True)
    sealed = models.BinaryField(
        null=True, help_text="The secret itself, encrypted: signatures are checked with it."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.kid


class Feature(models.Model):
    """One thing that a site wants to learn from authors."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="features")
    key = models.SlugField(max_length=60)
    definition = models.JSONField(help_text="As read by labelhub.core.interview.features.")
    position = models.PositiveIntegerField(default=0)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = FeatureQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [models.UniqueConstraint(fields=["site", "key"], name="authors_feature_once")]

    def __str__(self) -> str:
        return self.key

    @cached_property
    def parsed(self) -> Definition:
        """The validated definition."""
        return parse_feature(self.definition)
