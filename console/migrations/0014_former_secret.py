from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("console", "0013_token_address")]

    operations = [
        migrations.AddField(
            model_name="channel",
            name="former_secret",
            field=models.CharField(default="", max_length=200),
        ),
        migrations.AddField(
            model_name="channel",
            name="former_secret_until",
            field=models.DateTimeField(null=True),
        ),
    ]
