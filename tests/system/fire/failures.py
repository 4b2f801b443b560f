"""How a round may end other than well."""


class Failure(AssertionError):
    """A member ended in a wrong way, or something worse happened."""


class Violation(Failure):
    """The histories are not what the library promises."""


class Hang(Failure):
    """Something that must happen did not happen in time."""


class GroupLost(Failure):
    """No majority is left to go on."""


class Removed(GroupLost):
    """A member was removed that no fault had struck, when all were to go on together."""
