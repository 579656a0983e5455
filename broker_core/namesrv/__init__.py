"""The name server: who is there, and where each topic is. It keeps routes in memory and settings in one file."""
