from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('console', '0017_job_pause'),
    ]

    operations = [
        migrations.RenameField('job', 'deaths', 'retries'),
        migrations.AddField('job', 'max_retries', models.PositiveIntegerField(default=3)),
        migrations.AddField('job', 'next_try_at', models.DateTimeField(null=True)),
    ]
