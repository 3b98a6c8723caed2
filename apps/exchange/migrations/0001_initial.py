import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("debates", "0001_initial"),
        ("labels", "0001_initial"),
        ("projects", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="SavedExport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="saved_exports", to="projects.project")),
                ("format", models.CharField(max_length=20)),
                ("filters", models.JSONField(blank=True, default=dict, help_text="What the export leaves out.")),
                ("status", models.CharField(choices=[("queued", "Waiting for the worker"), ("running", "Being written"), ("done", "Ready"), ("failed", "Failed"), ("stale", "Deleted: an author's data was")], default="queued", max_length=10)),
                ("message", models.TextField(blank=True, help_text="What went wrong, in words for people.")),
                ("file_name", models.CharField(help_text="What a download is called.", max_length=200)),
                ("stored_name", models.CharField(blank=True, help_text="Below the data folder.", max_length=100)),
                ("size", models.PositiveBigIntegerField(default=0, help_text="Bytes written so far.")),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("items_total", models.PositiveBigIntegerField(default=0)),
                ("items_done", models.PositiveBigIntegerField(default=0)),
                ("manifest", models.JSONField(blank=True, default=dict)),
                ("erasures", models.PositiveIntegerField(default=0, help_text="How many authors of the project had been erased when it was begun.")),
                ("lease_token", models.UUIDField(blank=True, null=True)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("created_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="webhooks", to="projects.project")),
                ("url", models.CharField(max_length=2000)),
                ("description", models.CharField(blank=True, max_length=200)),
                ("events", models.JSONField(default=list)),
                ("with_text", models.BooleanField(default=False, help_text="Send the texts of items too, except what authors wrote.")),
                ("origin", models.CharField(blank=True, help_text="Of this server, for links.", max_length=300)),
                ("secret", models.BinaryField(help_text="Sealed.")),
                ("old_secret", models.BinaryField(help_text="Sealed; signs beside the new one.", null=True)),
                ("old_secret_until", models.DateTimeField(blank=True, null=True)),
                ("status", models.CharField(choices=[("active", "Active"), ("off", "Switched off"), ("paused", "Paused: deliveries failed for days"), ("gone", "Switched off: the receiver said it is gone")], default="active", max_length=10)),
                ("began_at", models.DateTimeField(default=django.utils.timezone.now, help_text="Active since; nothing before.")),
                ("stopped_at", models.DateTimeField(blank=True, null=True)),
                ("label_seen", models.BigIntegerField(default=0)),
                ("label_settled", models.BigIntegerField(default=0)),
                ("gold_seen", models.BigIntegerField(default=0)),
                ("gold_settled", models.BigIntegerField(default=0)),
                ("runs_seen", models.DateTimeField(default=django.utils.timezone.now)),
                ("mark", models.JSONField(help_text="What is about to be settled.", null=True)),
                ("replay", models.JSONField(help_text="What is being sent again, and how far.", null=True)),
                ("turn", models.PositiveBigIntegerField(default=0)),
                ("failures", models.PositiveIntegerField(default=0, help_text="In a row.")),
                ("failing_since", models.DateTimeField(blank=True, null=True)),
                ("next_at", models.DateTimeField(blank=True, help_text="Nothing is sent before.", null=True)),
                ("lease_token", models.UUIDField(blank=True, null=True)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("created_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("webhook", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="deliveries", to="exchange.webhook")),
                ("uid", models.UUIDField(help_text="Made of the webhook and the event: the same each time.")),
                ("event", models.CharField(max_length=30)),
                ("label", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="webhook_deliveries", to="labels.label")),
                ("gold", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="webhook_deliveries", to="labels.gold")),
                ("run", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="webhook_deliveries", to="debates.run")),
                ("event_at", models.DateTimeField()),
                ("status", models.CharField(choices=[("waiting", "Waiting"), ("sending", "Being sent"), ("delivered", "Delivered"), ("failed", "Given up")], default="waiting", max_length=10)),
                ("attempts", models.PositiveSmallIntegerField(default=0, help_text="Since it was last asked for.")),
                ("replays", models.PositiveSmallIntegerField(default=0, help_text="How often it was asked again.")),
                ("next_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("response_status", models.PositiveSmallIntegerField(null=True)),
                ("response", models.TextField(blank=True, help_text="The beginning of what came back.")),
                ("error", models.TextField(blank=True)),
                ("seconds", models.FloatField(null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "ordering": ["-pk"],
                "indexes": [models.Index(condition=models.Q(("status__in", ["waiting", "sending"])), fields=["webhook", "next_at"], name="exchange_delivery_due"), models.Index(fields=["finished_at"], name="exchange_delivery_finished")],
                "constraints": [models.UniqueConstraint(fields=("webhook", "uid"), name="exchange_delivery_once")],
            },
        ),
    ]
