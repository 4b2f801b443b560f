"""Real processes under fire: members that are killed, stopped, cut off and started again."""
