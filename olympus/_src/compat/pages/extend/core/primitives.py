"""All primitives, with those that programs of olympus never hold."""

from olympus._src.compat.pages.lax import APPROXIMATED as APPROXIMATED
from olympus._src.compat.pages.lax import device_put_p as device_put_p
from olympus._src.compat.pages.lax import ragged_all_to_all_p as ragged_all_to_all_p
from olympus._src.compat.pages.lax import select_and_scatter_p as select_and_scatter_p

__all__ = ["device_put_p", "ragged_all_to_all_p", "select_and_scatter_p"]
