"""The types of `mgrid`, `ogrid`, `r_` and `c_`."""

from olympus._src.numpy.index_tricks import Columns as CClass
from olympus._src.numpy.index_tricks import Mesh as _Mgrid
from olympus._src.numpy.index_tricks import OpenMesh as _Ogrid
from olympus._src.numpy.index_tricks import Rows as RClass
from olympus._src.numpy.index_tricks import c_ as c_
from olympus._src.numpy.index_tricks import index_exp as index_exp
from olympus._src.numpy.index_tricks import mgrid as mgrid
from olympus._src.numpy.index_tricks import ogrid as ogrid
from olympus._src.numpy.index_tricks import r_ as r_
from olympus._src.numpy.index_tricks import s_ as s_

__all__ = [
    "CClass",
    "RClass",
    "_Mgrid",
    "_Ogrid",
    "c_",
    "index_exp",
    "mgrid",
    "ogrid",
    "r_",
    "s_",
]
