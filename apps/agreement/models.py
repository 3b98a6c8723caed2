"""Reports that hold as long as the ledger stays as it is, and guarantees of automatic labels."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.projects.models import Project


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


class Guarantee(models.Model):
    """A promise about what is accepted without a person, from the drawing of its sample on.

    With ``confidence``, at most ``target`` of the debated items that are accepted are wrong. The
    row says what is to be done: whatever ``applied`` does not yet cover, anybody may carry out.
    """

    class State(models.TextChoices):
        DRAWN = "drawn", _("Its sample is being labelled")
        ON = "on", _("In force")
        OFF = "off", _("Over")

    class Ending(models.TextChoices):
        SWITCHED_OFF = "switched_off", _("Switched off by hand")
        ABANDONED = "abandoned", _("The sample was given up")
        BROKEN = "broken", _("The audit found more errors than promised")
        OTHER_DEBATES = "other_debates", _("Another set-up labels now")
        RULE_CHANGED = "rule_changed", _("The routing rule was changed")
        PLAN_CHANGED = "plan_changed", _("The review plan was changed")
        LABELS_CHANGED = "labels_changed", _("Labels were merged, split or retired")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="guarantees")
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAWN)
    ending = models.CharField(max_length=20, choices=Ending.choices, blank=True)
    applied = models.BooleanField(
        default=False, help_text="The items have been brought into line with the state."
    )
    # Fixed when the sample is drawn, before anything is known of its errors.
    target = models.FloatField(help_text="Share of wrong ones among the accepted, 0 to 0.5.")
    confidence = models.FloatField()
    start_errors = models.PositiveSmallIntegerField(
        default=0, help_text="How many errors the first test may have and still pass."
    )
    labels_per_item = models.PositiveSmallIntegerField(
        default=1, help_text="Blind labels by people that an item of the sample takes, 1 or 2."
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
