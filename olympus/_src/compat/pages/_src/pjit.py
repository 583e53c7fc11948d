"""What stands for a placement that nobody chose."""

from olympus._src.sharding.unspecified import UNSPECIFIED as UNSPECIFIED
from olympus._src.sharding.unspecified import UnspecifiedValue as UnspecifiedValue

__all__ = ["UNSPECIFIED", "UnspecifiedValue"]
