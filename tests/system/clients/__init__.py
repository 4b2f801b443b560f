"""The long run of clients: processes that are no members, which are killed and come again."""
