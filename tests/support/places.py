"""Where things are, for tests in any room."""

from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent
SOURCE = ROOT / "src" / "partwise"
SUPPORT = TESTS / "support"
GOLDEN = TESTS / "golden"
"""Model files of earlier versions, which load for ever."""
