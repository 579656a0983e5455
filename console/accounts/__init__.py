"""Room: users, their roles and their tokens."""
