"""Four ways to consume: by offset, by callback, in order, and by lease."""
