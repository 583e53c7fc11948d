"""Images of other sizes: `resize`, and `scale_and_translate`."""

from olympus._src.image.resampling import ResizeMethod, resize, scale_and_translate

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]
