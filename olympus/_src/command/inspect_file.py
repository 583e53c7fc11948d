"""`python -m olympus inspect`: what a file that holds a program is."""

from __future__ import annotations

import argparse

from olympus._src.command import programs
from olympus._src.command.command import Command, Failure
from olympus._src.export import bundle_files, bundles, deserialization, executables
from olympus._src.export.bundle_files import Slot
from olympus._src.foundation.container import Unreadable


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", help="a bundle, or bytes that export or serialize wrote"
    )
    parser.add_argument(
        "--text", action="store_true", help="print the portable program in StableHLO"
    )
    parser.add_argument(
        "--test",
        action="store_true",
        help="run the self-test; the status is 1 if it fails",
    )


def _run(arguments: argparse.Namespace) -> int:
    data, kind = programs.read_file(arguments.file)
    try:
        if kind == bundle_files.KIND:
            _show_bundle(arguments.file, data)
        elif kind == executables.KIND:
            _show_executable(arguments.file, data)
        else:
            _show_exported(arguments.file, data)
        if arguments.text:
            _show_text(data, kind)
    except ValueError as error:
        raise Failure(f"{arguments.file}: {error}") from error
    return _test(arguments.file) if arguments.test else 0


def _show_head(path: str, data: bytes, what: str) -> None:
    print(f"{path}: {what}, {programs.format_bytes(len(data))}")
    print(f"  sha256 {bundle_files.digest(data)}")


def _show_bundle(path: str, data: bytes) -> None:
    contents = bundle_files.unpack(data)
    _show_head(path, data, f"bundle of {contents.name!r}")
    versions = ", ".join(
        f"{k} {v}" for k, v in contents.made_by.items() if k != "system"
    )
    print(
        f"  made by {versions} on {contents.made_by.get('system', 'an unknown system')}"
    )
    for line in contents.doc.strip().splitlines()[:1]:
        print(f"  {line}")
    _show_slots("Arguments", contents.arguments)
    _show_slots("Results", contents.results)
    if contents.exported is None:
        print("Portable program: none")
    else:
        print(
            f"Portable program: for {', '.join(contents.platforms)}; "
            f"{programs.format_bytes(len(contents.exported))}; "
            f"{programs.format_count(contents.vjp_order, 'reverse derivative')}"
        )
    print(f"Executables: {len(contents.executables) or 'none'}")
    for i, code in enumerate(contents.executables):
        try:
            _show_program(str(i), executables.Program(code))
        except Unreadable as error:
            print(f"  {i}: cannot be read: {error}")
    if contents.sample is None:
        print("Self-test: none")
    else:
        tolerance = contents.sample.tolerance
        results = programs.format_count(len(contents.sample.results), "result")
        shown = "by dtype" if tolerance is None else str(tolerance)
        print(f"Self-test: {results}, tolerance {shown}")


def _show_slots(title: str, slots: list[Slot]) -> None:
    print(f"{title}:" + ("" if slots else " none"))
    rows = [(s.path, s.type_text() + (" (weak)" if s.weak_type else "")) for s in slots]
    if rows:
        print("\n".join(programs.columns(rows)))


def _show_program(label: str, program: executables.Program) -> None:
    facts = program.machine
    types = ", ".join(a.short() for a in program.in_avals)
    print(
        f"  {label}: {facts.get('platform')} ({facts.get('device_kind')}), jaxlib "
        f"{facts.get('jaxlib')}, ({types}), {programs.format_bytes(program.size)}"
    )
    try:
        obstacles = program.obstacles(program.own_devices()[0])
    except RuntimeError as error:
        obstacles = [str(error)]
    print(
        "     "
        + (f"not for here: {'; '.join(obstacles)}" if obstacles else "runs here")
    )


def _show_executable(path: str, data: bytes) -> None:
    program = executables.Program(data)
    _show_head(path, data, f"{executables.KIND} of {program.name!r}")
    _show_program("0", program)


def _show_exported(path: str, data: bytes) -> None:
    exported = deserialization.deserialize(data)
    _show_head(path, data, f"{programs.EXPORTED} of {exported.fun_name!r}")
    _show_slots("Arguments", bundles.slots_of_exported(exported)[0])
    _show_slots("Results", bundles.slots_of_exported(exported)[1])
    print(f"Platforms: {', '.join(exported.platforms)}")
    print(f"Calling convention: {exported.calling_convention_version}")
    print(f"Reverse derivative: {'yes' if exported.has_vjp() else 'no'}")


def _show_text(data: bytes, kind: str) -> None:
    if kind == bundle_files.KIND:
        exported = bundle_files.unpack(data).exported
        if exported is None:
            raise Failure("--text: there must be a portable program, got none")
        data = exported
    elif kind == executables.KIND:
        raise Failure("--text: there must be a portable program, got machine code")
    print(deserialization.deserialize(data).mlir_module())


def _test(path: str) -> int:
    """Tests machine code and portable program, each where it exists and runs here."""
    bundle = programs.load(path)
    if not bundle.has_sample:
        raise Failure(f"{path}: must have a self-test, got none")
    ways = [("as it runs here", True)]
    if bundle.uses_machine_code and bundle.is_portable:
        ways = [("machine code", True), ("portable program", False)]
    status = 0
    for what, machine_code in ways:
        try:
            programs.load(path, machine_code=machine_code).check()
            print(f"Self-test of the {what}: passed")
        except ValueError as error:
            print(f"Self-test of the {what}: {error}")
            status = 1
    return status


COMMAND = Command(
    "inspect",
    "Show what a file that holds a program takes, gives and needs, and test it",
    _add_arguments,
    _run,
)
