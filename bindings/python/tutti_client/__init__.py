"""Publishes and subscribes to topics of Tutti from outside, through a relay. Pure Python.

    with tutti_client.Client(["127.0.0.1:7201", "127.0.0.1:7202"]) as client:
        print(client.publish("log", b"hello").position)
        for received in client.subscribe("log", "stored"):
            print(received)

AsyncClient has the same for asyncio. docs/client-protocol.md says what is promised.
"""

from ._client import (
    AsyncClient,
    AsyncSubscription,
    Client,
    Ended,
    Gap,
    Published,
    RelayError,
    Sample,
    Subscription,
)
from ._frames import Service, TopicInfo

__all__ = ["AsyncClient", "AsyncSubscription", "Client", "Ended", "Gap", "Published", "RelayError",
           "Sample", "Service", "Subscription", "TopicInfo"]
