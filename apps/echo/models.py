"""A site's Echo: its settings, log, learnt state, selections and offers.

The log is the source of truth; states, models and snapshots can be rebuilt from it.
"""

import uuid

from django.core.validators import BaseValidator, MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.authors.models import Author, Message, Site
from apps.common.sealing import SealedField


def _count(
    default: int, least: int | None, most: int, help_text: str
) -> "models.PositiveSmallIntegerField[int, int]":
    """A whole number from ``least`` (None: 0) to ``most``."""
    bounds: list[BaseValidator] = [MaxValueValidator(most)]
    if least is not None:
        bounds.insert(0, MinValueValidator(least))
    return models.PositiveSmallIntegerField(default=default, validators=bounds, help_text=help_text)


def _share(default: float, most: float, help_text: str) -> "models.FloatField[float, float]":
    """A number from 0 to ``most``."""
    bounds = [MinValueValidator(0), MaxValueValidator(most)]
    return models.FloatField(default=default, validators=bounds, help_text=help_text)


class Echo(models.Model):
    """Echo at one site: its settings and its learnt state."""

    site = models.OneToOneField(
        Site, primary_key=True, on_delete=models.CASCADE, related_name="echo"
    )
    on = models.BooleanField(default=True, help_text="Chooses what is asked, and learns.")
    k = _count(10, 1, 100, "Features that go downstream.")
    explore = _share(0.1, 1, "Share of the surveys that ask at random.")
    burden = _share(0.0, 1, "What a question must be worth to be asked.")
    models_per_message = _count(40, 1, 1000, "Feature models that are run for one message.")
    shares_relevance = models.BooleanField(
        default=True,
        help_text="New features start from what other sites of the server have learnt, and give.",
    )
    llm_features = _count(
        4, None, 20, "Features a language model predicts for a message that is asked about."
    )
    example_tokens = _count(
        300, None, 2000, "Tokens of authors' answers in each prediction's prompt."
    )
    offers_on = models.BooleanField(
        default=False, help_text="Items of the catalogue are offered; off: at once nowhere."
    )
    offer_every_messages = models.PositiveSmallIntegerField(
        default=4, validators=[MinValueValidator(1)], help_text="One offer in so many messages."
    )
    offer_min_seconds = models.PositiveIntegerField(
        default=120, help_text="Seconds between two offers to one author."
    )
    offer_least_match = _share(0.12, 1, "How well an item must fit.")
    offer_explore = _share(0.05, 0.5, "Share of the messages for which an item is drawn.")
    reward_minutes = _count(30, 1, 1440, "An offer without a click after so long counts as none.")
    logged = models.PositiveBigIntegerField(default=0, help_text="Number of the newest event.")
    learnt = models.PositiveBigIntegerField(default=0, help_text="Events up to this are learnt.")
    state = models.BinaryField(default=b"", help_text="The selector, packed.")
    era = models.PositiveIntegerField(default=0, help_text="How often it was all made anew.")
    erased = models.PositiveIntegerField(
        default=0, help_text="Authors deleted since the state was made anew without them."
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return f"Echo of {self.site_id}"


class LogEvent(models.Model):
    """An event of the log, never changed. Deleting its author deletes it; the state is rebuilt."""

    class Kind(models.TextChoices):
        ANSWERED = "answered", _("Answered")
        REWARDED = "rewarded", _("Rewarded")
        NAMED = "named", _("Named what mattered most")
        EXPECTED = "expected", _("Expected by the owner")
        WITHDRAWN = "withdrawn", _("Withdrawn")
        RESTORED = "restored", _("Restored")
        FROZEN = "frozen", _("Frozen or thawed")

    CONTROLS = (Kind.WITHDRAWN, Kind.RESTORED, Kind.FROZEN)

    echo = models.ForeignKey(Echo, on_delete=models.CASCADE, related_name="log")
    number = models.PositiveBigIntegerField()
    ref = models.CharField(max_length=64, help_text="What is told twice stands once.")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    feature = models.CharField(max_length=60, blank=True)
    about = models.CharField(
        max_length=64, blank=True, help_text="The event that is withdrawn or restored."
    )
    author = models.ForeignKey(Author, null=True, on_delete=models.CASCADE, related_name="+")
    data = models.JSONField(help_text="See labelhub.core.echo.events.")
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["echo", "number"], name="echo_event_number_once"),
            models.UniqueConstraint(fields=["echo", "ref"], name="echo_event_told_once"),
        ]
        indexes = [
            models.Index(fields=["echo", "kind", "number"], name="echo_event_of_kind"),
            models.Index(fields=["echo", "feature", "number"], name="echo_event_of_feature"),
            models.Index(fields=["echo", "about", "number"], name="echo_event_about"),
        ]

    def __str__(self) -> str:
        return f"{self.number}: {self.kind}"


class Scored(models.Model):
    """A prediction's loss and uncertainty, as they were before Echo learnt from the answer.

    A small table, so that pages can count all rows. Echo does not learn from it.
    """

    event = models.OneToOneField(
        LogEvent, primary_key=True, on_delete=models.CASCADE, related_name="scored"
    )
    echo = models.ForeignKey(Echo, on_delete=models.CASCADE, related_name="scored")
    number = models.PositiveBigIntegerField(help_text="Of the answer's event.")
    feature = models.CharField(max_length=60)
    loss = models.FloatField(help_text="0 where it was right, 1 where not, or between.")
    sigma = models.FloatField(help_text="The chance of being wrong that was told with it.")

    stands = models.BooleanField(default=True, help_text="The answer counts.")

    class Meta:
        indexes = [
            models.Index(fields=["echo", "number"], name="echo_scored_recent"),
            models.Index(fields=["echo", "feature", "number"], name="echo_scored_of_feature"),
        ]

    def __str__(self) -> str:
        return f"{self.feature}: {self.loss}"


class ModelState(models.Model):
    """The packed model of one feature."""

    echo = models.ForeignKey(Echo, on_delete=models.CASCADE, related_name="models")
    feature = models.CharField(max_length=60)
    packed = models.BinaryField()
    learnt = models.PositiveBigIntegerField(help_text="Number of the event it learnt from last.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["echo", "feature"], name="echo_model_of_feature_once")
        ]

    def __str__(self) -> str:
        return self.feature


class AuthorTrust(models.Model):
    """The trust in an author's answers and clicks; see ``labelhub.core.echo.trust``."""

    echo = models.ForeignKey(Echo, on_delete=models.CASCADE, related_name="trusts")
    author = models.CharField(max_length=64, help_text="As the log names them.")
    answers = models.FloatField()
    clicks = models.FloatField()
    offers = models.FloatField()
    expected = models.FloatField()
    clicked = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["echo", "author"], name="echo_trust_of_author_once")
        ]

    def __str__(self) -> str:
        return self.author


class Snapshot(models.Model):
    """The whole state after an event. If an earlier event is withdrawn or restored, learning
    restarts from an older snapshot."""

    echo = models.ForeignKey(Echo, on_delete=models.CASCADE, related_name="snapshots")
    number = models.PositiveBigIntegerField()
    packed = models.BinaryField()
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["echo", "number"], name="echo_snapshot_number_once")
        ]

    def __str__(self) -> str:
        return str(self.number)


class Selection(models.Model):
    """The selection for one message: the k features, which were asked about, and why."""

    uid = models.UUIDField(default=uuid.uuid4, editable=False, unique=True)
    echo = models.ForeignKey(Echo, on_delete=models.CASCADE, related_name="selections")
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="+")
    message = models.OneToOneField(
        Message, null=True, on_delete=models.SET_NULL, related_name="selection"
    )
    number = models.PositiveBigIntegerField(help_text="Events learnt by then.")
    predicted = models.JSONField(
        help_text=(
            'By feature: {"value", "probability", "sigma", "relevance", "signs", "said", "told"}.'
        )
    )
    selected = models.JSONField(help_text="Keys of the k features, the most relevant first.")
    asked = models.JSONField(
        default=dict, help_text="By feature that could be asked: worth and propensity; what was."
    )
    explored = models.BooleanField(default=False)
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["echo", "-id"], name="echo_selection_recent")]

    def __str__(self) -> str:
        return str(self.uid)


class CatalogueItem(models.Model):
    """An item that can be offered."""

    echo = models.ForeignKey(Echo, on_delete=models.CASCADE, related_name="items")
    ref = models.CharField(max_length=100, help_text="The site's own name for it.")
    definition = models.JSONField(help_text="See labelhub.core.echo.recommending.catalogue.")
    active = models.BooleanField(default=True)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["echo", "ref"], name="echo_item_once")]

    def __str__(self) -> str:
        return self.ref


class Experiment(models.Model):
    """An experiment: its design is fixed before the start."""

    echo = models.ForeignKey(Echo, on_delete=models.CASCADE, related_name="experiments")
    name = models.CharField(max_length=100)
    design = models.JSONField(help_text="See labelhub.core.echo.experiments.assignment.")
    sealed_key = SealedField(help_text="The key by which arms are assigned, encrypted.")
    planned_days = models.PositiveSmallIntegerField(default=28)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["echo"],
                condition=models.Q(started_at__isnull=False, ended_at__isnull=True),
                name="echo_experiment_one_runs",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Decision(models.Model):
    """The decision about one message: an offer or none, and why.

    Every message that could have had an offer has a decision, in every arm, as all assigned
    authors count.
    """

    class Status(models.TextChoices):
        PENDING = "pending", _("Being decided")
        NOTHING = "nothing", _("Nothing offered")
        WAITING = "waiting", _("Waits to be sent")
        SENT = "sent", _("Sent")
        SHOWN = "shown", _("Shown")
        EXPIRED = "expired", _("Too late")

    uid = models.UUIDField(default=uuid.uuid4, editable=False, unique=True)
    echo = models.ForeignKey(Echo, on_delete=models.CASCADE, related_name="decisions")
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="+")
    message = models.OneToOneField(
        Message, null=True, on_delete=models.SET_NULL, related_name="decision"
    )
    message_at = models.DateTimeField()
    selection = models.ForeignKey(
        Selection, null=True, on_delete=models.SET_NULL, related_name="decisions"
    )
    experiment = models.ForeignKey(
        Experiment, null=True, on_delete=models.CASCADE, related_name="decisions"
    )
    arm = models.CharField(max_length=64, blank=True)
    unit = models.CharField(max_length=64, blank=True, help_text="What the arm was assigned to.")
    policy = models.CharField(max_length=64)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    why = models.CharField(max_length=30, blank=True)
    propensity = models.FloatField(default=1.0, help_text="Chance of just this decision.")
    propensities = models.JSONField(default=dict, help_text="Chance of each item to be offered.")
    score = models.FloatField(null=True)
    reasons = models.JSONField(default=list)
    item = models.ForeignKey(
        CatalogueItem, null=True, on_delete=models.SET_NULL, related_name="decisions"
    )
    item_ref = models.CharField(max_length=100, blank=True)
    vertical = models.CharField(max_length=60, blank=True)
    offer = models.JSONField(default=dict, help_text="What is shown, as the widget gets it.")
    cost_nanousd = models.BigIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    sent_at = models.DateTimeField(null=True, blank=True)
    shown_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["echo", "-id"], name="echo_decision_recent"),
            models.Index(fields=["author", "-id"], name="echo_decision_of_author"),
            models.Index(fields=["experiment", "arm"], name="echo_decision_of_arm"),
            models.Index(fields=["status", "created_at"], name="echo_decision_of_status"),
            models.Index(fields=["echo", "shown_at"], name="echo_decision_shown"),
            models.Index(
                fields=["author"],
                condition=models.Q(status__in=["waiting", "sent", "shown"]),
                name="echo_decision_open",
            ),
        ]

    def __str__(self) -> str:
        return str(self.uid)

    @property
    def mattered_keys(self) -> list[str]:
        """The features among which the offer asks what mattered most; none if it does not ask."""
        mattered = self.offer.get("helpful", {}).get("mattered", {})
        return [key for key, _name in mattered.get("options", ())]


class OfferEvent(models.Model):
    """An event of an offer, reported by the author's page. Every click counts; an event that is
    reported twice counts once, and of the answers to what mattered most the first one."""

    class Kind(models.TextChoices):
        SHOWN = "shown", _("Shown")
        CLICKED = "clicked", _("Clicked")
        HELPFUL = "helpful", _("Helpful")
        NOT_HELPFUL = "not_helpful", _("Not helpful")
        DISMISSED = "dismissed", _("Dismissed")
        NAMED = "named", _("Named what mattered most")

    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    feature = models.CharField(
        max_length=60, blank=True, help_text="The one named as what mattered most; empty for none."
    )
    ref = models.CharField(
        max_length=64, help_text="The sender's id: a second arrival is the same."
    )
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["decision", "ref"], name="echo_offer_event_once"),
            models.UniqueConstraint(
                fields=["decision"], condition=models.Q(kind="named"), name="echo_offer_named_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.ref}"
