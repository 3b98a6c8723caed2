"""Sites, their authors, what they were asked and what they answered.

The tables of messages, questions and answers are the truth; sockets and the channel layer only
carry what is in them.
"""

import uuid
from functools import cached_property
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, URLValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.authors.querysets import (
    AnswerQuerySet,
    FeatureQuerySet,
    MessageQuerySet,
    QuestionQuerySet,
    RewardQuerySet,
)
from apps.common.sealing import SealedField
from apps.labels.models import Annotator
from apps.llm.models import ModelSpec
from apps.projects.models import Item, Project
from labelhub.core.interview.features import Feature as Definition
from labelhub.core.interview.features import parse_feature


class Site(models.Model):
    """One embedding of the widget in somebody's pages; its answers go into one project."""

    class Identity(models.TextChoices):
        ANONYMOUS = "anonymous", _("Everybody who agrees")
        VERIFIED = "verified", _("Only people whom the host has signed in")

    class ConsentBy(models.TextChoices):
        WIDGET = "widget", _("The widget asks")
        HOST = "host", _("The host has asked already")

    class KeepText(models.TextChoices):
        SEALED = "sealed", _("As written, encrypted")
        REDACTED = "redacted", _("Without personal data")
        NOTHING = "nothing", _("Only authors' messages that were asked about, no personal data")

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
        help_text="Words the questions; empty = the text matcher (demo).",
    )
    chat_model = models.ForeignKey(
        ModelSpec,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Answers in chat mode; empty = the text matcher (demo).",
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

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="authors_site_name_once")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def language(self) -> str:
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
        SIGN = "sign", _("Signs who an author is")
        SERVER = "server", _("Posts messages from a server")

    #: Most requests with one key, within so many seconds: 50 per second, in bursts of up to 200.
    RATE = (200, 4)

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="keys")
    purpose = models.CharField(max_length=10, choices=Purpose.choices)
    kid = models.CharField(max_length=20, unique=True, help_text="Its name; no secret.")
    digest = models.CharField(max_length=64, blank=True, db_index=True)
    sealed = SealedField(
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
        return parse_feature(self.definition)


class DailyUse(models.Model):
    """How often models worked for one person or one network on one day (UTC), whatever was deleted
    since. The hash is another one each day, and the row is deleted the day after."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()
    who = models.CharField(max_length=32, help_text="Keyed hash of day, kind of work, and whom.")
    count = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["day"], name="authors_daily_use_day")]
        constraints = [
            models.UniqueConstraint(fields=["site", "day", "who"], name="authors_daily_use_once")
        ]


class CarriedLimits(models.Model):
    """What an erased author had used of their caps, and whether they counted, for whoever comes
    back as the same person. Nothing of what they wrote, answered or were called."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="+")
    who = models.CharField(max_length=32, help_text="Keyed hash of whom, another one each quarter.")
    surveys = models.PositiveIntegerField(default=0, help_text="On the day of the deletion (UTC).")
    day_cents = models.PositiveIntegerField(default=0, help_text="In the 24 hours before it.")
    total_cents = models.PositiveIntegerField(default=0)
    trusted = models.BooleanField(default=True)
    ruling = models.BooleanField(null=True, blank=True)
    erased_at = models.DateTimeField(default=timezone.now)
    until = models.DateTimeField(help_text="Deleted then.")

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(fields=["site", "who"], name="authors_carried_who"),
            models.Index(fields=["until"], name="authors_carried_until"),
        ]


class Author(models.Model):
    """Somebody who writes on a site. Who they are elsewhere is the host's affair: anonymous ones
    are known by a token alone, verified ones by the host's own id for them."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="authors")
    uid = models.UUIDField(default=uuid.uuid4, editable=False, unique=True)
    subject = models.CharField(
        max_length=200, blank=True, help_text="The host's id for them; empty = anonymous."
    )
    token_digest = models.CharField(max_length=64, blank=True, db_index=True)
    token_until = models.DateTimeField(null=True, blank=True)
    carried = models.ForeignKey(
        CarriedLimits,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="authors",
        help_text="What is kept of the same person from before their data was deleted.",
    )
    annotator = models.OneToOneField(
        Annotator, null=True, on_delete=models.SET_NULL, related_name="author"
    )
    opted_out_at = models.DateTimeField(null=True, blank=True)
    network = models.CharField(
        max_length=32, blank=True, db_index=True, help_text="Keyed hash of their network's prefix."
    )
    trust = models.JSONField(default=dict, blank=True, help_text="Score and signals, when judged.")
    trusted = models.BooleanField(default=True, help_text="As judged from several signals.")
    proven = models.BooleanField(
        default=False, help_text="There is enough to judge by: rewards may be paid."
    )
    ruling = models.BooleanField(
        null=True, blank=True, help_text="What a manager decided over the signals: trust or not."
    )
    ruling_reason = models.CharField(max_length=300, blank=True)
    judge_due = models.BooleanField(default=False, help_text="Has answered since last judged.")
    seen_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-seen_at", "-pk"]
        indexes = [
            models.Index(fields=["site", "-seen_at"], name="authors_author_recent"),
            models.Index(
                fields=["id"], condition=models.Q(judge_due=True), name="authors_author_to_judge"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["site", "subject"],
                condition=~models.Q(subject=""),
                name="authors_author_subject_once",
            )
        ]

    def __str__(self) -> str:
        return self.pseudonym

    @property
    def pseudonym(self) -> str:
        """What people see of them: tells nothing about who they are."""
        return f"author-{self.uid.hex[:10]}"

    @property
    def verified(self) -> bool:
        """Whether the host has said who they are."""
        return bool(self.subject)

    @property
    def counts(self) -> bool:
        """Whether their answers count as labels: a manager's ruling, else the signals."""
        return self.trusted if self.ruling is None else self.ruling


class Consent(models.Model):
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="consents")
    text = models.ForeignKey(ConsentText, on_delete=models.CASCADE, related_name="consents")
    by = models.CharField(max_length=10, choices=Site.ConsentBy.choices)
    given_at = models.DateTimeField(default=timezone.now, editable=False)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-given_at", "-pk"]


class Erasure(models.Model):
    """Proof that somebody's data was deleted; tells how much, and not whose."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="erasures")
    receipt = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    removed = models.JSONField(default=dict, help_text="Kind of row → how many.")
    limits_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then counters of caps are kept; null: none are."
    )
    erased_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-erased_at", "-pk"]


class Conversation(models.Model):
    """Messages that belong together, as the host numbers them."""

    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="conversations")
    ref = models.CharField(max_length=64, help_text="The host's id, or the widget's own.")
    started_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-started_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["author", "ref"], name="authors_conversation_once")
        ]

    def __str__(self) -> str:
        return self.ref


class Message(models.Model):
    """One message. ``text`` has no personal data in it; ``stages`` says what became of it, why."""

    class Role(models.TextChoices):
        AUTHOR = "author", _("Author")
        ASSISTANT = "assistant", _("Assistant")

    class Status(models.TextChoices):
        CONTEXT = "context", _("Only context")
        RECEIVED = "received", _("Waiting for the models")
        ASKED = "asked", _("Asked about")
        DROPPED = "dropped", _("Not asked about")

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages"
    )
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="messages")
    # Its author's: the messages of a site are found without a look at its authors.
    site = models.ForeignKey(
        Site, on_delete=models.CASCADE, related_name="messages", editable=False, db_index=False
    )
    ref = models.CharField(
        max_length=64, help_text="The sender's id: a second arrival is the same."
    )
    role = models.CharField(max_length=10, choices=Role.choices)
    text = models.TextField(blank=True)
    sealed = SealedField(null=True, help_text="As written, encrypted.")
    fingerprint = models.CharField(max_length=32, blank=True, help_text="Equal for equal texts.")
    language = models.CharField(max_length=10, blank=True)
    country = models.CharField(max_length=2, blank=True)
    status = models.CharField(max_length=10, choices=Status.choices)
    dropped_at = models.CharField(max_length=20, blank=True, help_text="The stage that dropped it.")
    reason = models.CharField(max_length=300, blank=True)
    stages = models.JSONField(
        default=list, blank=True, help_text='[{"stage", "passed", "reason", "data"}]'
    )
    lease_until = models.DateTimeField(
        null=True, blank=True, help_text="Somebody asks the models about it until then."
    )
    queued_until = models.DateTimeField(
        null=True, blank=True, help_text="A task for it is on its way until then."
    )
    cost_nanousd = models.BigIntegerField(default=0)
    received_at = models.DateTimeField(default=timezone.now, editable=False)
    processed_at = models.DateTimeField(null=True, blank=True)

    objects = MessageQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["author", "ref"], name="authors_message_once")
        ]
        indexes = [
            models.Index(fields=["conversation", "-id"], name="authors_message_recent"),
            models.Index(fields=["site", "received_at"], name="authors_message_of_site"),
            models.Index(
                fields=["received_at"],
                condition=models.Q(status="received"),
                name="authors_message_waiting",
            ),
        ]

    def __str__(self) -> str:
        return self.ref

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store it with its author's site."""
        self.site_id = self.author.site_id
        super().save(*args, **kwargs)


class Question(models.Model):
    """One question about one message. All questions about a message are its survey."""

    class Kind(models.TextChoices):
        CHOICE = "choice", _("One of a few options")
        WORD = "word", _("One word")

    class Source(models.TextChoices):
        MODEL = "model", _("Worded by a model")
        TEMPLATE = "template", _("From the feature's template")

    class Status(models.TextChoices):
        WAITING = "waiting", _("Waits for its turn")
        PUSHED = "pushed", _("Sent")
        SHOWN = "shown", _("Shown")
        ANSWERED = "answered", _("Answered")
        NOFIT = "nofit", _("None of the options fits")
        SKIPPED = "skipped", _("Skipped")
        CLOSED = "closed", _("Closed")
        EXPIRED = "expired", _("Too late")
        RETRACTED = "retracted", _("Taken back")

    uid = models.UUIDField(default=uuid.uuid4, editable=False, unique=True)
    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="questions")
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="questions")
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="questions")
    feature = models.ForeignKey(Feature, on_delete=models.CASCADE, related_name="questions")
    about_ref = models.CharField(
        max_length=64,
        blank=True,
        help_text="The sender's id of the message its words are about, where that is another one.",
    )
    number = models.PositiveSmallIntegerField(default=1, help_text="Its place in the survey.")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    text = models.CharField(max_length=300)
    options = models.JSONField(
        default=list, blank=True, help_text='As shown: [{"id", "label", "value"}].'
    )
    predicted = models.CharField(max_length=200, blank=True, help_text="What the model expects.")
    language = models.CharField(max_length=10)
    source = models.CharField(max_length=10, choices=Source.choices)
    prompt_hash = models.CharField(max_length=64, blank=True)
    min_ms = models.PositiveIntegerField(help_text="Shortest time in which it can be read.")
    propensity = models.FloatField(default=1.0, help_text="Chance that it was asked.")
    cost_nanousd = models.BigIntegerField(default=0, help_text="Its share of what asking cost.")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.WAITING)
    early = models.PositiveIntegerField(default=0, help_text="Clicks before it could be read.")
    reask_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="reasked_as"
    )
    item = models.OneToOneField(
        Item, null=True, on_delete=models.SET_NULL, related_name="author_question"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    pushed_at = models.DateTimeField(null=True, blank=True)
    shown_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField()

    objects = QuestionQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["message", "number"], name="authors_question_place")
        ]
        indexes = [
            models.Index(fields=["author", "-id"], name="authors_question_recent"),
            models.Index(fields=["site", "-id"], name="authors_question_of_site"),
            models.Index(fields=["status", "expires_at"], name="authors_question_open"),
        ]

    def __str__(self) -> str:
        return self.text


class Answer(models.Model):
    """What an author said to a question: an option, a word, or that no option fits."""

    class Outcome(models.TextChoices):
        ANSWER = "answer", _("Answered")
        NOFIT = "nofit", _("None of these fits")

    class Timing(models.TextChoices):
        SERVER = "ok", _("Measured here")
        CLIENT = "client_attested", _("Measured by the widget while offline")

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="answers")
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="answers")
    ref = models.CharField(
        max_length=64, help_text="The sender's id: a second arrival is the same."
    )
    outcome = models.CharField(max_length=10, choices=Outcome.choices)
    value = models.CharField(max_length=200, blank=True)
    position = models.PositiveSmallIntegerField(null=True, help_text="Of the option, as shown.")
    server_ms = models.PositiveIntegerField(help_text="From shown to received, on our clock.")
    visible_ms = models.PositiveIntegerField(null=True, help_text="As the widget says.")
    timing = models.CharField(max_length=20, choices=Timing.choices)
    keyboard = models.BooleanField(default=False)
    late = models.BooleanField(default=False, help_text="After the question had expired: no gold.")
    consent = models.ForeignKey(Consent, null=True, on_delete=models.SET_NULL, related_name="+")
    label_uid = models.UUIDField(null=True, db_index=True)
    received_at = models.DateTimeField(default=timezone.now, editable=False)
    undone_at = models.DateTimeField(null=True, blank=True)
    excluded_at = models.DateTimeField(null=True, blank=True)
    excluded_for = models.CharField(max_length=300, blank=True)

    objects = AnswerQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["author", "ref"], name="authors_answer_once"),
            # Of two tabs that answer at once only one is heard.
            models.UniqueConstraint(
                fields=["question"],
                condition=models.Q(undone_at__isnull=True),
                name="authors_answer_one_stands",
            ),
        ]
        indexes = [
            models.Index(fields=["author", "-id"], name="authors_answer_recent"),
            models.Index(fields=["received_at"], name="authors_answer_received"),
            models.Index(
                fields=["id"],
                condition=models.Q(excluded_at__isnull=False),
                name="authors_answer_excluded",
            ),
            models.Index(
                fields=["id"],
                condition=models.Q(undone_at__isnull=False),
                name="authors_answer_undone",
            ),
        ]

    def __str__(self) -> str:
        return self.value or self.outcome


class Event(models.Model):
    """Something that no other table tells: an early click, an opt-out, a refused token."""

    class Kind(models.TextChoices):
        EARLY = "early", _("Clicked before it could be read")
        REFUSED_EARLY = "refused_early", _("Answer refused: too early")
        UNDONE = "undone", _("Took an answer back")
        OPTED_OUT = "opted_out", _("Does not want to be asked again")
        FLOOD = "flood", _("Sent too much at once")
        IDENT = "ident", _("Signature refused")
        ERASED = "erased", _("Data deleted on request")

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="events")
    author = models.ForeignKey(Author, null=True, on_delete=models.CASCADE, related_name="events")
    question = models.ForeignKey(
        Question, null=True, on_delete=models.CASCADE, related_name="events"
    )
    kind = models.CharField(max_length=20, choices=Kind.choices)
    data = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [
            models.Index(fields=["site", "-at"], name="authors_event_of_site"),
            models.Index(fields=["author", "-at"], name="authors_event_of_author"),
        ]


class Payout(models.Model):
    """One file of rewards that the host was given to pay."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="payouts")
    cents = models.PositiveBigIntegerField()
    rewards = models.PositiveIntegerField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]


class Reward(models.Model):
    """What one answer earned. One answer earns once, whatever is sent again."""

    answer = models.OneToOneField(Answer, on_delete=models.CASCADE, related_name="reward")
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="rewards")
    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="rewards")
    cents = models.PositiveIntegerField()
    currency = models.CharField(max_length=3)
    credited_at = models.DateTimeField(default=timezone.now, editable=False)
    due_at = models.DateTimeField()
    void_at = models.DateTimeField(null=True, blank=True)
    void_for = models.CharField(max_length=300, blank=True)
    payout = models.ForeignKey(
        Payout, null=True, blank=True, on_delete=models.RESTRICT, related_name="paid"
    )

    objects = RewardQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["site", "due_at"], name="authors_reward_due")]
