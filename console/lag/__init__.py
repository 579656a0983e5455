"""Room: lag and throughput, sampled once a second."""
