"""Live views of lag, throughput and jobs over WebSocket: forwards what the sampler and the jobs publish."""
