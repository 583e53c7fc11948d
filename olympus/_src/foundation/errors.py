class TypePromotionError(ValueError): __module__ = "olympus.errors"
class InternalError(RuntimeError): pass
class ConcretizationTypeError(TypeError): __module__ = "olympus.errors"
class TracerBoolConversionError(ConcretizationTypeError): __module__ = "olympus.errors"
class TracerIntegerConversionError(TypeError): __module__ = "olympus.errors"
class TracerArrayConversionError(TypeError): __module__ = "olympus.errors"
class UnexpectedTracerError(TypeError): __module__ = "olympus.errors"
class LeakError(Exception): pass
class OlympusprTypeError(TypeError): pass
