from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('console', '0033_failover_alerts'),
    ]

    operations = [
        migrations.AddField(
            model_name='knownbroker',
            name='processes',
            field=models.JSONField(default=dict),
        ),
    ]
