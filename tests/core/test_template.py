"""Messages with named places: filled in once, and nothing that is filled in is read again."""

import pytest

from nightcrew.core.template import fill_places, unknown_places


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Look at {pull} of {project}.", "Look at #7 of a/b."),
        ("{task}{task}", "a/b#1a/b#1"),
        ("{why}", "{task} {0.__class__} %s {why}"),
        ("no {head} yet", "no  yet"),
        ('{"json": 1} {} {0} {{task}}', '{"json": 1} {} {0} {a/b#1}'),
        ("{why.upper} {why!r} {why:>9}", "{why.upper} {why!r} {why:>9}"),
    ],
)
def test_places_are_filled_in_one_pass(message, said):
    values = {"project": "a/b", "task": "a/b#1", "pull": "#7", "why": "{task} {0.__class__} %s {why}"}
    assert fill_places(message, values) == said


def test_unknown_names_are_told_each_once():
    assert unknown_places("{pull} {nobody} {x} {nobody} { why }") == ("nobody", "x")
