"""Publishes and subscribes to topics of Tutti from outside, through a relay. Pure Python.

    with tutti_client.Client(["127.0.0.1:7201", "127.0.0.1:7202"]) as client:
        print(client.publish("log", b"hello").position)
        for received in client.subscribe("log", "stored"):
            print(received)

AsyncClient has the same for asyncio. docs/client-protocol.md says what is promised.
"""

from ._blocking import Client, Subscription
from ._client import AsyncClient, AsyncSubscription
from ._frames import Service, TopicInfo
from ._types import Ended, Gap, Published, RelayError, Sample

__all__ = ["AsyncClient", "AsyncSubscription", "Client", "Ended", "Gap", "Published", "RelayError",
           "Sample", "Service", "Subscription", "TopicInfo"]
