"""Comments on lines: where they land in git's diff, and what is refused."""

from nightcrew.forges.local.review_comment import find_line
from tests.local_forge.world import REPO, World

PATCH = "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n@@ -10,2 +10,3 @@ def f\n ten\n+eleven\n twelve"


def test_line_is_found_on_its_side():
    assert find_line(PATCH, line=2, side="RIGHT") == (3, "@@ -1,3 +1,3 @@\n one\n-two\n+TWO")
    assert find_line(PATCH, line=2, side="LEFT") == (2, "@@ -1,3 +1,3 @@\n one\n-two")
    assert find_line(PATCH, line=11, side="RIGHT") == (7, "@@ -10,2 +10,3 @@ def f\n ten\n+eleven")
    assert find_line(PATCH, line=12, side="RIGHT") == (8, "@@ -10,2 +10,3 @@ def f\n ten\n+eleven\n twelve")
    assert find_line(PATCH, line=5, side="RIGHT") is None


async def test_single_comments_by_line_position_and_file(world: World):
    world.clone().commit("Change", {"app.py": "x = 2\n", "new.py": "a\nb\n"}, branch="feature")
    sha = (await world.pull("feature"))["head"]["sha"]
    url = f"{REPO}/pulls/1/comments"

    async def put(**body: object) -> tuple[int, int | None, str | None]:
        answer = await world.bob.post(url, json={"commit_id": sha, "body": "hm", **body})
        shown = answer.json()
        return answer.status_code, shown.get("line"), shown.get("side")

    assert await put(path="new.py", line=2) == (201, 2, "RIGHT")
    assert await put(path="app.py", line=1, side="LEFT") == (201, 1, "LEFT")
    assert await put(path="new.py", position=1) == (201, 1, "RIGHT")
    assert await put(path="app.py", position=1) == (201, 1, "LEFT")
    assert await put(path="new.py", subject_type="file") == (201, None, "RIGHT")
    for bad in ({"path": "absent"}, {"path": "new.py", "line": 9}, {"path": "new.py", "position": 99}):
        assert (await put(**bad))[0] == 422
    assert (await put(path="new.py", line=1, commit_id="0" * 40))[0] == 422
    assert len((await world.octo.get(url)).json()) == 5
    assert [r["state"] for r in (await world.octo.get(f"{REPO}/pulls/1/reviews")).json()] == ["COMMENTED"] * 5
    ids = [c["id"] for c in (await world.octo.get(url, params={"sort": "created", "direction": "desc"})).json()]
    assert ids == sorted(ids, reverse=True)


async def test_rest_of_the_small_reads(world: World):
    clone = world.clone()
    clone.commit("Feature", {"new.txt": "x"}, branch="feature")
    await world.pull("feature")
    assert (await world.octo.get("/users/bob")).json()["login"] == "bob"
    assert (await world.octo.get("/users/nobody")).status_code == 404
    commits = (await world.octo.get(f"{REPO}/commits", params={"sha": "feature"})).json()
    assert [c["sha"] for c in commits] == clone.git("rev-list", "feature").split()
    branches = (await world.octo.get(f"{REPO}/branches")).json()
    assert [b["name"] for b in branches] == ["feature", "main"]
    assert (await world.octo.get(f"{REPO}/branches/absent")).status_code == 404
    await world.octo.post(f"{REPO}/pulls/1/requested_reviewers", json={"reviewers": ["bob"]})
    url = f"{REPO}/pulls/1/requested_reviewers"
    assert [u["login"] for u in (await world.octo.get(url)).json()["users"]] == ["bob"]
    await world.octo.request("DELETE", url, json={"reviewers": ["bob"]})
    assert (await world.octo.get(url)).json()["users"] == []
    await world.octo.post(f"{REPO}/issues/1/labels", json={"labels": ["temporary", "kept"]})
    assert (await world.octo.delete(f"{REPO}/labels/temporary")).status_code == 204
    assert [x["name"] for x in (await world.octo.get(f"{REPO}/issues/1/labels")).json()] == ["kept"]
    assert (await world.octo.delete(f"{REPO}/issues/1/labels")).status_code == 204
    world.forge.log.clear()
    await world.octo.get(f"{REPO}/labels")
    assert (world.forge.log.counted, len(world.forge.log.matching("GET", "/labels"))) == (1, 1)
    assert world.forge.log.size > 0
