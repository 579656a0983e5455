"""The first reader of the HTTP port: usual requests to the data plane are answered here, all others by the server."""
