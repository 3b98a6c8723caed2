import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("labels", "0001_initial"),
        ("projects", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="LearningSwitch",
            fields=[
                ("project", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="learning", serialize=False, to="projects.project")),
                ("on", models.BooleanField(default=False)),
                ("ranked", models.BooleanField(default=False, help_text="The queue's order heeds a model; cleared once it is off.")),
                ("changed_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("changed_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="TrainedModel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="trained_models", to="projects.project")),
                ("version", models.PositiveIntegerField()),
                ("status", models.CharField(choices=[("queued", "Queued"), ("learning", "Learning"), ("applying", "Labelling what is not decided"), ("done", "Done"), ("failed", "Failed"), ("cancelled", "Cancelled")], default="queued", max_length=10)),
                ("message", models.TextField(blank=True, help_text="What went wrong, in words for people.")),
                ("schema", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.labelschema")),
                ("gold_until", models.PositiveBigIntegerField(help_text="The newest decision that it read.")),
                ("decided", models.PositiveIntegerField(help_text="Decided items at its start: what growth is counted from.")),
                ("examples", models.PositiveIntegerField(default=0, help_text="Gold that it was taught.")),
                ("left_out", models.PositiveIntegerField(default=0, help_text="Gold that the schema does not offer any more, or beyond the limit.")),
                ("offline", models.BooleanField(default=False, help_text="What stands for the LLM's labels was said by the offline model.")),
                ("quality", models.JSONField(help_text="See labelhub.core.learning.quality.", null=True)),
                ("curve", models.JSONField(help_text="See labelhub.core.learning.simulation.", null=True)),
                ("step", models.CharField(blank=True, help_text="What it is at, in words.", max_length=80)),
                ("share", models.FloatField(default=0, help_text="How much of the learning is done, 0 to 1.")),
                ("applied_to", models.PositiveBigIntegerField(default=0, help_text="Items up to this one have been looked at.")),
                ("applied", models.PositiveIntegerField(default=0, help_text="Items it has an opinion of.")),
                ("written", models.PositiveIntegerField(default=0, help_text="Labels that were news.")),
                ("attempts", models.PositiveSmallIntegerField(default=0, help_text="How often in a row it was taken up without getting further.")),
                ("lease_token", models.UUIDField(blank=True, help_text="Of the worker at it.", null=True)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("dispatched_until", models.DateTimeField(blank=True, help_text="A task for it is on its way.", null=True)),
                ("created_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("phase_at", models.DateTimeField(blank=True, help_text="When this status began.", null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-version"],
                "constraints": [models.UniqueConstraint(fields=("project", "version"), name="learning_model_version_once"), models.UniqueConstraint(condition=models.Q(("status__in", ["queued", "learning", "applying"])), fields=("project",), name="learning_one_at_a_time")],
            },
        ),
        migrations.CreateModel(
            name="Score",
            fields=[
                ("item", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="score", serialize=False, to="projects.item")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.project")),
                ("model", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="scores", to="learning.trainedmodel")),
                ("value", models.JSONField()),
                ("probability", models.FloatField(help_text="How likely it takes that value to be.")),
                ("margin", models.FloatField(help_text="How far ahead of the next likely one.")),
                ("gold", models.ForeignKey(help_text="What was judged.", null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="labels.gold")),
                ("gold_probability", models.FloatField(help_text="How likely it takes gold to be.", null=True)),
                ("suspicion", models.FloatField(help_text="Gold is probably wrong; the higher, the more so.", null=True)),
            ],
            options={
                "indexes": [models.Index(condition=models.Q(("suspicion__isnull", False)), fields=["project", "-suspicion"], name="learning_score_suspect")],
            },
        ),
    ]
