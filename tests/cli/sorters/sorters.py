"""A kind that this package adds to the command line: sorters of lines."""

from partwise.cli.kinds import Kind

KIND = Kind(
    estimator="line_sorter:Sorter",
    one="a sorter",
    many="sorters",
    data="lines of words",
    command="sorter",
    train="sorter_commands:sorter",
    predict="sorter_commands:predict",
    inspect="sorter_commands:inspect",
)
