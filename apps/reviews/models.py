"""The queue, what people did in it, what they said about items, and how the work is watched."""

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.common.phrases import PhraseField
from apps.labels.models import Label
from apps.projects.models import Item, Project

if TYPE_CHECKING:
    from apps.accounts.models import User


class SlotQuerySet(models.QuerySet["Slot"]):
    def live(self, now: datetime) -> "SlotQuerySet":
        """Slots that somebody holds at ``now``."""
        return self.filter(label__isnull=True, lease_until__gt=now)

    def takeable(self, now: datetime) -> "SlotQuerySet":
        """Slots that wait for a label and that nobody holds at ``now``."""
        lapsed = Q(lease_until__isnull=True) | Q(lease_until__lte=now)
        return self.filter(lapsed, label__isnull=True)

    def held_by(self, user: "User", tokens: Iterable[UUID]) -> "SlotQuerySet":
        """Unlabelled slots that still carry one of these tokens of ``user``, lapsed or not."""
        return self.filter(label__isnull=True, holder=user, lease_token__in=list(tokens))


#: Decisions whose label, if they gave one, was neither superseded nor withdrawn since.
UNDOABLE = Q(label__isnull=True) | Q(label__withdrawn=False, label__superseded_by__isnull=True)


class DecisionQuerySet(models.QuerySet["Decision"]):
    def standing(self, project: Project, user: "User") -> "DecisionQuerySet":
        """What ``user`` decided in ``project`` and has not undone, the latest first."""
        return self.filter(project=project, reviewer=user, undone_at__isnull=True).order_by("-pk")

    def undoable(self) -> "DecisionQuerySet":
        return self.filter(UNDOABLE)

    def only_rejecting(self) -> "DecisionQuerySet":
        """Those that only reject the suggestion, which the person has not answered since."""
        return self.undoable().filter(label__rejected=True)

    def leaving(self) -> "DecisionQuerySet":
        """Skips and postponements in force."""
        return self.filter(label__isnull=True, undone_at__isnull=True)

    def skips(self) -> "DecisionQuerySet":
        return self.filter(action="skip")


class SavedFilter(models.Model):
    """A named search over a project's items. ``query`` holds the fields of the search form."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="saved_filters")
    name = models.CharField(max_length=100)
    query = models.JSONField(default=dict)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="reviews_filter_once")
        ]

    def __str__(self) -> str:
        return self.name


class BulkJob(models.Model):
    """One thing done to many items, by one worker at a time, that can be undone as a whole."""

    class Action(models.TextChoices):
        ACCEPT = "accept", _("Accept what is suggested")
        LABEL = "label", _("Give all one label")
        ASSIGN = "assign", _("Give to people")
        AUDIENCE = "audience", _("Keep for one kind of people")
        PROMOTE = "promote", _("Put first")
        RETURN = "return", _("Return to the queue")

    class Status(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("At work")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        UNDOING = "undoing", _("Being undone")
        UNDONE = "undone", _("Undone")

    UNFINISHED = (Status.QUEUED, Status.RUNNING, Status.UNDOING)
    UNDOABLE = (Status.DONE, Status.FAILED)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="bulk_jobs")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    action = models.CharField(max_length=10, choices=Action.choices)
    query = models.JSONField(default=dict, help_text="The search that found the items.")
    options = models.JSONField(default=dict, help_text="What the action needs to know.")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    message = PhraseField(blank=True)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    passed_over = models.PositiveIntegerField(
        default=0, help_text="Were not what they had been when the preview was made."
    )
    counts = models.JSONField(
        default=dict, help_text="How many items were passed over for what, or were not undone."
    )
    after = models.BigIntegerField(default=0, help_text="The last item that was worked on.")
    upto = models.BigIntegerField(default=0, help_text="The newest item when it was asked for.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]


class BulkChange(models.Model):
    """What a bulk job did to one item, and what is needed to take it back."""

    job = models.ForeignKey(BulkJob, on_delete=models.CASCADE, related_name="changes")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="+")
    label = models.ForeignKey(Label, null=True, on_delete=models.SET_NULL, related_name="+")
    before = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "item"], name="reviews_bulk_change_once")
        ]


class Purpose(models.TextChoices):
    """What an item was handed out for. Whether its answer is known the person cannot tell."""

    WORK = "work", _("Work")
    SETTLE = "settle", _("Adjudication")
    CHECK = "check", _("Gold question")
    QUALIFY = "qualify", _("Qualification")


class Slot(models.Model):
    """One wanted label of an item, held by at most one person at a time.

    Made at the first claim. ``label`` set means done. The unique (item, number) and the conditional
    update in ``queue.leases`` make a lease exclusive on SQLite and PostgreSQL alike.
    A place on an item whose answer is known (``purpose``) has no number: it is nobody else's.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="slots")
    number = models.PositiveSmallIntegerField(null=True)
    purpose = models.CharField(max_length=8, choices=Purpose.choices, default=Purpose.WORK)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    holder = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    lease_token = models.UUIDField(null=True, blank=True, unique=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    leased_at = models.DateTimeField(null=True, help_text="When the holder was given it.")
    shown = models.ForeignKey(
        Label,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The suggestion that the holder was handed with it.",
    )
    label = models.ForeignKey(Label, null=True, on_delete=models.SET_NULL, related_name="+")

    objects = SlotQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="reviews_slot_once"),
            models.UniqueConstraint(
                fields=["holder", "item"],
                condition=models.Q(number__isnull=True),
                name="reviews_slot_known_once",
            ),
        ]
        indexes = [models.Index(fields=["project", "lease_until"], name="reviews_slot_live")]

    @staticmethod
    def new_lease(until: datetime) -> dict[str, Any]:
        """The fields of a lease that is given now; nothing has been shown with it yet."""
        return {
            "lease_token": uuid4(),
            "lease_until": until,
            "leased_at": timezone.now(),
            "shown": None,
        }

    @property
    def is_over(self) -> bool:
        """Whether its holder may see by now what it was to withhold; a check withholds it until it
        is answered. In SQL: ``apps.labels.blindness.handed_blind``."""
        until = self.lease_until
        return self.purpose == Purpose.WORK and until is not None and until <= timezone.now()


class Decision(models.Model):
    """What a reviewer did with an item that the queue handed to them."""

    class Action(models.TextChoices):
        ACCEPT = "accept", _("Accepted")
        FIX = "fix", _("Fixed")
        REJECT = "reject", _("Rejected")
        LABEL = "label", _("Labelled")
        SKIP = "skip", _("Skipped")
        POSTPONE = "postpone", _("Postponed")

    class Arm(models.TextChoices):
        """Whether the suggestion was shown; drawn by hash where a share is to be blind."""

        SHOWN = "shown", _("Shown")
        WITHHELD = "withheld", _("Withheld")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="decisions")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    action = models.CharField(max_length=10, choices=Action.choices)
    label = models.ForeignKey(Label, null=True, on_delete=models.SET_NULL, related_name="+")
    purpose = models.CharField(max_length=8, choices=Purpose.choices, default=Purpose.WORK)
    correct = models.BooleanField(
        null=True, help_text="Of an item whose answer was known: whether this was it."
    )
    arm = models.CharField(max_length=8, choices=Arm.choices, blank=True)
    suggestion = models.ForeignKey(
        Label,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="What was suggested when it was drawn whether to show it.",
    )
    within = models.FloatField(
        null=True,
        help_text="Where nobody told the time it took: seconds since the lease was given. It took "
        "no longer.",
    )
    late = models.BooleanField(default=False, help_text="Came after the lease had lapsed.")
    extra = models.BooleanField(
        default=False, help_text="More labels than were wanted: kept, not lost."
    )
    comment = models.TextField(blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = DecisionQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["project", "reviewer", "-id"], name="reviews_decision_recent"),
            # What somebody left to others is looked up for each item of the queue's head.
            models.Index(
                fields=["reviewer", "item"],
                condition=models.Q(undone_at__isnull=True),
                name="reviews_decision_left",
            ),
        ]


class Draft(models.Model):
    """An answer that somebody has begun, as the fields of the form; gone once it is given."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="drafts")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="drafts"
    )
    fields = models.JSONField(default=dict)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "user"], name="reviews_draft_once")]
        indexes = [models.Index(fields=["project", "user"], name="reviews_draft_of")]


class Requeue(models.Model):
    """Labels of one person that are taken back, by one worker at a time, resumable at any point.

    Who asked and why is in the log as well (``Intervention``), and in each label's provenance.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("At work")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    UNFINISHED = (Status.QUEUED, Status.RUNNING)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="requeues")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="Whose labels they are.",
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    reason = models.TextField()
    since = models.DateTimeField(null=True, blank=True)
    only_wrong = models.BooleanField(default=False)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    message = PhraseField(blank=True)
    total = models.PositiveIntegerField(help_text="How many labels there were when it was asked.")
    done = models.PositiveIntegerField(default=0)
    after = models.BigIntegerField(default=0, help_text="The last label that was looked at.")
    upto = models.BigIntegerField(help_text="The newest label when it was asked for.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "user"],
                condition=models.Q(status__in=("queued", "running")),
                name="reviews_requeue_one_at_a_time",
            )
        ]


class ReviewSettings(models.Model):
    """One project's ways of reviewing; a project without a row has the defaults.

    What is handed out to whom is the project's own (``Project.overlap``, ``queue_order``,
    ``blind_share`` …): the ledger's states and its blindness depend on it. This is the screen.
    """

    class Rationale(models.TextChoices):
        NO = "no", _("Not asked")
        OPTIONAL = "optional", _("May be given")
        REQUIRED = "required", _("Must be given")

    project = models.OneToOneField(
        Project, primary_key=True, on_delete=models.CASCADE, related_name="review_settings"
    )
    show_opinions = models.BooleanField(default=False)
    allow_abstain = models.BooleanField(default=True)
    ask_confidence = models.BooleanField(default=False)
    ask_rationale = models.CharField(max_length=8, choices=Rationale.choices, default=Rationale.NO)
    ask_evidence = models.BooleanField(default=False)
    shuffle_options = models.BooleanField(default=True)
    first_filter = models.ForeignKey(
        SavedFilter, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    first_upto = models.BigIntegerField(
        default=0, help_text="The last item that the filter was applied to."
    )
    first_at = models.DateTimeField(null=True, help_text="When that was.")

    class Meta:
        verbose_name_plural = "review settings"


class KeyMap(models.Model):
    """The keys of the working screen that one person has changed: action → keys."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="key_map"
    )
    keys = models.JSONField(default=dict)


class ReviewerStatus(models.Model):
    """Where one reviewer stands in one project; none means that nothing keeps them from working."""

    class Status(models.TextChoices):
        ACTIVE = "active", _("At work")
        QUALIFYING = "qualifying", _("Qualifying")
        PAUSED = "paused", _("Paused")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="standings")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="standings"
    )
    status = models.CharField(max_length=10, choices=Status.choices)
    reason = PhraseField(blank=True)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "reviews_standing"
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="reviews_standing_once")
        ]


class Intervention(models.Model):
    """What somebody did to the queue or to other people's work, and why. Append-only."""

    class Action(models.TextChoices):
        PAUSE = "pause", _("Paused a reviewer")
        RESUME = "resume", _("Resumed a reviewer")
        QUALIFIED = "qualified", _("Qualified")
        NOT_QUALIFIED = "not_qualified", _("Did not qualify")
        REQUEUE = "requeue", _("Put a reviewer's labels back into the queue")
        RETURN = "return", _("Returned items to the queue")
        REVOKE = "revoke", _("Took a lease away")
        ASSIGN = "assign", _("Assigned items")
        UNASSIGN = "unassign", _("Lifted assignments")
        PROMOTE = "promote", _("Put items first")
        EXPLAIN = "explain", _("Explained a decision to the reviewers")
        SEND_BACK = "send_back", _("Sent an item back to its reviewers")
        PLAN = "plan", _("Changed the review plan")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    action = models.CharField(max_length=14, choices=Action.choices)
    subject = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Whose work it concerns.",
    )
    reason = PhraseField(blank=True)
    items = models.PositiveIntegerField(default=0, help_text="How many items it concerned.")
    data = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["project", "-id"], name="reviews_intervention_recent")]


class Comment(models.Model):
    """A remark on an item, open until somebody resolves it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="comments")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    text = models.TextField()
    explains = models.BooleanField(
        default=False, help_text="An adjudicator's words to those who labelled the item."
    )
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["project", "resolved_at"], name="reviews_comment_open")]


class Mention(models.Model):
    """Somebody whom a comment is meant for; unseen until they have opened it."""

    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="mentions")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mentions"
    )
    seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["comment", "user"], name="reviews_mention_once")
        ]
        indexes = [models.Index(fields=["user", "seen_at"], name="reviews_mention_unseen")]
