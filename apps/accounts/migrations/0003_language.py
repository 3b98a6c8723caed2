from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_notifications_and_first_password")]

    operations = [
        migrations.AddField(
            "user",
            "language",
            models.CharField(blank=True, editable=False, help_text="Chosen in a page; for their e-mails.", max_length=10),
        ),
    ]
