"""More issues than a page of the forge's lists holds."""

from tests.waiting import eventually
from tests.whole.stage import attempt, staged

MANY = 110


async def test_what_changes_beyond_the_first_page_is_seen():
    async with staged() as stage:
        stage.play("The oldest", [attempt({"answer.txt": "42\n"})])
        # `no-agent` keeps them where they are: this is about being seen, not about being worked on.
        oldest = await stage.file_issue("The oldest", labels=["nightcrew", "no-agent"])
        for number in range(MANY):
            await stage.file_issue(f"Issue {number}", labels=["nightcrew", "no-agent"] if number % 11 == 0 else [])
        stage.serve()
        wanted = 1 + len(range(0, MANY, 11))

        def adopted() -> object:
            return len(stage.rows("SELECT * FROM tasks WHERE moving_to IS NULL")) == wanted

        await eventually(adopted, within_s=40, every_s=0.1, what="all that ask to be tasks")
        assert (await stage.get("/issues?per_page=100&state=open"))[-1]["number"] > oldest, (
            "it is not on the first page"
        )
        answer = await stage.bob.delete(f"/issues/{oldest}/labels/no-agent")
        assert answer.status_code == 200
        await stage.until(oldest, "done")
        assert stage.git("show", "main:answer.txt") == "42"
        assert len(stage.starts()) == 2
