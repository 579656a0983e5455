"""Sends messages that are seen only when something else was done: here a row in a database."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from contextlib import closing

from broker_core.client import ClientConfig, Decision, Message, Session, StoredMessage, TransactionProducer


async def main(name_server: str, database: str = ":memory:") -> None:
    with closing(sqlite3.connect(database)) as orders:
        orders.execute("CREATE TABLE IF NOT EXISTS paid (id TEXT PRIMARY KEY)")
        async with Session(ClientConfig([name_server])) as session:
            await pay(session, orders)


async def pay(session: Session, orders: sqlite3.Connection) -> None:
    def check(message: StoredMessage) -> Decision:
        row = orders.execute("SELECT id FROM paid WHERE id = ?", [message.keys[0]]).fetchone()
        return Decision.ROLLBACK if row is None else Decision.COMMIT

    def insert(message: Message) -> Decision:
        with orders:
            done = orders.execute("INSERT OR IGNORE INTO paid VALUES (?)", [message.keys[0]])
        return Decision.COMMIT if done.rowcount else Decision.ROLLBACK

    async with TransactionProducer(session, "payments", check) as producer:
        for key in ("A17", "A18", "A17"):
            sent = await producer.send(Message.create("orders", b"paid", keys=[key]), insert)
            print(f"{key}: {sent.decision.name}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
