"""An estimator of another package."""

from partwise import MulticlassClassifier


class Sorter(MulticlassClassifier):
    """Sorts lines by their words."""

    def sort(self, lines: list[str]) -> list[str]:
        """Return the label of every line."""
        return [str(label) for label in self.predict(list(map(words, lines)))]


def words(line: str) -> dict[str, bool]:
    """Return what a classifier reads of a line."""
    return dict.fromkeys(line.split(), True)
