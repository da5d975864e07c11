"""The benchmarks can be run: each has its module, and measures something when it is made as small as possible.

What the figures are is no matter here.
"""

import json
from importlib import import_module

import pytest
from bench.__main__ import BENCHMARKS, main, measure, parse_arguments
from bench.figure import Figure, render_figures


def test_names_and_options_are_read():
    options = parse_arguments(["cli", "tick", "--json", "--tiny"])
    assert (options.names, options.json, options.tiny) == (["cli", "tick"], True, True)
    assert parse_arguments([]).names == []


def test_an_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit):
        parse_arguments(["speed"])
    assert "there is no benchmark speed" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["idle", "hour", "tick", "tmux", "decide"])
def test_a_tiny_one_measures_and_leaves_nothing(name, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    figures = measure(name, tiny=True)
    assert figures
    assert all(figure.benchmark == name and figure.value >= 0 for figure in figures)
    assert list(tmp_path.iterdir()) == []


def test_each_has_a_module():
    for name in BENCHMARKS:
        assert callable(import_module(f"bench.{name}").measure)


def test_figures_come_as_json(capsys):
    assert main(["decide", "--tiny", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [figure["benchmark"] for figure in answer["figures"]] == ["decide"]
    assert answer["failed"] == []


@pytest.mark.parametrize(("value", "floor", "met"), [(150, 100, True), (151, 100, False), (2, None, False)])
def test_an_aim_is_for_the_ratio_where_there_is_a_floor(value, floor, met):
    figure = Figure("x", "y", value, "ms", floor=floor, aim=1.5)
    assert figure.met is met
    assert ("NO" in render_figures([figure])) is not met
