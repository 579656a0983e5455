"""Live views of lag, throughput and jobs over WebSocket: relays what the sampler and the jobs publish."""
