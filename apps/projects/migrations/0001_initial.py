import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Project",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("name", models.CharField(max_length=200)),
                ("description", models.TextField(blank=True)),
                ("overlap", models.PositiveSmallIntegerField(default=1, help_text="How many people label each item.", validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(20)])),
                ("review_scope", models.CharField(choices=[("all", "Everything, uncertain items first"), ("doubtful", "Only what the debate was unsure of")], default="all", max_length=10)),
                ("queue_order", models.CharField(choices=[("uncertainty", "The most uncertain first"), ("random", "At random"), ("oldest", "The oldest first")], default="uncertainty", max_length=12)),
                ("dispute_above", models.FloatField(blank=True, help_text="From this confidence on a machine that contradicts what reviewers decided brings the item to an expert; empty: never.", null=True, validators=[django.core.validators.MinValueValidator(0.5), django.core.validators.MaxValueValidator(1)])),
                ("blind_share", models.FloatField(default=0, help_text="Of the items, shown without any suggestion.", validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ("check_share", models.FloatField(default=0, help_text="Of what is handed out, items of known answer.", validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ("qualify_items", models.PositiveSmallIntegerField(default=0, help_text="Items of known answer before a reviewer's real work begins.", validators=[django.core.validators.MaxValueValidator(200)])),
                ("qualify_accuracy", models.FloatField(default=0.8, help_text="How many of those must be right.", validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ("created_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["name", "pk"],
            },
        ),
        migrations.CreateModel(
            name="Guideline",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="guidelines", to="projects.project")),
                ("version", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("created_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["-version"],
                "constraints": [models.UniqueConstraint(fields=("project", "version"), name="projects_guideline_version_once")],
            },
        ),
        migrations.CreateModel(
            name="ImportBatch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="imports", to="projects.project")),
                ("file_name", models.CharField(max_length=255)),
                ("stored_path", models.CharField(blank=True, help_text="Below the data folder; empty once done.", max_length=500)),
                ("format", models.CharField(max_length=20)),
                ("columns", models.JSONField(blank=True, default=dict, help_text="Field → column, as chosen in the preview.")),
                ("strict", models.BooleanField(default=False)),
                ("status", models.CharField(choices=[("uploaded", "Waiting for the choice of columns"), ("queued", "Queued"), ("running", "Importing"), ("done", "Done"), ("failed", "Failed")], default="uploaded", max_length=10)),
                ("message", models.TextField(blank=True)),
                ("bytes_total", models.PositiveBigIntegerField(default=0)),
                ("bytes_done", models.PositiveBigIntegerField(default=0)),
                ("rows_done", models.PositiveBigIntegerField(default=0)),
                ("created", models.PositiveBigIntegerField(default=0)),
                ("filled", models.PositiveBigIntegerField(default=0, help_text="Were there by their id only, and got their content.")),
                ("unchanged", models.PositiveBigIntegerField(default=0)),
                ("conflicts", models.PositiveBigIntegerField(default=0)),
                ("failed", models.PositiveBigIntegerField(default=0)),
                ("labels_created", models.PositiveBigIntegerField(default=0)),
                ("errors", models.JSONField(blank=True, default=list, help_text="The first faults: row, field, message.")),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("created_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "verbose_name_plural": "import batches",
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="LabelSchema",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="schemas", to="projects.project")),
                ("version", models.PositiveIntegerField()),
                ("definition", models.JSONField(help_text="As read by labelhub.core.schema.parse_schema.")),
                ("carrying", models.BooleanField(default=False, help_text="Labels of older versions are being carried over to it.")),
                ("created_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["-version"],
                "constraints": [models.UniqueConstraint(fields=("project", "version"), name="projects_schema_version_once")],
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to="projects.project")),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to=settings.AUTH_USER_MODEL)),
                ("role", models.CharField(choices=[("manager", "Manager"), ("reviewer", "Reviewer"), ("viewer", "Viewer")], max_length=10)),
                ("kind", models.CharField(choices=[("crowd", "Crowd"), ("expert", "Expert")], default="crowd", max_length=10)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["role", "pk"],
                "constraints": [models.UniqueConstraint(fields=("project", "user"), name="projects_membership_once")],
            },
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="items", to="projects.project")),
                ("external_id", models.CharField(max_length=200)),
                ("text", models.TextField()),
                ("context", models.JSONField(blank=True, default=list, help_text='[{"role": "user|assistant", "text"}]')),
                ("question", models.TextField(blank=True)),
                ("options", models.JSONField(blank=True, default=list)),
                ("meta", models.JSONField(blank=True, default=dict)),
                ("content_hash", models.CharField(max_length=32)),
                ("batch", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="items", to="projects.importbatch")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [models.UniqueConstraint(fields=("project", "external_id"), name="projects_item_external_id_once")],
            },
        ),
        migrations.CreateModel(
            name="SchemaChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="schema_changes", to="projects.project")),
                ("from_schema", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.labelschema")),
                ("to_schema", models.OneToOneField(help_text="None until it is begun.", null=True, on_delete=django.db.models.deletion.CASCADE, related_name="change", to="projects.labelschema")),
                ("operations", models.JSONField(default=list, help_text="As read by labelhub.core.schema.operations.")),
                ("reverts", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="reverted_by", to="projects.schemachange")),
                ("reason", models.TextField(blank=True)),
                ("status", models.CharField(choices=[("previewed", "Not begun"), ("running", "Labels are being carried over"), ("done", "Done"), ("failed", "Stopped by a fault")], default="previewed", max_length=10)),
                ("message", models.TextField(blank=True)),
                ("preview", models.JSONField(blank=True, default=dict, help_text="What was said beforehand.")),
                ("counts", models.JSONField(blank=True, default=dict, help_text="What has been done so far.")),
                ("items_total", models.PositiveIntegerField(default=0)),
                ("items_done", models.PositiveIntegerField(default=0)),
                ("cursor", models.BigIntegerField(default=0)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("created_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [models.UniqueConstraint(condition=models.Q(("status__in", ["running", "failed"])), fields=("project",), name="projects_one_schema_change")],
            },
        ),
    ]
