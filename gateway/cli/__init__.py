"""The command line (docs/command-line.md): a client of the HTTP API that knows nothing else of Gantry."""
