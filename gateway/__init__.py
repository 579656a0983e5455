"""The gateway: HTTP and WebSocket doors to the brokers, and the processes that serve them."""
