"""The page of `partwise serve` in a browser: it asks, draws, says what is wrong."""

from collections.abc import Iterator
from typing import Any

import pytest

from partwise import SequenceTagger
from watching import assert_quiet, violations

pytest.importorskip("fastapi", reason="FastAPI, which partwise serve needs, is missing")
from live_server import LiveServer, live_server
from partwise.serving.app import make_app

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("models")
    X = [[("the", "T"), ("dog", "T")], [("a", "T"), ("cat", "T"), ("sleeps", "T")]]
    y = [["B-NP", "I-NP"], ["B-NP", "I-NP", "O"]]
    template = "U0:%x[0,0]\nU1:%x[0,1]\nB"
    columns = SequenceTagger("squared_hinge", template=template).fit(X, y)
    columns.save(folder / "chunks.partwise")
    dicts = [[{"word": word} for word, _ in x] for x in X]
    SequenceTagger().fit(dicts, y).save(folder / "dicts.partwise")
    models = [(name, str(folder / f"{name}.partwise")) for name in ("chunks", "dicts")]
    with live_server(make_app(models)) as live:
        yield live


def typed(driver: Any, text: str) -> str:
    """Type a text, press the button, and return what the page answers."""
    box = driver.find_element("id", "text")
    box.clear()
    box.send_keys(text)
    driver.execute_script("document.querySelector('.answer').replaceChildren()")
    driver.find_element("css selector", "button[type=submit]").click()
    driver.execute_async_script(
        """const done = arguments[0], look = () => document.querySelector(
        ".answer").childElementCount ? done() : setTimeout(look, 5); look();"""
    )
    return str(driver.find_element("css selector", ".answer").text)


def test_page_draws_what_is_typed(driver: Any, server: LiveServer) -> None:
    address = f"http://127.0.0.1:{server.port}/"
    driver.get_log("browser"), driver.get_log("performance")  # of the page before
    driver.get(address)
    takes = driver.find_element("id", "takes").text
    assert "reads 2 columns of every word" in takes
    assert "the dog" in typed(driver, "the|T dog|T")
    chip = driver.find_element("css selector", ".answer .chip").text
    assert chip.startswith("the dog")
    assert "NP" in chip
    answer = driver.find_element("css selector", ".answer").text
    assert "Probabilities are not calibrated" in answer  # the loss is for margins
    driver.find_element("css selector", ".answer summary").click()
    # What is in a box is drawn when it has been opened, a moment later.
    driver.execute_async_script(
        """const done = arguments[0], look = () => document.querySelector(
        ".answer details h3") ? done() : setTimeout(look, 5); look();"""
    )
    assert "second best" in driver.find_element("css selector", ".answer").text
    # An alert would make every later command fail.
    assert HOSTILE in typed(driver, f"the|T {HOSTILE}|T")
    assert violations(driver) == []
    assert typed(driver, "")  # the example that is shown
    assert_quiet(driver, address)


def test_page_of_requests_names_their_fields(driver: Any, server: LiveServer) -> None:
    address = f"http://127.0.0.1:{server.port}/docs"
    driver.get_log("browser"), driver.get_log("performance")  # of the page before
    driver.get(address)
    text = driver.find_element("id", "page").text
    assert "POST /models/{name}/predict" in text
    assert "kbest body integer or null Add the best outputs." in text
    assert violations(driver) == []
    assert_quiet(driver, address)


def test_page_says_what_is_wrong(driver: Any, server: LiveServer) -> None:
    driver.get(f"http://127.0.0.1:{server.port}/")
    assert "write dog|TAG" in typed(driver, "the|T dog")
    assert "begins like JSON, but is not" in typed(driver, "{broken")
    driver.get_log("browser")  # refusals of the server are noted there


def test_page_changes_the_model(driver: Any, server: LiveServer) -> None:
    driver.get(f"http://127.0.0.1:{server.port}/")
    menu = driver.find_element("id", "model")
    menu.send_keys("dicts")
    assert "object of features" in driver.find_element("id", "takes").text
    assert "dog" in typed(driver, '[{"word": "the"}, {"word": "dog"}]')


def test_page_keeps_what_was_typed_but_no_example(
    driver: Any, server: LiveServer
) -> None:
    driver.get(f"http://127.0.0.1:{server.port}/")
    box, models = (driver.find_element("id", name) for name in ("text", "model"))
    typed(driver, "")  # nothing: the example is taken
    assert box.get_attribute("value") == "Dogs|TAG bark|TAG"
    models.send_keys("dicts")
    assert box.get_attribute("value") == ""
    box.send_keys("the dog")
    models.send_keys("chunks")
    assert box.get_attribute("value") == "the dog"
    # An answer that comes when another model has been chosen is not shown for it.
    late = driver.execute_async_script(
        """const done = arguments[0], real = window.fetch;
        const menu = document.getElementById("model");
        const answer = document.querySelector(".answer");
        document.getElementById("text").value = "the|T dog|T";
        window.fetch = async (...all) => { const reply = await real(...all);
          if (!all[1]) return reply; // it asks for the models themselves
          menu.value = "dicts"; menu.dispatchEvent(new Event("change"));
          setTimeout(() => done(answer.childElementCount), 50); return reply; };
        document.querySelector("button[type=submit]").click();"""
    )
    assert late == 0
