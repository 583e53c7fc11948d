"""What is checked of programs that leave the process, and how to leave checks out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from olympus._src.export import stable_custom_calls

_PLATFORM = "platform"
_CUSTOM_CALL = "custom_call:"


class DisabledSafetyCheck:
    """A check that `export` or `Exported.call` should skip.

    Example:
      >>> from olympus import export
      >>> export.DisabledSafetyCheck.custom_call("my_kernel")
      custom_call:my_kernel
    """

    __slots__ = ("_impl",)

    def __init__(self, _impl: str) -> None:
        self._impl = _impl

    @classmethod
    def platform(cls) -> DisabledSafetyCheck:
        """Lets programs be called on platforms that they were not exported for."""
        return cls(_PLATFORM)

    @classmethod
    def custom_call(cls, target_name: str) -> DisabledSafetyCheck:
        """Lets programs call a kernel by that name, stable or not.

        Args:
          target_name: the target of the custom call.
        """
        return cls(_CUSTOM_CALL + target_name)

    def is_custom_call(self) -> str | None:
        """The target that `custom_call` was given; None for other checks."""
        if not self._impl.startswith(_CUSTOM_CALL):
            return None
        return self._impl[len(_CUSTOM_CALL) :]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DisabledSafetyCheck) and other._impl == self._impl

    def __hash__(self) -> int:
        return hash(self._impl)

    def __repr__(self) -> str:
        return self._impl


def check_custom_calls(
    calls: Sequence[tuple[str, str]], disabled: Collection[DisabledSafetyCheck]
) -> None:
    """Refuses custom calls that later versions may not know.

    Args:
      calls: the target and the text of each.
      disabled: checks that are left out.

    Raises:
      ValueError: there is such a call.
    """
    allowed = {
        check.is_custom_call() for check in disabled
    } | stable_custom_calls.TARGETS
    wrong = {target: text for target, text in calls if target not in allowed}
    if not wrong:
        return
    target, text = next(iter(wrong.items()))
    raise ValueError(
        "export: custom calls must have targets that later versions support, got "
        f"{', '.join(map(repr, wrong))}, for which there are no compatibility "
        "guarantees; if the consumers have them, export with "
        f"disabled_checks=[DisabledSafetyCheck.custom_call({target!r})]. The first "
        f"is:\n{text}"
    )


def check_targets(exported: Any, targets: Mapping[str, str]) -> None:
    """Refuses to call a program whose custom calls are not what it may have.

    Args:
      exported: the program.
      targets: of its custom calls, each with the line of a call.

    Raises:
      ValueError: one is neither stable nor was declared at export.
    """
    checks = exported.disabled_safety_checks
    allowed = {check.is_custom_call() for check in checks} | stable_custom_calls.TARGETS
    wrong = [target for target in targets if target not in allowed]
    if wrong:
        raise ValueError(
            f"Exported.call: custom calls of {exported.fun_name!r} must have targets "
            f"that its exporter allowed, got {wrong[0]!r}; export the function again. "
            f"The call is:\n{targets[wrong[0]].strip()}"
        )


def check_platform(exported: Any, platform: str) -> None:
    """Refuses a platform that a program was not exported for.

    Raises:
      ValueError: it is another one.
    """
    known = platform in exported.platforms
    if known or DisabledSafetyCheck.platform() in exported.disabled_safety_checks:
        return
    raise ValueError(
        f"Exported.call: {exported.fun_name!r} was exported for platforms "
        f"{exported.platforms}, but it is used on {platform!r}; export it with "
        f"platforms={(*exported.platforms, platform)}, or with "
        "disabled_checks=[DisabledSafetyCheck.platform()]"
    )


def platform_number(exported: Any, platform: str) -> int:
    """The number of a platform among those of a program; 0 for others."""
    if platform in exported.platforms:
        return exported.platforms.index(platform)
    return 0
