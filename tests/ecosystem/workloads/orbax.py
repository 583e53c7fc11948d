"""Orbax: checkpoints of trees, of several kinds of items, kept and restored by step."""

import pathlib
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
from etils import epath


def _tree():
    return {
        "params": {"w": jnp.arange(6.0).reshape(2, 3), "b": jnp.ones(3, "bfloat16")},
        "step": 7,
        "host": np.arange(4),
        "scale": 0.5,
    }


def _abstract(tree):
    return jax.tree.map(ocp.utils.to_shape_dtype_struct, tree)


def whole_trees():
    with tempfile.TemporaryDirectory() as folder:
        path = epath.Path(folder) / "tree"
        with ocp.StandardCheckpointer() as checkpointer:
            checkpointer.save(path, _tree())
            checkpointer.wait_until_finished()
            plain = checkpointer.restore(path)
            typed = checkpointer.restore(path, _abstract(_tree()))
            metadata = checkpointer.metadata(path)
    tree = getattr(metadata, "item_metadata", metadata)
    return {
        "w": plain["params"]["w"],
        "b": typed["params"]["b"].astype("float32"),
        "step": int(typed["step"]),
        "host": np.asarray(typed["host"]),
        "kind": isinstance(typed["params"]["w"], jax.Array),
        "metadata": list(tree["params"]["w"].shape),
        "device": typed["params"]["w"].sharding == jnp.ones(2).sharding,
    }


def parts_of_trees():
    with tempfile.TemporaryDirectory() as folder:
        path = epath.Path(folder) / "tree"
        with ocp.PyTreeCheckpointer() as checkpointer:
            checkpointer.save(path, _tree())
            restored = checkpointer.restore(
                path,
                args=ocp.args.PyTreeRestore(
                    {"params": {"w": 0}},
                    restore_args={"params": {"w": ocp.RestoreArgs(np.ndarray)}},
                    transforms={},
                ),
            )
            cast = checkpointer.restore(
                path,
                restore_args=jax.tree.map(
                    lambda x: (
                        ocp.ArrayRestoreArgs(dtype=jnp.float16)
                        if isinstance(x, jax.Array)
                        else ocp.RestoreArgs()
                    ),
                    _tree(),
                ),
            )
    return {
        "names": sorted(restored),
        "w": restored["params"]["w"],
        "cast": cast["params"]["w"].dtype.name,
    }


def managed():
    with tempfile.TemporaryDirectory() as folder:
        options = ocp.CheckpointManagerOptions(max_to_keep=2, save_interval_steps=2)
        with ocp.CheckpointManager(folder, options=options) as manager:
            for step in range(7):
                state = {"x": jnp.full(3, float(step)), "n": step}
                manager.save(step, args=ocp.args.StandardSave(state))
            manager.wait_until_finished()
            restored = manager.restore(
                manager.latest_step(), args=ocp.args.StandardRestore(_abstract(state))
            )
            return {
                "steps": list(manager.all_steps()),
                "latest": manager.latest_step(),
                "x": restored["x"],
                "n": int(restored["n"]),
            }


def best():
    with tempfile.TemporaryDirectory() as folder:
        options = ocp.CheckpointManagerOptions(
            max_to_keep=1, best_fn=lambda metrics: metrics["loss"], best_mode="min"
        )
        with ocp.CheckpointManager(folder, options=options) as manager:
            for step, loss in enumerate([3.0, 1.0, 2.0]):
                manager.save(
                    step,
                    args=ocp.args.StandardSave({"x": jnp.asarray(step)}),
                    metrics={"loss": loss},
                )
            manager.wait_until_finished()
            return manager.best_step()


def composite():
    with (
        tempfile.TemporaryDirectory() as folder,
        ocp.CheckpointManager(folder) as manager,
    ):
        manager.save(
            0,
            args=ocp.args.Composite(
                state=ocp.args.StandardSave({"x": jnp.arange(3)}),
                extra=ocp.args.JsonSave({"epoch": 4, "names": ["a"]}),
                key=ocp.args.JaxRandomKeySave(jax.random.key(5)),
            ),
        )
        manager.wait_until_finished()
        restored = manager.restore(
            0,
            args=ocp.args.Composite(
                state=ocp.args.StandardRestore({"x": jnp.zeros(3, "int32")}),
                extra=ocp.args.JsonRestore(),
                key=ocp.args.JaxRandomKeyRestore(),
            ),
        )
    return {
        "x": restored["state"]["x"],
        "extra": restored["extra"],
        "key": jax.random.key_data(restored["key"]),
    }


def optimizer_states():
    params = {"w": jnp.ones(3)}
    optimizer = optax.adam(1e-2)
    state = optimizer.init(params)
    _, state = optimizer.update(params, state)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "optimizer"
        with ocp.StandardCheckpointer() as checkpointer:
            checkpointer.save(path, state)
            checkpointer.wait_until_finished()
            restored = checkpointer.restore(path, _abstract(state))
    return {"kind": type(restored[0]).__name__, "mu": restored[0].mu["w"]}


def sharded():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",))
    spec = jax.sharding.PartitionSpec("x")
    sharding = jax.sharding.NamedSharding(mesh, spec)
    array = jax.device_put(jnp.arange(4.0), sharding)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "array"
        with ocp.StandardCheckpointer() as checkpointer:
            checkpointer.save(path, {"a": array})
            checkpointer.wait_until_finished()
            restored = checkpointer.restore(path, _abstract({"a": array}))["a"]
    return {"value": restored, "spec": str(restored.sharding.spec)}


def asynchronous():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "later"
        with ocp.AsyncCheckpointer(ocp.StandardCheckpointHandler()) as checkpointer:
            x = jnp.arange(3.0)
            checkpointer.save(path, args=ocp.args.StandardSave({"x": x}))
            checkpointer.wait_until_finished()
            return checkpointer.restore(path)["x"]
