"""Changes of a group's offsets: a plan that is shown first, its application, and the way back."""
