"""Reports that hold as long as the ledger stays as it is, and studies of predictivity."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from apps.llm.models import ModelSpec, PromptVersion
from apps.projects.models import Item, Project


class StoredReport(models.Model):
    """The agreement report of one slice of a project, and the state of the ledger it is of.

    It holds numbers and names of annotators other than authors, no text; slices that may be about
    one author are never stored.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    asked = models.CharField(max_length=500, help_text="The slice, as in an address.")
    state = models.CharField(max_length=64, help_text="Changes whenever the ledger does.")
    body = models.JSONField()
    computed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-computed_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["project", "asked"], name="agreement_report_once")
        ]

    def __str__(self) -> str:
        return f"{self.project_id} {self.asked}"


class Study(models.Model):
    """One study of predictivity: how well a model predicts authors by the labels of others.

    The same plan is one study, however often it is started; a cancelled one is over.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        PAUSED = "paused", "Paused"
        CANCELLED = "cancelled", "Cancelled"
        DONE = "done", "Done"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="studies")
    model = models.ForeignKey(ModelSpec, on_delete=models.PROTECT, related_name="+")
    prompt = models.ForeignKey(PromptVersion, on_delete=models.PROTECT, related_name="+")
    sources = models.JSONField(help_text="Whose labels are shown.")
    examples = models.JSONField(help_text="How many of them, each number in turn.")
    limit = models.PositiveIntegerField(null=True, blank=True, help_text="Items at most.")
    seed = models.PositiveIntegerField(help_text="Decides which examples are taken.")
    plan_hash = models.CharField(max_length=64, help_text="All that was asked for but the budget.")
    offline_labels = models.BooleanField(
        default=False, help_text="What stands for an LLM's labels was said by the offline model."
    )
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    pause_code = models.CharField(max_length=40, blank=True)
    message = models.TextField(blank=True, help_text="What happened, in words for people.")
    resume_at = models.DateTimeField(null=True, blank=True)
    faults = models.PositiveSmallIntegerField(
        default=0, help_text="How often in a row a fault of the server stopped it."
    )
    budget_nanousd = models.BigIntegerField(null=True, blank=True, help_text="None: no limit.")
    # Sums over all calls, added to in the transaction that writes them: what was paid stays told
    # when an author's predictions are erased.
    calls = models.PositiveBigIntegerField(default=0)
    unpriced_calls = models.PositiveBigIntegerField(default=0, help_text="Their cost is unknown.")
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    cost_nanousd = models.BigIntegerField(default=0)
    lease_token = models.UUIDField(null=True, blank=True, help_text="Of the worker driving it.")
    lease_until = models.DateTimeField(null=True, blank=True)
    dispatched_until = models.DateTimeField(
        null=True, blank=True, help_text="A task for it is on its way."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name_plural = "studies"
        constraints = [
            models.UniqueConstraint(
                fields=["project", "plan_hash"],
                condition=~models.Q(status="cancelled"),
                name="agreement_study_once",
            )
        ]

    def __str__(self) -> str:
        return f"study {self.pk}"

    @property
    def going(self) -> bool:
        """Whether some worker should be driving it."""
        return self.status in (self.Status.QUEUED, self.Status.RUNNING)


class Prediction(models.Model):
    """One task of a study: an author's answer, predicted once. Gone when the item is erased."""

    class Status(models.TextChoices):
        WAITING = "waiting", "Waiting"
        ANSWERED = "answered", "Predicted"
        UNPARSED = "unparsed", "No usable answer"
        FAILED = "failed", "Failed"
        VOID = "void", "What it rests on is no longer there"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="predictions")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="+")
    user_key = models.CharField(max_length=32, help_text="Equal for items of one author.")
    source = models.CharField(max_length=10, help_text="Whose labels were shown; none: nobody's.")
    examples = models.PositiveSmallIntegerField(help_text="How many were shown.")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.WAITING)
    shown = models.JSONField(default=list, blank=True, help_text="Items of the examples.")
    options = models.PositiveIntegerField(default=0, help_text="Answers to choose from.")
    asked = models.CharField(max_length=64, blank=True, help_text="Hash of what was sent.")
    expected = models.TextField(blank=True, help_text="What the author had said when it was asked.")
    answered = models.TextField(blank=True, help_text="The answer that was read.")
    right = models.BooleanField(null=True)
    text = models.TextField(blank=True, help_text="What the model said, word for word.")
    off_menu = models.CharField(max_length=80, blank=True)
    note = models.TextField(blank=True)
    model_answered = models.CharField(max_length=200, blank=True)
    params = models.JSONField(default=dict, blank=True, help_text="Effective.")
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    usage_estimated = models.BooleanField(default=False)
    cost_nanousd = models.BigIntegerField(null=True, help_text="None: unknown, or not asked yet.")
    seconds = models.FloatField(default=0)
    attempts = models.JSONField(
        default=list, blank=True, help_text="HTTP status, seconds, note of each try."
    )
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "item", "source", "examples"], name="agreement_prediction_once"
            )
        ]
        indexes = [models.Index(fields=["study", "status"], name="agreement_prediction_status")]

    def __str__(self) -> str:
        return f"{self.item_id} by {self.examples} of {self.source}"


class Guarantee(models.Model):
    """A promise about what is accepted without a person, from the drawing of its sample on.

    With ``confidence``, at most ``target`` of the debated items that are accepted are wrong. The
    row says what is to be done: whatever ``applied`` does not yet cover, anybody may carry out.
    """

    class State(models.TextChoices):
        DRAWN = "drawn", "Its sample is being labelled"
        ON = "on", "In force"
        OFF = "off", "Over"

    class Ending(models.TextChoices):
        SWITCHED_OFF = "switched_off", "Switched off by hand"
        ABANDONED = "abandoned", "The sample was given up"
        BROKEN = "broken", "The audit found more errors than promised"
        OTHER_DEBATES = "other_debates", "Another set-up labels now"
        RULE_CHANGED = "rule_changed", "The routing rule was changed"
        PLAN_CHANGED = "plan_changed", "The review plan was changed"
        LABELS_CHANGED = "labels_changed", "Labels were merged, split or retired"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="guarantees")
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAWN)
    ending = models.CharField(max_length=20, choices=Ending.choices, blank=True)
    applied = models.BooleanField(
        default=False, help_text="The items have been brought into line with the state."
    )
    dispatched_until = models.DateTimeField(
        null=True, blank=True, help_text="A task looks after it, or is on its way."
    )
    # Fixed when the sample is drawn, before anything is known of its errors.
    target = models.FloatField(help_text="Share of wrong ones among the accepted, 0 to 0.5.")
    confidence = models.FloatField()
    start_errors = models.PositiveSmallIntegerField(
        default=0, help_text="How many errors the first test may have and still pass."
    )
    rule = models.JSONField(help_text="What goes to people whatever the debate's certainty.")
    bounds = models.JSONField(help_text="Bounds of the uncertainty to test, strict to loose.")
    specs = models.JSONField(help_text="spec_hash of the runs whose debates it is about.")
    sample = models.JSONField(help_text="Ids of the items drawn.")
    golds = models.JSONField(
        default=dict, blank=True, help_text="Item → its newest decision at the drawing."
    )
    drawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    drawn_at = models.DateTimeField(default=timezone.now)
    # What the sample showed when all of it was decided: found once, whatever is said later.
    verdict = models.JSONField(
        null=True,
        help_text="Item → uncertainty and whether the debate was wrong; those that do not count.",
    )
    wrong = models.PositiveIntegerField(null=True, help_text="Items of the sample that were.")
    judged_at = models.DateTimeField(null=True)
    # What was switched on.
    bound = models.FloatField(null=True, help_text="Accepted below this uncertainty.")
    calibrated = models.PositiveIntegerField(null=True, help_text="Items of the sample that count.")
    accepted = models.PositiveIntegerField(null=True, help_text="Of those, accepted.")
    errors = models.PositiveIntegerField(null=True, help_text="Of those, wrong.")
    upper = models.FloatField(null=True, help_text="Upper bound of the share of wrong ones.")
    coverage = models.FloatField(null=True, help_text="Share of all debated items accepted.")
    audit = models.FloatField(null=True, help_text="Audited share of what is accepted.")
    switched_on_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    switched_on_at = models.DateTimeField(null=True)
    rule_before = models.JSONField(null=True, help_text="The stored rule; null: the usual one.")
    scope_before = models.CharField(max_length=10, blank=True)
    # How it ended.
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    ended_at = models.DateTimeField(null=True)
    audits = models.PositiveIntegerField(default=0, help_text="Blind audits answered by the end.")
    audit_errors = models.PositiveIntegerField(default=0, help_text="Of those, wrong.")

    class Meta:
        ordering = ["-drawn_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["project"],
                condition=models.Q(state__in=["drawn", "on"]),
                name="agreement_one_guarantee",
            )
        ]

    def __str__(self) -> str:
        return f"{self.project_id}: at most {self.target:g} wrong"
