"""Arrays from values: array, zeros, full, eye, ...

Where nothing is staged, the values are made by NumPy and put on the device, which
compiles nothing. In a staged program filled arrays are broadcasts.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from olympus._src.core import avals, dtypes, explicit_shardings, trace
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    DTypeLike,
    Placement,
    Shape,
    SupportsShape,
)
from olympus._src.core.sizes import is_symbolic
from olympus._src.foundation import array_protocol, vocabulary
from olympus._src.interpreters import concrete_arrays, evaluate, placed_values
from olympus._src.lax import (
    elementwise,
    families,
    shaping,
    sharding_constraints,
    stacking,
)
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import (
    docstring_examples,
    promotion,
)
from olympus._src.numpy.promotion import aval_of
from olympus._src.sharding import contexts, single_devices

if TYPE_CHECKING:
    from olympus._src.numpy import function_types

ShapedArray = avals.ShapedArray

# -- array -----------------------------------------------------------------------------


def array(
    object: Any,
    dtype: DTypeLike | None = None,
    *,
    copy: bool | None = True,
    order: str | None = "K",
    ndmin: int = 0,
    device: Placement = None,
    out_sharding: Placement = None,
) -> Array:
    """Converts a value to an array.

    Differs from NumPy: the default dtypes are 32 bits wide unless 64-bit dtypes are
    switched on.

    Args:
      object: array, number, or nested sequences of them.
      dtype: element type; default that of the elements together.
      copy: False for the array itself where it is one of that dtype.
      order: None, "K" or "C"; there is no other layout.
      ndmin: least number of axes; new ones go in front.
      device: where it lives; default the default device.
      out_sharding: in its place, how it is spread over devices.

    Returns:
      An array; weakly typed where `object` is a Python number and no dtype is given.

    Raises:
      TypeError: the elements are not numbers.
      ValueError: nested sequences are not of equal lengths, or contain None.
      OverflowError: an integer is too large for the dtype.

    Source: NumPy, `numpy.array`.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.array([[1, 2], [3, 4]])
      Array([[1, 2],
             [3, 4]], dtype=int32)
    """
    if order not in (None, "K", "C"):
        raise NotImplementedError(
            f"numpy.array: order must be None, 'K' or 'C', got {order!r}; the layout "
            "of an array is the compiler's to choose"
        )
    device = out_sharding if device is None else device
    kind = None if dtype is None else dtypes.check_user_dtype(dtype, "array")
    out = _make(object, kind, device)
    if copy and out is object and not isinstance(out, trace.Tracer):
        out = shaping.copy_p.bind(out)
    rank = aval_of(out).ndim
    if rank < ndmin:
        shaping.check_rank("numpy.array: ndmin", ndmin)
        out = shaping.expand_dims(out, tuple(range(ndmin - rank)))
    return constrain_to_device(out, device)


def asarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: Placement = None,
    out_sharding: Placement = None,
) -> Array:
    """Converts a value to an array; an array of that dtype is returned unchanged.

    Differs from NumPy: the default dtypes are 32 bits wide unless 64-bit dtypes are
    switched on; there is no `like`.

    Args:
      a: array, number, or nested sequences of them.
      dtype: element type; default that of the elements together.
      order: None, "K" or "C"; there is no other layout.
      copy: True for a new array; False to refuse where a copy would be needed.
      device, out_sharding: where it lives.

    Raises:
      TypeError: the elements are not numbers.
      ValueError: `copy` is False and the value is not an array of that dtype.

    Source: NumPy, `numpy.asarray`.

    Example:
      >>> jnp.asarray([1, 2, 3], dtype=jnp.float32)
      Array([1., 2., 3.], dtype=float32)
    """
    plain = copy is None and order is None and device is None and out_sharding is None
    if (
        plain
        and type(a) is concrete_arrays.ArrayImpl
        and (dtype is None or (a.dtype is dtype and not a.aval.weak_type))
    ):
        same: Any = a
        return same
    if plain and dtype is None and type(a) is np.ndarray and _is_plain(a.dtype):
        return put_values(a, ShapedArray(a.shape, a.dtype), None)
    out = array(
        a, dtype, copy=bool(copy), order=order, device=device, out_sharding=out_sharding
    )
    if copy is False and out is not a:
        raise ValueError(
            "numpy.asarray: copy=False requires an array of the requested dtype, got "
            f"{type(a).__name__}; leave out copy"
        )
    return out


def _is_plain(dtype: np.dtype) -> bool:
    """Whether arrays have this dtype as it is: native and not to be narrowed."""
    return (
        dtype.isnative
        and dtypes.is_supported(dtype)
        and dtypes.canonicalize_dtype(dtype) is dtype
    )


def _make(x: Any, dtype: Any, device: Any) -> Any:
    """`x` as an array of a canonical dtype (None for its own)."""
    if isinstance(x, trace.Tracer) or type(x) is concrete_arrays.ArrayImpl:
        out = x if dtype is None else elementwise.convert(x, dtype, False)
        return move_to_device(out, device)
    if dtypes.is_python_scalar(x):
        return _of_scalar(x, dtype, device)
    if isinstance(x, (np.ndarray, np.generic)):
        return _of_numpy(x, dtype, device)
    if isinstance(x, (list, tuple)):
        return _of_sequence(x, dtype, device)
    if array_protocol.is_array(x):
        return _make(array_protocol.array_of(x), dtype, device)
    if x is None:
        raise ValueError(
            "None is not a valid value for numpy.array; leave the element out, or use "
            "nan where a number is missing"
        )
    if dtypes.is_extended(getattr(x, "dtype", None)):
        return x
    if hasattr(x, "__array__") or _is_buffer(x):
        return _of_numpy(np.asarray(x), dtype, device)
    if hasattr(x, "__iter__") and hasattr(x, "__len__"):
        return _of_numpy(np.asarray(x), dtype, device)
    if _is_number(x) and dtype is not None:
        return _of_numpy(np.asarray(x), dtype, device)
    raise TypeError(
        f"Unexpected input type for array: {type(x)}; numpy.array takes arrays, "
        "numbers and nested sequences of them"
    )


def _is_number(x: Any) -> bool:
    """Whether a dtype makes a number of it, as of a fraction or a decimal."""
    return hasattr(x, "__float__") or hasattr(x, "__index__")


def _is_buffer(x: Any) -> bool:
    return isinstance(x, (bytes, bytearray, memoryview)) or hasattr(
        x, "__array_interface__"
    )


def move_to_device(x: Any, device: Any) -> Any:
    """An array on a device; one of a program stays where that runs."""
    device = single_devices.place_of(device)
    if sharding_constraints.is_over_mesh(device):
        return _divide(x, device)
    if device is None or type(x) is not concrete_arrays.ArrayImpl:
        return x
    return concrete_arrays.on_chosen_device(x, device)


def _divide(x: Any, place: Any) -> Any:
    """An array, divided over a mesh as a sharding or a spec says."""
    sharding = sharding_constraints.resolve(place, "numpy: out_sharding", x)
    return sharding_constraints.divide(x, sharding, "numpy")


def constrain_to_device(x: Any, device: Any) -> Any:
    """An array; in a program, which then runs on that device, if there is one."""
    if device is None or sharding_constraints.is_over_mesh(device):
        return x
    if not evaluate.is_staging():
        return x
    sharding = single_devices.of_device(concrete_arrays.one_device(device))
    return sharding_constraints.sharding_constraint_p.bind(x, sharding=sharding)


def put_values(x: np.ndarray, aval: Any, device: Any = None) -> Any:
    """An array with the values of a NumPy array, on a device or divided over a mesh."""
    device = single_devices.place_of(device)
    if aval.dtype == dtypes.float0:  # which are NumPy arrays
        return np.zeros(aval.shape, aval.dtype)
    if sharding_constraints.is_over_mesh(device):
        sharding = _mesh_sharding(device, aval.shape)
        if sharding is None:
            return _divide(concrete_arrays.put(x, aval), device)
        device = sharding
    out = concrete_arrays.put(x, aval, device)
    return _lift_number(out) if device is None else out


def _lift_number(x: Any) -> Any:
    """A new array; in programs in JAX's words a number of the program, if it is one."""
    if x.shape or not vocabulary.is_jax():
        return x
    return trace.current.trace.lift_number(x)


def put_own_values(x: np.ndarray, aval: Any, device: Any = None) -> Any:
    """As `put_values`, of values that the user did not have on the host."""
    with concrete_arrays.lift_guards():
        return put_values(x, aval, device)


def _fill(write: Any, aval: Any, device: Any = None) -> Any:
    """As `put_values`, of values that a function writes into a NumPy array."""
    device = single_devices.place_of(device)
    if sharding_constraints.is_over_mesh(device):
        sharding = _mesh_sharding(device, aval.shape)
        if sharding is None:
            return _divide(concrete_arrays.fill(write, aval), device)
        device = sharding
    return concrete_arrays.fill(write, aval, device)


def _mesh_sharding(place: Any, shape: Any) -> Any:
    """The sharding of an array that the host can put on a mesh part by part.

    None where a program must do it: one that is being traced, or one that has devices
    make a sum.
    """
    if not evaluate.is_evaluating() or sharding_constraints.is_sum(place):
        return None
    sharding = sharding_constraints.resolve(place, "numpy: out_sharding")
    mesh = explicit_shardings.mesh_with_devices(sharding.mesh)
    if mesh is None or not mesh.holds_values:
        return None
    sharding.check_shape(shape, "numpy out_sharding")
    return sharding.update(mesh=mesh)


# Larger arrays are made where they belong, rather than moved there.
_MOST_MOVED_BYTES = 1 << 12


def is_far(aval: Any, device: Any = None) -> bool:
    """Whether an array is to be made on a device that has a memory of its own."""
    device = single_devices.place_of(device)
    is_large = aval.size * aval.dtype.itemsize > _MOST_MOVED_BYTES
    if not is_large or sharding_constraints.is_over_mesh(device):
        return False
    return not concrete_arrays.is_near(device)


def _repeat(value: Any, aval: Any, device: Any) -> Any:
    if not is_far(aval, device):
        return _fill(lambda out: out.fill(value), aval, device)
    one = aval.update(shape=())
    number: Any = concrete_arrays.put(np.asarray(value, aval.dtype), one, device)
    return move_to_device(shaping.broadcast(number, aval.shape), device)


def _of_scalar(x: Any, dtype: Any, device: Any) -> Any:
    if dtype is not None:
        promotion.check_complex_number(x, dtype)
        aval = ShapedArray((), dtype)
        return put_values(_number_of(x, dtype), aval, device)
    aval = aval_of(x)
    return put_values(np.asarray(x, aval.dtype), aval, device)


def _number_of(x: Any, dtype: Any) -> np.ndarray:
    """A Python number in a dtype; integers take no NaN and nothing out of range."""
    if dtypes.kind(dtype) in "iu" and not isinstance(x, int):
        try:
            x = int(x)
        except (ValueError, OverflowError) as error:
            raise type(error)(
                f"numpy.array: {error}, got dtype {dtype}; use a floating dtype"
            ) from None
    with np.errstate(all="ignore"):
        return np.asarray(x, dtype)


def _cast_numpy(x: np.ndarray, dtype: Any) -> np.ndarray:
    if x.dtype == dtype:
        return x
    if dtypes.kind(x.dtype) == "c" and dtypes.kind(dtype) not in "cb":
        x = x.real  # without NumPy's warning: a dtype was requested
    with np.errstate(all="ignore"):
        return x.astype(dtype)


def _of_numpy(x: Any, dtype: Any, device: Any) -> Any:
    avals.check_not_masked(x)
    x = np.asarray(x)
    if dtype is None:
        if not dtypes.is_supported(dtypes.native(x.dtype)):
            raise _not_of_numbers(x)
        dtype = dtypes.canonicalize_dtype(dtypes.native(x.dtype))
    elif x.dtype.kind in "OSU":
        x = _numbers_of(x, dtype)
    elif x.dtype.kind == "V" and not dtypes.is_supported(x.dtype):
        raise _not_of_numbers(x)
    value = x if x.dtype == dtype else _cast_numpy(x, dtype)
    return put_values(value, ShapedArray(x.shape, dtype), device)


def _not_of_numbers(x: np.ndarray) -> TypeError:
    return TypeError(
        f"Value {(x if x.ndim else x.item())!r} with dtype {x.dtype} is not a valid "
        "olympus array type; numpy.array takes numbers and booleans only"
    )


def _numbers_of(x: np.ndarray, dtype: Any) -> np.ndarray:
    """Objects or texts as numbers of the dtype that was asked for."""
    try:
        return x.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(
            f"numpy.array: {error}, got values of dtype {x.dtype} for dtype {dtype}; "
            "convert the values first"
        ) from None


def _leaves(x: Any, leaves: list[Any]) -> list[Any]:
    for item in x:
        if type(item) is list or type(item) is tuple:
            _leaves(item, leaves)
        else:
            leaves.append(item)
    return leaves


def _of_sequence(x: Any, dtype: Any, device: Any) -> Any:
    leaves = _leaves(x, [])
    if any(_stands_for_array(leaf) for leaf in leaves):
        x = _resolve_sequence(x)
        leaves = _leaves(x, [])
    for leaf in leaves:
        avals.check_not_masked(leaf)
    if any(leaf is None for leaf in leaves):
        raise ValueError(
            "None is not a valid value for numpy.array; leave the element out, or use "
            "nan where a number is missing"
        )
    traced = any(isinstance(v, trace.Tracer) or is_symbolic(v) for v in leaves)
    keys = any(dtypes.is_extended(getattr(leaf, "dtype", None)) for leaf in leaves)
    if not traced and not keys:
        return _of_plain_sequence(x, leaves, dtype, device)
    if dtype is None:
        dtype = _common_dtype(leaves)
    return _stack_sequence(x, dtype)


def _stands_for_array(x: Any) -> bool:
    return not isinstance(x, promotion.PLAIN_TYPES) and array_protocol.is_array(x)


def _resolve_sequence(x: Any) -> Any:
    """A sequence with arrays in place of the objects that stand for them."""
    if type(x) is list or type(x) is tuple:
        return [_resolve_sequence(item) for item in x]
    return array_protocol.array_of(x) if _stands_for_array(x) else x


def _common_dtype(leaves: list[Any]) -> Any:
    kinds = {type(leaf) for leaf in leaves}
    if len(kinds) == 1 and next(iter(kinds)) in dtypes.python_scalar_dtypes:
        return dtypes.canonicalize_dtype(next(iter(kinds)))
    if any(isinstance(leaf, (str, bytes)) for leaf in leaves):
        raise TypeError(
            f"Value {leaves[0]!r} is not a valid olympus array type; numpy.array takes "
            "numbers and booleans only"
        )
    typed = [dtypes.dtype_and_weak(asleaf(leaf), "array") for leaf in leaves]
    return dtypes.lattice_result(*typed)[0]


def asleaf(x: Any) -> Any:
    """An element of a sequence as something that has a dtype."""
    if hasattr(x, "dtype") or dtypes.is_python_scalar(x) or is_symbolic(x):
        return x
    return np.asarray(x)


def _of_plain_sequence(x: Any, leaves: list[Any], dtype: Any, device: Any) -> Any:
    """From values that are all known: NumPy builds the array."""
    # Python numbers are put in the dtype by NumPy, which says what does not fit.
    numbers = all(type(v) in dtypes.python_scalar_dtypes for v in leaves)
    direct = numbers and (dtype is not None or all(type(v) is int for v in leaves))
    if dtype is None:
        dtype = dtypes.canonicalize_dtype(float)
        dtype = _common_dtype(leaves) if leaves else dtype
    if any(type(v) is concrete_arrays.ArrayImpl for v in leaves):
        # NumPy asks elements of dtypes that are not its own for Python numbers.
        x = _on_host(x)
    try:
        with np.errstate(all="ignore"):
            value = np.array(x, dtype) if direct else np.array(x)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise ValueError(f"numpy.array: {error}, got dtype {dtype}") from None
        arrays = any(type(v) is concrete_arrays.ArrayImpl for v in leaves)
        # Arrays that do not stack are an error of types, as in a traced function.
        kind = TypeError if arrays else ValueError
        raise kind(
            f"numpy.array: nested sequences must have equal lengths, got {error}; pad "
            "them to one length, or keep a list of arrays"
        ) from None
    if value.dtype.kind in "OSUV" and not dtypes.is_supported(value.dtype):
        value = np.array(x, dtype)
    if not _are_all_arrays(leaves):
        value = _cast_numpy(value, dtype)
        return put_values(value, ShapedArray(value.shape, dtype), device)
    if dtypes.kind(value.dtype) in "fc" and dtypes.kind(dtype) in "iu":
        # As XLA converts arrays one by one: what is too large is the largest.
        own: Any = put_own_values(value, ShapedArray(value.shape, value.dtype), device)
        return elementwise.convert(own, dtype)
    value = _cast_numpy(value, dtype)
    return put_own_values(value, ShapedArray(value.shape, dtype), device)


def _are_all_arrays(leaves: list[Any]) -> bool:
    return bool(leaves) and {type(v) for v in leaves} == {concrete_arrays.ArrayImpl}


def _on_host(x: Any) -> Any:
    """The sequence with NumPy's arrays in place of arrays."""
    if type(x) is list or type(x) is tuple:
        return [_on_host(item) for item in x]
    return np.asarray(x) if type(x) is concrete_arrays.ArrayImpl else x


def _stack_sequence(x: Any, dtype: Any) -> Any:
    """From a sequence that holds traced values: arrays along new axes."""
    if not isinstance(x, (list, tuple)):
        leaf = _make(x, None, None)
        return leaf if dtypes.is_extended(dtype) else elementwise.convert(leaf, dtype)
    if not x:
        return zeros((0,), dtype)
    parts = [_stack_sequence(item, dtype) for item in x]
    shape = aval_of(parts[0]).shape
    if any(aval_of(p).shape != shape for p in parts):
        shapes = ", ".join([str(aval_of(p).shape) for p in parts])
        raise TypeError(
            f"numpy.array: elements must have equal shapes, got {shapes}; pad them, or "
            "use numpy.concatenate"
        )
    return stacking.stack(parts)


def copy(a: ArrayLike, order: str | None = None) -> Array:
    """A new array with the same values.

    Differs from NumPy: arrays never change, so a copy is needed only to keep a donated
    buffer.

    Args:
      a: array or number.
      order: None, "K" or "C".

    Source: NumPy, `numpy.copy`.

    Example:
      >>> jnp.copy(np.arange(3))
      Array([0, 1, 2], dtype=int32)
    """
    promotion.check_arraylike("copy", a)
    return array(a, copy=True, order=order)


def astype(
    x: ArrayLike,
    dtype: DTypeLike | None,
    /,
    *,
    copy: bool = False,
    device: Placement = None,
) -> Array:
    """The array in another dtype.

    Differs from NumPy: NaN becomes 0, and numbers out of range the nearest, where the
    target is an integer dtype.

    Args:
      x: array or number.
      dtype: the element type; None for the default float.
      copy: True for a new array in any case.
      device: where the result lives.

    Raises:
      ValueError: a complex array would lose its imaginary part silently.

    Source: NumPy, `numpy.astype`.

    Example:
      >>> jnp.astype(jnp.array([1.9, -1.9]), jnp.int32)
      Array([ 1, -1], dtype=int32)
    """
    promotion.check_arraylike("astype", x)
    kind = dtypes.check_user_dtype(float if dtype is None else dtype, "astype")
    aval = aval_of(x)
    complex_to_real = dtypes.kind(aval.dtype) == "c" and dtypes.kind(kind) not in "cb"
    if complex_to_real:
        x = elementwise.real(x)
    elif dtypes.kind(kind) == "b" and dtypes.kind(aval.dtype) == "c":
        parts = (elementwise.real(x), elementwise.imag(x))
        x = elementwise.bitwise_or(*[elementwise.convert(v, kind) for v in parts])
    out = elementwise.convert(x, kind, False)
    if not isinstance(out, (trace.Tracer, concrete_arrays.ArrayImpl)):
        out = _make(out, kind, device)
    if copy and out is x:
        out = shaping.copy_p.bind(out)
    return constrain_to_device(move_to_device(out, device), device)


# -- filled arrays ---------------------------------------------------------------------


def _fill_array(shape: tuple[int, ...], value: Any, aval: Any, device: Any) -> Any:
    """An array filled with a plain number; of keys, with keys of that word."""
    if aval.dtype == dtypes.float0:
        return np.zeros(shape, aval.dtype)
    if dtypes.is_extended(aval.dtype):
        held = aval.storage
        words = np.full(held.shape, value, held.dtype)
        return concrete_arrays.with_aval(concrete_arrays.put(words, held, device), aval)
    over_mesh = sharding_constraints.is_over_mesh(device)
    if evaluate.is_staging() and not over_mesh:
        device = None  # the program runs where it runs
    explicit = aval.explicit if device is None else None
    over_mesh = explicit or over_mesh
    if over_mesh or evaluate.is_staging():
        number = families.number_of(value, aval.dtype)
        place = explicit if device is None else device  # an empty spec is false
        sharding = _mesh_sharding(place, shape) if over_mesh else None
        if sharding is None or contexts.default_mesh.value is None:
            return shaping.full(shape, number, sharding=place)
        with contexts.default_mesh(sharding.device_mesh):  # not the one that is set
            return shaping.full(shape, number, sharding=sharding)
    return _repeat(value, aval, device)


def _shape(shape: Any, name: str) -> tuple[int, ...]:
    sizes = sizes_.canonicalize_shape(shape)
    if any(type(d) is int and d < 0 for d in sizes):
        raise TypeError(
            f"numpy.{name}: shape must have every element be nonnegative, got {sizes}"
        )
    return sizes


def _constant_array(name: str, value: int, what: str) -> function_types.Filled:
    def make(
        shape: int | Shape,
        dtype: DTypeLike | None = None,
        *,
        device: Placement = None,
        out_sharding: Placement = None,
    ) -> Array:
        kind = dtypes.check_user_dtype(float if dtype is None else dtype, name)
        shape = _shape(shape, name)
        place = device if out_sharding is None else out_sharding
        return _fill_array(shape, value, ShapedArray(shape, kind), place)

    return docstring_examples.describe(
        make,
        name,
        f"""An array {what}.

    Args:
      shape: sizes of the axes, or one size.
      dtype: element type; default the default float.
      device, out_sharding: where it lives.

    Raises:
      TypeError: the shape is traced, negative or not of integers.

    Source: NumPy, `numpy.{name}`.
""",
    )


zeros = _constant_array("zeros", 0, "of zeros")
ones = _constant_array("ones", 1, "of ones")
empty = _constant_array("empty", 0, "with unspecified values; they are zeros")


def full(
    shape: int | Shape,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    device: Placement = None,
    out_sharding: Placement = None,
) -> Array:
    """An array filled with one value.

    Args:
      shape: sizes of the axes, or one size.
      fill_value: number, or array that broadcasts to the shape.
      dtype: element type; default the value's own.
      device, out_sharding: where it lives.

    Source: NumPy, `numpy.full`.

    Example:
      >>> jnp.full((2, 2), 7)
      Array([[7, 7],
             [7, 7]], dtype=int32, weak_type=True)
    """
    if isinstance(fill_value, str):
        raise TypeError(
            f"numpy.full: fill_value must be an array or a number, got {fill_value!r}; "
            "texts are no arrays"
        )
    promotion.check_arraylike("full", fill_value)
    fill_value = promotion.resolve(fill_value)
    shape = _shape(shape, "full")
    place = device if out_sharding is None else out_sharding
    kind, weak = dtypes.dtype_and_weak(fill_value)
    if dtype is not None:
        kind, weak = dtypes.check_user_dtype(dtype, "full"), False
    promotion.check_complex_number(fill_value, kind)
    if kind == dtypes.float0:
        return _fill_array(shape, 0, ShapedArray(shape, kind), place)
    if dtypes.is_python_scalar(fill_value) and not evaluate.is_staging():
        value = _number_in(fill_value, kind, weak)
        return _repeat(value, ShapedArray(shape, kind, weak), place)
    if dtypes.is_python_scalar(fill_value) and not weak:
        fill_value = _number_in(fill_value, kind, weak)
    if isinstance(fill_value, (np.ndarray, np.generic)):
        # NumPy's broadcasting of a NumPy value would give a NumPy array.
        if dtypes.kind(fill_value.dtype) in "iu":  # of any size that the dtype holds
            fill_value = _cast_numpy(np.asarray(fill_value), kind)
        number: Any = _lift_number(concrete_arrays.as_array(fill_value))
        fill_value = number
    value = elementwise.convert(fill_value, kind, weak)
    return move_to_device(_spread(value, shape, "full"), place)


def _number_in(x: Any, dtype: Any, weak: bool) -> Any:
    """A Python number in the dtype of a filled array, as conversions round and wrap."""
    if type(x) is int:
        return aval_of(x).dtype.type(x) if weak else elementwise.integer_as(x, dtype)
    with np.errstate(all="ignore"):
        return elementwise.cast_on_host(np.asarray(x), dtype)


def _spread(value: Any, shape: tuple[int, ...], name: str) -> Any:
    if not sizes_.fits_shape(aval_of(value).shape, shape):
        raise ValueError(
            f"numpy.{name}: fill_value must broadcast to shape {shape}, got "
            f"{aval_of(value).short()}"
        )
    return promotion.full_shape(value, shape)


def _like(name: str, a: Any, dtype: Any, shape: Any) -> Any:
    """The aval of an array like `a`; anything with a shape and a dtype is an array."""
    if not (hasattr(a, "dtype") and hasattr(a, "shape")):
        promotion.check_arraylike(name, a)
        a = promotion.resolve(a)
    kind, weak = dtypes.dtype_and_weak(a)
    own = a.shape if hasattr(a, "shape") else np.shape(a)
    if dtype is not None:
        kind, weak = dtypes.check_user_dtype(dtype, name), False
    if shape is not None:
        return ShapedArray(_shape(shape, name), kind, weak)
    explicit = avals.aval_of(a).explicit if avals.is_array_like(a) else None
    return ShapedArray(own, kind, weak, sharding=explicit)


def _place_like(a: Any, aval: Any, place: Any) -> Any:
    """Where an array like `a` lives: where one chose, or where `a` is committed."""
    if place is not None or not evaluate.is_evaluating() or aval.weak_type:
        return place
    return placed_values.place_like(a, aval.shape)


def _constant_like(name: str, value: int, what: str) -> function_types.FilledLike:
    def make(
        a: ArrayLike | SupportsShape,
        dtype: DTypeLike | None = None,
        shape: int | Shape | None = None,
        *,
        device: Placement = None,
        out_sharding: Placement = None,
    ) -> Array:
        aval = _like(name, a, dtype, shape)
        place = _place_like(a, aval, device if out_sharding is None else out_sharding)
        if evaluate.is_staging() and aval.weak_type:
            scalar = elementwise.convert(
                promotion.cast(value, aval.dtype, True), aval.dtype, True
            )
            place = aval.explicit if place is None else place
            return shaping.broadcast(scalar, aval.shape, out_sharding=place)
        return _fill_array(aval.shape, value, aval, place)

    return docstring_examples.describe(
        make,
        name,
        f"""An array {what}, of the shape and dtype of another.

    Args:
      a: array or number, or anything that has a shape and a dtype.
      dtype, shape: in place of a's own.
      device, out_sharding: where it lives.

    Source: NumPy, `numpy.{name}`.
""",
    )


zeros_like = _constant_like("zeros_like", 0, "of zeros")
ones_like = _constant_like("ones_like", 1, "of ones")


def empty_like(
    prototype: ArrayLike | SupportsShape,
    dtype: DTypeLike | None = None,
    shape: int | Shape | None = None,
    *,
    device: Placement = None,
) -> Array:
    """An array like another with unspecified values; they are zeros.

    Differs from NumPy: the elements are zeros: uninitialized memory is never shown.

    Args:
      prototype: array or number.
      dtype, shape: in place of its own.
      device: where it lives.

    Source: NumPy, `numpy.empty_like`.

    Example:
      >>> jnp.empty_like(jnp.ones((2, 3))).shape
      (2, 3)
    """
    return zeros_like(prototype, dtype, shape, device=device)


def full_like(
    a: ArrayLike | SupportsShape,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: int | Shape | None = None,
    *,
    device: Placement = None,
    out_sharding: Placement = None,
) -> Array:
    """An array filled with one value, of the shape and dtype of another.

    Args:
      a: array or number.
      fill_value: number, or array that broadcasts to the shape.
      dtype, shape: in place of a's own.
      device, out_sharding: where it lives.

    Source: NumPy, `numpy.full_like`.

    Example:
      >>> jnp.full_like(jnp.array([1, 2]), 7)
      Array([7, 7], dtype=int32)
    """
    aval = _like("full_like", a, dtype, shape)
    promotion.check_arraylike("full_like", 0, fill_value)
    fill_value = promotion.resolve(fill_value)
    place = device if out_sharding is None else out_sharding
    promotion.check_complex_number(fill_value, aval.dtype)
    if dtypes.is_python_scalar(fill_value) and not evaluate.is_staging():
        place = _place_like(a, aval, place)
        value = _number_in(fill_value, aval.dtype, aval.weak_type)
        whole = np.array(np.broadcast_to(value, aval.shape))
        place = aval.explicit if place is None else place
        return put_values(whole, aval.update(sharding=None), place)
    if dtypes.is_python_scalar(fill_value) and not aval.weak_type:
        fill_value = _number_in(fill_value, aval.dtype, False)
    # Of a number, as weak as `a` is; an array has a dtype.
    weak = aval.weak_type and not np.ndim(fill_value)
    value = elementwise.convert(fill_value, aval.dtype, weak)
    place = aval.explicit if place is None else place
    return move_to_device(_spread(value, aval.shape, "full_like"), place)


# -- matrices --------------------------------------------------------------------------


def eye(
    N: int,
    M: int | None = None,
    k: ArrayLike = 0,
    dtype: DTypeLike | None = None,
    *,
    device: Placement = None,
) -> Array:
    """A matrix with ones on a diagonal and zeros elsewhere.

    Args:
      N, M: numbers of rows and columns; M defaults to N.
      k: which diagonal; positive ones lie above the main one.
      dtype: element type; default the default float.
      device: where it lives.

    Source: NumPy, `numpy.eye`.

    Example:
      >>> jnp.eye(2, 3, k=1)
      Array([[0., 1., 0.],
             [0., 0., 1.]], dtype=float32)
    """
    kind = dtypes.check_user_dtype(float if dtype is None else dtype, "eye")
    rows, columns = _shape((N, N if M is None else M), "eye")
    return _diagonals(rows, columns, k, kind, elementwise.eq, device)


def _diagonals(
    rows: int, columns: int, k: Any, kind: Any, compare: Any, device: Any
) -> Any:
    """Ones where `row + k` and `column` compare so."""
    aval = ShapedArray((rows, columns), kind)
    if _is_made_by_program(aval, device):
        i = shaping.broadcasted_iota(np.int32, (rows, columns), 0)
        j = shaping.broadcasted_iota(np.int32, (rows, columns), 1)
        if isinstance(k, trace.Tracer) or k != 0:
            offset = promotion.cast(k, np.dtype(np.int32), False)
            i = elementwise.add(i, offset)
        return elementwise.convert(compare(i, j), kind)
    offset = operator.index(k)
    row = np.arange(rows)[:, None] + offset
    column = np.arange(columns)[None, :]
    equal = compare is elementwise.eq
    compared = np.equal if equal else np.greater_equal

    def write(out: np.ndarray) -> None:
        out[...] = compared(row, column)

    return _fill(write, aval, device)


def _is_made_by_program(aval: Any, device: Any) -> bool:
    """Whether operations make an array, rather than NumPy."""
    if evaluate.is_staging() and not sharding_constraints.is_over_mesh(device):
        return True
    return device is None and is_far(aval)


def identity(n: int, dtype: DTypeLike | None = None) -> Array:
    """A square matrix with ones on the main diagonal.

    Args:
      n: number of rows.
      dtype: element type; default the default float.

    Source: NumPy, `numpy.identity`.

    Example:
      >>> jnp.identity(2, dtype=int)
      Array([[1, 0],
             [0, 1]], dtype=int32)
    """
    return eye(n, dtype=dtype)


def tri(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None
) -> Array:
    """A matrix with ones on and below a diagonal and zeros above.

    Args:
      N, M: numbers of rows and columns; M defaults to N.
      k: which diagonal; positive ones lie above the main one.
      dtype: element type; default the default float.

    Source: NumPy, `numpy.tri`.

    Example:
      >>> jnp.tri(2, 3, dtype=int)
      Array([[1, 0, 0],
             [1, 1, 0]], dtype=int32)
    """
    kind = dtypes.check_user_dtype(float if dtype is None else dtype, "tri")
    rows, columns = _shape((N, N if M is None else M), "tri")
    return _diagonals(rows, columns, k, kind, elementwise.ge, None)
