from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("common", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=40)),
                ("subject", models.PositiveBigIntegerField()),
                ("attempts", models.PositiveSmallIntegerField(default=0, help_text="How often it was taken up since it last got further.")),
                ("lease_token", models.UUIDField(blank=True, help_text="Of the worker at it.", null=True)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("sent_until", models.DateTimeField(blank=True, help_text="Until then no other task is sent for it.", null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("kind", "subject"), name="common_job_once")]},
        ),
    ]
