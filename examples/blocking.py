"""Sends and administers without an event loop: for threads of web requests, tasks and commands."""

from __future__ import annotations

import sys

from broker_core.client import BlockingSession, CallTimedOut, ClientConfig, Message


def main(name_server: str) -> None:
    with BlockingSession(ClientConfig([name_server])) as session:
        producer = session.producer("checkout")
        result = session.run(producer.send(Message.create("orders", b"from a thread", keys=["A18"])))
        print(f"{result.message_id} is {result.status}")
        try:
            topics = session.run(session.admin.topics.list(), timeout_s=5)
        except CallTimedOut as error:
            print(f"the brokers are slow: {error}")
        else:
            print(f"there are {len(topics.found)} topics")


if __name__ == "__main__":
    main(*sys.argv[1:])
