"""One headless browser for all tests of pages."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def driver() -> Iterator[Any]:
    """Return one headless browser for all tests; skip where there is none."""
    selenium = pytest.importorskip(
        "selenium.webdriver",
        reason="selenium, which drives the browser, is not installed",
    )
    browser, service = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or service is None:
        pytest.skip(
            "chromium and chromedriver are not installed: no browser to test in"
        )
    options = selenium.ChromeOptions()
    options.binary_location = browser
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "window-size=1200,1000"):
        options.add_argument(f"--{flag}")
    options.set_capability(
        "goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"}
    )
    made = selenium.Chrome(options, selenium.ChromeService(service))
    yield made
    made.quit()
