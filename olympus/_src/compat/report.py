"""Which of JAX's names a program read, and which of them were not there."""

from __future__ import annotations

from olympus._src.compat import modules, sources


class Report:
    """Names that are read from now on.

    Attributes:
      read: each name with its module, as in ('jax.numpy', 'sin').
      missing: names and modules that are not there.
    """

    def __init__(self) -> None:
        self.read: set[tuple[str, str]] = set()
        self.missing: set[str] = set()

    def start(self) -> None:
        """Starts to note names."""
        modules.readers.append(self._note)

    def stop(self) -> None:
        """Stops."""
        modules.readers.remove(self._note)

    def _note(self, module: str, name: str, is_there: bool) -> None:
        if not is_there:
            self.missing.add(f"{module}.{name}")
        elif not name.startswith("__"):
            self.read.add((module, name))

    def text(self) -> str:
        """The report, a name on each line, grouped."""
        full = {f"{module}.{name}": (module, name) for module, name in self.read}
        private = [n for n, (module, _) in full.items() if "._src" in module]
        notes = {n: sources.approximation(*place) for n, place in full.items()}
        approximated = [f"{n}: {note}" for n, note in notes.items() if note]
        lines = [f"{len(full)} names of JAX were read"]
        for title, listed in (
            ("missing", self.missing),
            ("approximated", approximated),
            ("private, which no release of JAX promises", private),
            ("all", full),
        ):
            lines.append(f"\n{title}: {len(listed)}")
            lines += [f"  {name}" for name in sorted(listed)]
        return "\n".join(lines)
