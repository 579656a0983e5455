"""Four ways to consume: by offset, by being called, one after the other, and by lease."""
