"""Delivery at any time: messages wait in a system topic until they are due (broker/README.md#delivery-times)."""
