"""Issues that depend on others, from the links on the forge to the merges, over a restart."""

from tests.whole.stage import Stage, attempt, staged


async def link(stage: Stage, number: int, *, blocker: int = 0, child: int = 0) -> None:
    other = (await stage.get(f"/issues/{blocker or child}"))["id"]
    path, name = ("dependencies/blocked_by", "issue_id") if blocker else ("sub_issues", "sub_issue_id")
    answer = await stage.octo.post(f"/issues/{number}/{path}", json={name: other})
    assert answer.status_code == 201, answer.text


async def test_a_parent_its_part_and_what_the_part_waits_for_are_merged_in_order():
    async with staged() as stage:
        for title, name in (("Whole", "whole"), ("Part", "part"), ("Base", "base")):
            stage.play(title, [attempt({f"{name}.txt": f"{name}\n"})])
        first = await stage.file_issue("Base", labels=())
        part = await stage.file_issue("Part", body=f"Do it.\n\nBlocked by #{first}.")
        whole = await stage.file_issue("Whole")
        await link(stage, whole, child=part)
        stage.serve()
        await stage.until(part, "new")
        await stage.until(whole, "new")
        shown = (await stage.cli("task", "show", str(whole))).out
        assert f"it waits for #{part} (a sub-issue of it)" in shown
        assert stage.starts() == []
        await stage.kill()
        answer = await stage.octo.post(f"/issues/{first}/labels", json={"labels": ["nightcrew"]})
        assert answer.status_code == 200, answer.text
        stage.serve()
        await stage.until(whole, "done", within_s=90)
        assert [run["number"] for run in stage.runs("author")] == [first, part, whole]
        assert stage.git("ls-tree", "--name-only", "main").split() == [
            "README.md", "answer.txt", "base.txt", "part.txt", "whole.txt",
        ]  # fmt: skip


async def test_a_circle_is_blocked_and_a_word_starts_it():
    async with staged() as stage:
        for title in ("One", "Two"):
            stage.play(title, [attempt({f"{title}.txt": "done\n"})])
        one = await stage.file_issue("One")
        two = await stage.file_issue("Two", body=f"Depends on #{one}")
        await link(stage, one, blocker=two)
        stage.serve()
        await stage.until(one, "blocked")
        await stage.until(two, "blocked")
        assert f"#{one} → #{two} → #{one}" in "".join(await stage.comments(one))
        said = await stage.cli("task", "start", str(one))
        assert said.code == 0, said.err
        await stage.until(one, "done")
        await stage.until(two, "done")
