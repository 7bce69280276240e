"""The bill of materials that wheels carry."""

import json
import tomllib
from pathlib import Path

from tools.sbom import make_sbom, write_sbom

from places import ROOT


def test_sbom_names_the_package_and_all_it_needs(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    write_sbom(tmp_path / "sbom")
    found = json.loads((tmp_path / "sbom").read_text())
    assert found == make_sbom()
    own = found["metadata"]["component"]
    assert (own["name"], own["version"]) == ("partwise", project["version"])
    listed = [
        one["name"] + one["properties"][0]["value"] for one in found["components"]
    ]
    assert listed == project["dependencies"]
    (needs,) = found["dependencies"]
    assert needs["dependsOn"] == [one["bom-ref"] for one in found["components"]]
