"""What the build of a wheel does when it is given machine code to carry.

``PARTWISE_KERNELS`` names the folder, as ``tools/build_wheel.py`` makes it; the wheel
is then for one platform and one version of Python. Without it the wheel is for all.
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))
from tools.sbom import write_sbom

SBOM = "partwise.cdx.json"


class MachineCode(BuildHookInterface):  # type: ignore[misc]
    """Puts compiled kernels into a wheel, and what it is made of."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say what else goes into the wheel, and what it is for."""
        folder = os.environ.get("PARTWISE_KERNELS")
        if folder:
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["force_include"][folder] = "partwise/_prebuilt"
        if version != "editable":
            self._scratch = tempfile.TemporaryDirectory()
            path = Path(self._scratch.name) / SBOM
            write_sbom(path, Path(self.root))
            metadata = f"partwise-{self.metadata.version}.dist-info"
            build_data["force_include"][str(path)] = f"{metadata}/sboms/{SBOM}"
