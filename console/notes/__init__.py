"""Notes of topics: what a team wants everybody to know about one, in Markdown."""
