"""The replicas of broker names: who is master, and how far the others are behind."""
