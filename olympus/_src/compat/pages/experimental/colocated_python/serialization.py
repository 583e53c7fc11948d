"""What libraries name of JAX's implementation."""

from olympus._src.runtime.versions import DeviceList as DeviceList

__all__ = ["DeviceList"]
