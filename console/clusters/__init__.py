"""Room: the clusters that the console knows, and connections to them."""
