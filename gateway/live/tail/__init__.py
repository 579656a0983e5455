"""``/ws/v1/tail``: messages of topics as they are stored, filtered, without a consumer group."""
