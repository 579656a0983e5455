"""The name server: registered brokers and the routes of topics. It keeps routes in memory and settings in one file."""
