"""What may still change: callbacks with side effects."""

from olympus._src.higher_order.host_calls import io_callback

__all__ = ["io_callback"]
