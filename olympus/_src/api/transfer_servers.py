"""Arrays that processes fetch from one another, over jaxlib's own connections."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.api.shapes import ShapeDtypeStruct
from olympus._src.core.array_type import Array, PyTree
from olympus._src.core.avals import ShapedArray
from olympus._src.interpreters import concrete_arrays
from olympus._src.runtime import versions
from olympus._src.runtime.array import ArrayImpl


def _client_of(name: str, x: Any) -> Any:
    """The client of the devices of a type, which a sharding names."""
    sharding = getattr(x, "sharding", None)
    if not isinstance(x, ShapeDtypeStruct) or sharding is None:
        raise TypeError(
            f"{name}: each type must be a ShapeDtypeStruct with a sharding, which says "
            f"where the array goes, got {x!r}; give it that of an array"
        )
    return next(iter(sharding.device_set)).client


def _aval_of(name: str, x: Any) -> Any:
    aval = ShapedArray(x.shape, x.dtype, bool(x.weak_type))
    _check_sent(name, aval)
    return aval.update(sharding=x.sharding)


def _check_sent(name: str, aval: Any) -> None:
    if aval.storage is not aval:
        raise TypeError(
            f"{name}: arrays of {aval.short()} stand for others and are not sent; send "
            "what they hold, as random.key_data gives it"
        )


def _wrap(buffer: Any, aval: Any, sharding: Any) -> Any:
    return ArrayImpl(versions.rewrap_buffer(buffer, aval, sharding), aval, True)


def _empty(x: ShapeDtypeStruct) -> Any:
    """An array without elements: jaxlib would wait for its bytes for ever."""
    return concrete_arrays.on_sharding(np.empty(x.shape, x.dtype), x.sharding)


class TransferConnection:
    """A connection to another process's server, made by `TransferServer.connect`."""

    __slots__ = ("_connection",)

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def pull(
        self, uuid: int, xs: PyTree, timeout: datetime.datetime | None = None
    ) -> PyTree:
        """The arrays that the other process offers under a number.

        It waits until they are offered.

        Args:
          uuid: the number.
          xs: a pytree of `ShapeDtypeStruct`, each with a sharding of this process.
          timeout: when to give up; None for never.

        Returns:
          Arrays, in the structure of `xs`.

        Raises:
          TypeError: a type has no sharding.
          OlympusRuntimeError: the other process ended, or the time was over.
        """
        name = "TransferConnection.pull"
        leaves, structure = tree.tree_flatten(xs)
        if not leaves:
            return xs
        clients = [_client_of(name, x) for x in leaves]
        avals = [_aval_of(name, x) for x in leaves]
        sent = [x for x, aval in zip(leaves, avals, strict=True) if aval.size]
        limits = {} if timeout is None else {"timeout": timeout}
        pull = self._connection._pull_flat
        buffers = iter(pull(uuid, clients[0], sent, **limits) if sent else ())
        return structure.unflatten(
            [
                _wrap(next(buffers), aval, x.sharding) if aval.size else _empty(x)
                for x, aval in zip(leaves, avals, strict=True)
            ]
        )


class TransferServer:
    """Offers arrays of this process to others, made by `start_transfer_server`."""

    __slots__ = ("_server",)

    def __init__(self, server: Any) -> None:
        self._server = server

    def address(self) -> str:
        """Where others connect to."""
        return self._server.address()

    def connect(self, address: str) -> TransferConnection:
        """A connection to the server of another process, or to this one.

        Args:
          address: as that server's `address` gives it.
        """
        return TransferConnection(self._server.connect(address))

    def await_pull(
        self, uuid: int, arrays: PyTree, timeout: datetime.datetime | None = None
    ) -> None:
        """Offers arrays under a number, once, to whoever asks for it.

        Args:
          uuid: the number.
          arrays: a pytree of arrays.
          timeout: until when they are kept; None for ever.

        Raises:
          TypeError: a leaf is no array.
        """
        name = "TransferServer.await_pull"
        buffers = []
        for x in tree.tree_leaves(arrays):
            if not isinstance(x, Array):
                raise TypeError(f"{name}: leaves must be arrays, got {x!r}")
            array = concrete_arrays.as_array(x)
            _check_sent(name, array.aval)
            if array.size:
                buffers.append(array._buffer)
        limits = {} if timeout is None else {"timeout": timeout}
        self._server._await_pull_flat(uuid, buffers, **limits)


def start_transfer_server(*args: Any, **kwargs: Any) -> TransferServer:
    """Starts a server that offers arrays of this process to others.

    Args:
      *args: the client of the devices, as `olympus.devices()[0].client`; the address to
        listen at, by default '[::]:0' for any free port; and a list of addresses for
        the data, which must not be empty between machines.
      **kwargs: the same by name (`client`, `address`, `transport_addresses`), and
        further options of jaxlib's.

    Returns:
      A `TransferServer`.

    Example:
      >>> import olympus
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import transfer
      >>> client, address = olympus.devices()[0].client, '127.0.0.1:0'
      >>> server = transfer.start_transfer_server(client, address, [address])
      >>> x = jnp.arange(3)
      >>> server.await_pull(7, {'a': x})
      >>> kind = olympus.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding)
      >>> server.connect(server.address()).pull(7, {'a': kind})
      {'a': Array([0, 1, 2], dtype=int32)}
    """
    return TransferServer(versions.start_transfer_server(*args, **kwargs))


def make_error_array(aval: Any, message: Any) -> Array:
    """An array that stands for one that could not be computed: reading it raises.

    Args:
      aval: a `ShapeDtypeStruct` with a sharding.
      message: of the error.
    """
    name = "make_error_array"
    client, kind = _client_of(name, aval), _aval_of(name, aval)
    buffer = versions.make_error_array(client, aval, str(message))
    return _wrap(buffer, kind, aval.sharding)
