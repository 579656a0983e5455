from django.db import migrations, models


def _keep_requests(apps, schema_editor):
    apps.get_model("console", "Job").objects.filter(wanted="cancelled").update(cancel_requested=True)


def _keep_words(apps, schema_editor):
    apps.get_model("console", "Job").objects.filter(cancel_requested=True).update(wanted="cancelled")


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0004_audit_address"),
    ]

    operations = [
        migrations.AddField("job", "cancel_requested", models.BooleanField(default=False)),
        migrations.RunPython(_keep_requests, _keep_words),
        migrations.RemoveField("job", "wanted"),
    ]
