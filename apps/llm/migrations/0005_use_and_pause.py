from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("llm", "0004_provider_test_failed"),
    ]

    operations = [
        migrations.AddField(
            model_name="provider",
            name="paused_at",
            field=models.DateTimeField(editable=False, help_text="An operator lets nothing call it until they resume it.", null=True),
        ),
        migrations.AddField(
            model_name="dailyuse",
            name="cost_nanousd",
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="dailyuse",
            name="errors",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="dailyuse",
            name="unpriced",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
    ]
