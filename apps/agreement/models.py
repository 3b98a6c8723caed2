"""Reports that were computed once and hold as long as the ledger stays as it is."""

from django.db import models
from django.utils import timezone

from apps.projects.models import Project


class StoredReport(models.Model):
    """The agreement report of one slice of a project, and the state of the ledger it is of.

    It holds numbers and names of annotators, no text and no author's name.
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
