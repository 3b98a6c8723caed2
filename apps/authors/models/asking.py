"""What an author is asked, and what they say."""

import uuid

from django.db import models
from django.utils import timezone

from apps.authors.models.authors import Author, Consent
from apps.authors.models.sites import Feature, Site
from apps.authors.models.talk import Message
from apps.authors.querysets import AnswerQuerySet, QuestionQuerySet
from apps.projects.models import Item


class Question(models.Model):
    """One question about one message. All questions about a message are its survey."""

    class Kind(models.TextChoices):
        CHOICE = "choice", "One of a few options"
        WORD = "word", "One word"

    class Source(models.TextChoices):
        MODEL = "model", "Worded by a model"
        TEMPLATE = "template", "From the feature's template"

    class Status(models.TextChoices):
        WAITING = "waiting", "Waits for its turn"
        PUSHED = "pushed", "Sent"
        SHOWN = "shown", "Shown"
        ANSWERED = "answered", "Answered"
        NOFIT = "nofit", "None of the options fits"
        SKIPPED = "skipped", "Skipped"
        CLOSED = "closed", "Closed"
        EXPIRED = "expired", "Too late"
        RETRACTED = "retracted", "Taken back"

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
        ANSWER = "answer", "Answered"
        NOFIT = "nofit", "None of these fits"

    class Timing(models.TextChoices):
        SERVER = "ok", "Measured here"
        CLIENT = "client_attested", "Measured by the widget while offline"

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
