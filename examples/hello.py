"""A member of a group of three: run it three times, with the arguments a, b and c. Each sends one
line; all print the same three lines in the same order."""

import sys

import tutti

members = {"a": "127.0.0.1:7101", "b": "127.0.0.1:7102", "c": "127.0.0.1:7103"}
with tutti.Node(sys.argv[1], members) as node:
    group = node.join("log")
    node.start()  # waits for the other two
    group.send(f"hello from {sys.argv[1]}".encode())
    group.finish()  # this member sends no more
    for batch in group:  # until all have finished
        for message in batch:
            print(message.seq, group.name_of(message.sender), bytes(message).decode())
