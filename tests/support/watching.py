"""What is wrong with a page in a browser: errors, requests, contrast."""

from typing import Any

import pytest


def assert_quiet(driver: Any, *allowed: str) -> None:
    """Check that the page has no errors, and asked only files, or the allowed."""
    assert driver.get_log("browser") == []
    sent = [
        entry["message"]
        for entry in driver.get_log("performance")
        if '"Network.requestWillBeSent"' in entry["message"]
    ]
    known = [f'"url":"{start}' for start in ("file:", "data:", *allowed)]
    others = [m for m in sent if not any(start in m for start in known)]
    assert sent
    assert others == []


def violations(driver: Any) -> list[str]:
    """Return what axe-core finds wrong with the page, contrast above all."""
    axe = pytest.importorskip("axe_selenium_python", reason="axe-core is not installed")
    checker = axe.Axe(driver)
    checker.inject()
    found = checker.run(options={"runOnly": ["wcag2a", "wcag2aa"]})["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]
