"""The controller: decides which replica of a broker name is its master (controller/README.md)."""
