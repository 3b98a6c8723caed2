from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("echo", "0002_no_roll_back")]

    operations = [
        migrations.RemoveField("echo", "digest"),
        migrations.RemoveField("snapshot", "digest"),
    ]
