"""The classes of jax.errors and where else they are named."""

import jax

names = [
    "ConcretizationTypeError", "JaxRuntimeError", "KeyReuseError", "NonConcreteBooleanIndexError",
    "TracerArrayConversionError", "TracerBoolConversionError", "TracerIntegerConversionError",
    "UnexpectedTracerError", "JAXIndexError", "JAXTypeError",
]
for name in names:
    kind = getattr(jax.errors, name)
    print(name, kind.__name__, kind.__qualname__, [b.__name__ for b in kind.__mro__[1:-2] if b.__name__[0] != "_"])
print(jax.errors.__name__, {getattr(jax.errors, name).__module__ for name in names}, jax.dtypes.TypePromotionError.__module__)
print(issubclass(jax.errors.TracerBoolConversionError, jax.errors.ConcretizationTypeError))
try:
    jax.nothing_of_this_name
except AttributeError as error:
    print(type(error).__name__, "nothing_of_this_name" in str(error))
try:
    import jax.no_such_module
except ModuleNotFoundError as error:
    print(type(error).__name__, error.name)
try:
    from jax import no_such_thing
except ImportError as error:
    print(type(error).__name__, error.name, "no_such_thing" in str(error))
try:
    jax.numpy.no_such_function(1)
except AttributeError as error:
    print("jax.numpy" in str(error), hasattr(jax.numpy, "no_such"), getattr(jax.lax, "no_such", 5))
