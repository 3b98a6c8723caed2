from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_api_keys")]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="rotated_at",
            field=models.DateTimeField(
                blank=True,
                help_text="When another key took its place; it soon ends.",
                null=True,
            ),
        ),
    ]
