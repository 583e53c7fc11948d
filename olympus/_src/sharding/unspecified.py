"""What stands for a placement that nobody chose, where a library names it."""


class UnspecifiedValue:
    """The type of `UNSPECIFIED`, which arguments of shardings take for None."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UnspecifiedValue"


UNSPECIFIED = UnspecifiedValue()
