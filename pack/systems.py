"""The systems that packs are made for, with their names for LLVM, the C compiler and pip."""

from typing import NamedTuple


class System(NamedTuple):
    """The names of a system: LLVM's target, the C compiler's target with its oldest C library, a wheel's platform."""

    triple: str
    target: str
    platform: str


SYSTEMS = {
    "linux x86_64": System(
        "x86_64-unknown-linux-gnu", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64"
    ),
    "linux aarch64": System(
        "aarch64-unknown-linux-gnu", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64"
    ),
    "darwin arm64": System("arm64-apple-macosx11.0.0", "aarch64-macos.11.0", "macosx_11_0_arm64"),
    "darwin x86_64": System("x86_64-apple-macosx11.0.0", "x86_64-macos.11.0", "macosx_11_0_x86_64"),
    "win32 amd64": System("x86_64-pc-windows-gnu", "x86_64-windows-gnu", "win_amd64"),
}
"""The systems, by what `pack.system()` returns there."""
