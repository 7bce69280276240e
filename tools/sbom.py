"""The software bill of materials of a wheel: what it is made of, and what it needs.

CycloneDX 1.5 in JSON, made from ``pyproject.toml`` alone: the same project gives the
same bytes. ``hatch_build.py`` puts it into every wheel, beside the metadata (PEP 770).
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def make_sbom(root: Path = ROOT) -> dict[str, Any]:
    """Return the bill of materials of the project in a folder."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    own = {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
        "description": project["description"],
        "licenses": [{"license": {"id": project["license"]}}],
    }
    needed = [_component(line) for line in project["dependencies"]]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": own},
        "components": needed,
        "dependencies": [
            {"ref": own["bom-ref"], "dependsOn": [one["bom-ref"] for one in needed]}
        ],
    }


def _component(requirement: str) -> dict[str, Any]:
    """Return a dependency, with the versions that are allowed."""
    found = re.fullmatch(r"([A-Za-z0-9._-]+)(.*)", requirement.replace(" ", ""))
    if found is None:
        raise ValueError(f"pyproject.toml: cannot read the requirement {requirement!r}")
    name, versions = found.groups()
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name.lower()}",
        "name": name,
        "purl": f"pkg:pypi/{name.lower()}",
        "scope": "required",
        "properties": [{"name": "partwise:versions", "value": versions}],
    }


def write_sbom(path: Path, root: Path = ROOT) -> None:
    """Write the bill of materials to a file."""
    path.write_text(json.dumps(make_sbom(root), indent=2) + "\n")


if __name__ == "__main__":
    print(json.dumps(make_sbom(), indent=2))
