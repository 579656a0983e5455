"""What happens in a cluster, as a feed of events: who came and went, what was created, what fell behind."""
