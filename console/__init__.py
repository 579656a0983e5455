"""The console's records: users, tokens, clusters, audit, lag and jobs, one room each."""
