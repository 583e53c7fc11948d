"""Saving arrays one by one in the background, under the names that JAX has."""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.array_serialization import pytree_serialization
from olympus._src.array_serialization.pytree_serialization import PyTreeFuture
from olympus._src.core.array_type import Array, DTypeLike, Shape

_DRIVER = "olympus"
Spec = dict[str, Any]


def get_tensorstore_spec(
    ckpt_path: str | os.PathLike[str], ocdbt: bool = False
) -> Spec:
    """Says where an array is saved, for the methods that take such a description.

    Args:
      ckpt_path: a folder for this array only.
      ocdbt: for JAX's programs; without effect.

    Returns:
      A dictionary; tensorstore itself cannot read it.

    Example:
      >>> from olympus.experimental.array_serialization import serialization
      >>> serialization.get_tensorstore_spec('saves/w')
      {'driver': 'olympus', 'kvstore': {'driver': 'file', 'path': 'saves/w'}}
    """
    path = os.fspath(ckpt_path)
    return {"driver": _DRIVER, "kvstore": {"driver": "file", "path": path}}


def _path_of(spec: Any, what: str) -> str:
    if not isinstance(spec, dict) or spec.get("driver") != _DRIVER:
        raise ValueError(
            f"{what}: tensorstore_specs must come from get_tensorstore_spec(path), got "
            f"{spec!r}; formats of tensorstore are not written or read"
        )
    return str(spec["kvstore"]["path"])


class GlobalAsyncCheckpointManagerBase(abc.ABC):
    """What saves arrays in the background.

    Call `wait_until_finished` before the program ends, and before arrays are loaded
    that are still being saved.
    """

    @abc.abstractmethod
    def check_for_errors(self) -> None:
        """Raises what a save raised that has ended."""

    @abc.abstractmethod
    def wait_until_finished(self) -> None:
        """Waits until all saves have ended; raises what one of them raised."""

    @abc.abstractmethod
    def serialize(
        self,
        arrays: Sequence[Array],
        tensorstore_specs: Sequence[Spec],
        *,
        on_commit_callback: Callable[[], None],
    ) -> None:
        """Saves arrays."""

    @abc.abstractmethod
    def deserialize(
        self,
        shardings: Sequence[Any],
        tensorstore_specs: Sequence[Spec],
        global_shapes: Sequence[Shape] | None = None,
        dtypes: Sequence[DTypeLike] | None = None,
    ) -> list[Array]:
        """Loads arrays."""


class GlobalAsyncCheckpointManager(GlobalAsyncCheckpointManagerBase):
    """Saves arrays in the background, each in a folder.

    A tree is saved as a whole by `pytree_serialization.nonblocking_save`, which is
    preferable: its save is one, of all arrays or none.

    Args:
      timeout_secs: for JAX's programs; how long processes wait for each other is the
        setting `olympus_peer_lag_limit_s`.

    Example:
      >>> import tempfile
      >>> import olympus, olympus.numpy as jnp
      >>> from olympus.experimental.array_serialization import serialization
      >>> manager = serialization.GlobalAsyncCheckpointManager()
      >>> place = olympus.sharding.SingleDeviceSharding(olympus.devices()[0])
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     manager.serialize_with_paths([jnp.arange(3)], [folder])
      ...     manager.wait_until_finished()
      ...     manager.deserialize_with_paths([place], [folder])
      [Array([0, 1, 2], dtype=int32)]
    """

    def __init__(self, timeout_secs: int = 300) -> None:
        self.timeout_secs = timeout_secs
        self._saves: list[PyTreeFuture] = []

    def check_for_errors(self) -> None:
        """Raises what a save raised that has ended.

        Raises:
          Exception: what `pytree_serialization.save` raises.
        """
        ended = [save for save in self._saves if save.done()]
        self._saves = [save for save in self._saves if save not in ended]
        for save in ended:
            save.result()

    def wait_until_finished(self) -> None:
        """Waits until all saves have ended.

        Raises:
          Exception: what `pytree_serialization.save` raises.
        """
        saves, self._saves = self._saves, []
        for save in saves:
            save.exception()
        for save in saves:
            save.result()

    def serialize(
        self,
        arrays: Sequence[Array],
        tensorstore_specs: Sequence[Spec],
        *,
        on_commit_callback: Callable[[], None] | None = None,
        transaction: None = None,
    ) -> None:
        """Starts to save arrays; waits for earlier saves first.

        Args:
          arrays: the arrays.
          tensorstore_specs: for each what `get_tensorstore_spec` returned.
          on_commit_callback: called in process 0 when all are saved.
          transaction: for JAX's programs; must be None.

        Raises:
          ValueError: a description is one of tensorstore, or `transaction` is given.
        """
        what = "GlobalAsyncCheckpointManager.serialize"
        if transaction is not None:
            raise ValueError(
                f"{what}: transaction must be None, got {transaction!r}; save a tree "
                "by pytree_serialization.save, which is saved as a whole"
            )
        paths = [_path_of(spec, what) for spec in tensorstore_specs]
        self.wait_until_finished()
        callbacks: list[Any] = [None] * len(paths)
        if paths:
            callbacks[-1] = on_commit_callback  # saves end in their order
        self._saves = [
            pytree_serialization.start_save(array, path, True, None, what, callback)
            for array, path, callback in zip(arrays, paths, callbacks, strict=True)
        ]

    def serialize_with_paths(
        self,
        arrays: Sequence[Array],
        paths: Sequence[str],
        *,
        on_commit_callback: Callable[[], None] | None = None,
        transaction: None = None,
    ) -> None:
        """As `serialize`, with a folder for each array."""
        specs = list(map(get_tensorstore_spec, paths))
        self.serialize(
            arrays,
            specs,
            on_commit_callback=on_commit_callback,
            transaction=transaction,
        )

    def deserialize(
        self,
        shardings: Sequence[Any],
        tensorstore_specs: Sequence[Spec],
        global_shapes: Sequence[Shape] | None = None,
        dtypes: Sequence[DTypeLike] | None = None,
        concurrent_gb: int = 32,
    ) -> list[Array]:
        """Loads arrays; waits for earlier saves first.

        Args:
          shardings: for each array, or one of them for all.
          tensorstore_specs: for each what `get_tensorstore_spec` returned.
          global_shapes: for each the saved shape; None for any.
          dtypes: for each the dtype of the result; None for the saved ones.
          concurrent_gb: for JAX's programs; without effect.

        Raises:
          ValueError: an array has another shape, or a description is one of
            tensorstore.
        """
        what = "GlobalAsyncCheckpointManager.deserialize"
        paths = [_path_of(spec, what) for spec in tensorstore_specs]
        self.wait_until_finished()
        none = [None] * len(paths)
        rows = zip(shardings, paths, global_shapes or none, dtypes or none, strict=True)
        return [_load(*row) for row in rows]

    def deserialize_with_paths(
        self,
        shardings: Sequence[Any],
        paths: Sequence[str],
        global_shapes: Sequence[Shape] | None = None,
        dtypes: Sequence[DTypeLike] | None = None,
        concurrent_gb: int = 32,
    ) -> list[Array]:
        """As `deserialize`, with a folder for each array."""
        specs = list(map(get_tensorstore_spec, paths))
        return self.deserialize(shardings, specs, global_shapes, dtypes, concurrent_gb)


def _load(sharding: Any, path: str, shape: Any, dtype: Any) -> Any:
    saved = pytree_serialization.load_pytreedef(path)
    fields = {"sharding": sharding}
    if shape is not None:
        fields["shape"] = tuple(shape)
    if dtype is not None:
        fields["dtype"] = dtype
    return pytree_serialization.load(path, saved.update(**fields))


def run_serialization(
    arrays: Sequence[Array], tensorstore_specs: Sequence[Spec]
) -> None:
    """Saves arrays, each in a folder, and waits for the end.

    Args:
      arrays: the arrays.
      tensorstore_specs: for each what `get_tensorstore_spec` returned.

    Raises:
      ValueError: a description is one of tensorstore.
    """
    manager = GlobalAsyncCheckpointManager()
    manager.serialize(arrays, tensorstore_specs)
    manager.wait_until_finished()


def run_deserialization(
    shardings: Sequence[Any],
    tensorstore_specs: Sequence[Spec],
    global_shapes: Sequence[Shape] | None = None,
    dtypes: Sequence[DTypeLike] | None = None,
    concurrent_gb: int = 32,
) -> list[Array]:
    """Loads arrays, each from a folder.

    Args:
      shardings: for each array.
      tensorstore_specs: for each what `get_tensorstore_spec` returned.
      global_shapes: for each the saved shape; None for any.
      dtypes: for each the dtype of the result; None for the saved ones.
      concurrent_gb: for JAX's programs; without effect.

    Raises:
      ValueError: an array has another shape, or a description is one of tensorstore.
    """
    manager = GlobalAsyncCheckpointManager()
    return manager.deserialize(
        shardings, tensorstore_specs, global_shapes, dtypes, concurrent_gb
    )
