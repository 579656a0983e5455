"""The header of every request and response, one file per conversation (remoting-protocol.md 2, 9)."""
