"""What of a home and of a CLI's own files is put into a sandbox."""

from dataclasses import replace

from nightcrew.ports.agent import Access, HomePath
from nightcrew.sandbox import Bind, ProgramView, ensure_home_view, find_program_view
from tests.adapters.sandbox.cell import Cell, add_bind

NEEDS = (
    HomePath(".tool/", Access.WRITE),
    HomePath(".tool/settings.json", Access.GUARD, "{}\n"),
    HomePath(".tool/hooks/", Access.GUARD),
    HomePath(".tool/running/", Access.EMPTY),
    HomePath(".tool/sessions/of-this/", Access.WRITE),
    HomePath(".toolrc", Access.READ),
)


def test_nothing_is_put_down_for_a_cli_that_was_never_used(tmp_path):
    view = ensure_home_view(tmp_path, NEEDS)
    assert (view.binds, view.private) == ((), ())
    assert list(tmp_path.iterdir()) == []


def test_what_is_to_be_guarded_is_there_and_stays_what_it_was(tmp_path):
    (tmp_path / ".tool" / "hooks").mkdir(parents=True)
    (tmp_path / ".tool" / "hooks" / "mine").touch()
    view = ensure_home_view(tmp_path, NEEDS)
    tool = tmp_path / ".tool"
    assert view.private == (tool / "running",)
    assert [bind.path for bind in view.binds if bind.writable] == [tool, tool / "sessions" / "of-this"]
    assert (tool / "settings.json").read_text() == "{}\n"
    (tool / "settings.json").write_text("mine")
    assert ensure_home_view(tmp_path, NEEDS) == view
    assert (tool / "settings.json").read_text() == "mine"
    assert (tool / "hooks" / "mine").exists()


async def test_an_agent_changes_its_login_but_nothing_that_is_obeyed(cell: Cell):
    tool = cell.home / ".tool"
    tool.mkdir()
    (tool / "login").write_text("old")
    (tool / "running").mkdir()
    (tool / "running" / "7.sh").write_text("of the person")
    view = ensure_home_view(cell.home, NEEDS)
    cell = add_bind(cell, *view.binds, private=view.private)
    await cell.says("cd ~/.tool && echo new > login.new && mv login.new login && echo x > sessions/of-this/x")
    for trick in ("echo x > settings.json", "echo x > s && mv s settings.json", "rm settings.json",
                  "ln -sf /x settings.json", "touch hooks/x", "mv hooks h", "rm -r hooks && mkdir hooks",
                  "mv ../.tool ../.other"):  # fmt: skip
        await cell.fails(f"cd ~/.tool && {trick}")
    await cell.run("cd ~/.tool && echo evil > running/7.sh")
    assert (tool / "login").read_text() == "new\n"
    assert (tool / "settings.json").read_text() == "{}\n"
    assert (tool / "running" / "7.sh").read_text() == "of the person"
    assert list((tool / "hooks").iterdir()) == []


def test_the_way_to_a_program_is_followed_to_its_package_and_interpreter(tmp_path):
    package = tmp_path / "lib" / "node_modules" / "@vendor" / "tool"
    package.mkdir(parents=True)
    bin_, real = tmp_path / "bin", tmp_path / "versions" / "node"
    bin_.mkdir()
    real.parent.mkdir()
    (package / "tool.js").write_text("#!/usr/bin/env -S node\n")
    (package / "tool.js").chmod(0o755)
    real.write_bytes(b"\x7fELF")
    real.chmod(0o755)
    (bin_ / "tool").symlink_to("../lib/node_modules/@vendor/tool/tool.js")
    (bin_ / "node").symlink_to(real)
    found = find_program_view("tool", search=f"/nowhere:{bin_}")
    assert {bind.path for bind in found.binds} == {tmp_path / "lib" / "node_modules", real}
    assert {link.path: link.target for link in found.links} == {bin_ / "tool": package / "tool.js", bin_ / "node": real}


def test_programs_of_the_system_need_nothing(tmp_path):
    assert find_program_view("sh", search="/usr/bin:/bin") == ProgramView((), ())
    assert find_program_view("no-such-program", search=str(tmp_path)) == ProgramView((), ())


def test_a_program_that_names_itself_as_its_interpreter_ends(tmp_path):
    (tmp_path / "loop").write_text(f"#!{tmp_path}/loop\n")
    (tmp_path / "loop").chmod(0o755)
    assert find_program_view("loop", search=str(tmp_path)).binds == (Bind(tmp_path / "loop"),)


async def test_a_program_from_the_home_runs_and_finds_its_neighbours(cell: Cell):
    package = cell.home / ".tools" / "lib" / "node_modules" / "tool"
    package.mkdir(parents=True)
    (package / "word").write_text("its neighbour")
    (package / "tool").write_text('#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/word"\n')
    (package / "tool").chmod(0o755)
    folder = cell.home / ".tools" / "bin"
    folder.mkdir()
    (folder / "tool").symlink_to("../lib/node_modules/tool/tool")
    await cell.fails('"$1"', folder / "tool")
    found = find_program_view("tool", search=str(folder))
    spec = replace(cell.spec, binds=(*cell.spec.binds, *found.binds), links=found.links)
    assert await replace(cell, spec=spec).says('"$1"', folder / "tool") == "its neighbour"
    # A link that is seen anyway, since its folder is bound, is no second one.
    spec = replace(spec, binds=(*spec.binds, Bind(folder)))
    assert await replace(cell, spec=spec).says('"$1"', folder / "tool") == "its neighbour"
