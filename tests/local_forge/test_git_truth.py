"""What the forge says about history and content, against what plain git says of the same repository."""

from tests.local_forge.world import REPO, World


async def test_conflicting_branches_are_refused_as_git_refuses_them(world: World):
    clone = world.clone()
    clone.commit("Two", {"app.py": "x = 2\n"}, branch="two")
    clone.commit("Three", {"app.py": "x = 3\n"}, branch="three")
    two, three = await world.pull("two"), await world.pull("three")
    assert (two["mergeable"], three["mergeable"]) == (True, True)
    merged = await world.octo.put(f"{REPO}/pulls/1/merge", json={"sha": two["head"]["sha"]})
    assert merged.status_code == 200

    assert world.bare_git("rev-parse", "main") == merged.json()["sha"]
    parents = world.bare_git("log", "-1", "--format=%P", "main").split()
    assert parents == [two["base"]["sha"], two["head"]["sha"]]
    after = (await world.octo.get(f"{REPO}/pulls/2")).json()
    assert (after["mergeable"], after["mergeable_state"]) == (False, "dirty")
    before = world.bare_git("rev-parse", "main")
    refused = await world.octo.put(f"{REPO}/pulls/2/merge")
    assert refused.status_code == 405
    assert refused.json()["message"] == "Pull Request is not mergeable"
    assert world.bare_git("rev-parse", "main") == before


async def test_moved_base_is_seen_and_merged_over(world: World):
    clone = world.clone()
    head = clone.commit("Feature", {"new.txt": "new\n"}, branch="feature")
    pull = await world.pull("feature")
    clone.git("checkout", "--quiet", "main")
    moved = clone.commit("Other", {"other.txt": "other\n"}, branch="main")
    seen = (await world.octo.get(f"{REPO}/pulls/1")).json()
    assert seen["base"]["sha"] == moved != pull["base"]["sha"]
    assert seen["head"]["sha"] == head
    compared = (await world.octo.get(f"{REPO}/compare/main...feature")).json()
    assert (compared["status"], compared["ahead_by"], compared["behind_by"]) == ("diverged", 1, 1)
    assert compared["merge_base_commit"]["sha"] == world.bare_git("merge-base", "main", "feature")
    answer = await world.octo.put(f"{REPO}/pulls/1/merge", json={"merge_method": "rebase"})
    assert answer.status_code == 200
    assert world.bare_git("log", "-1", "--format=%P", "main") == moved
    assert world.bare_git("ls-tree", "--name-only", "main").split() == ["README.md", "app.py", "new.txt", "other.txt"]
    assert world.bare_git("log", "-1", "--format=%an", "main") == "Pat Example"


async def test_test_merge_and_head_are_kept_as_refs(world: World):
    head = world.clone().commit("Feature", {"new.txt": "new\n"}, branch="feature")
    pull = await world.pull("feature")
    assert world.bare_git("rev-parse", "refs/pull/1/head") == head
    assert world.bare_git("rev-parse", "refs/pull/1/merge") == pull["merge_commit_sha"]
    assert world.bare_git("log", "-1", "--format=%P", "refs/pull/1/merge").split() == [pull["base"]["sha"], head]


async def test_push_is_seen_by_the_next_read(world: World):
    clone = world.clone()
    clone.commit("One", {"new.txt": "one\n"}, branch="feature")
    await world.pull("feature")
    first = (await world.octo.get(f"{REPO}/issues/1")).json()
    world.clock.move(60)
    second = clone.commit("Two", {"new.txt": "two\n"}, branch="feature")
    issue = (await world.octo.get(f"{REPO}/issues/1")).json()
    assert issue["updated_at"] > first["updated_at"]
    assert (await world.octo.get(f"{REPO}/pulls/1")).json()["head"]["sha"] == second
    assert world.bare_git("rev-parse", "refs/pull/1/head") == second
    timeline = (await world.octo.get(f"{REPO}/issues/1/timeline")).json()
    assert [e["sha"] for e in timeline if e["event"] == "committed"][-1] == second
    assert "head_ref_force_pushed" not in {e["event"] for e in timeline}

    clone.git("commit", "--quiet", "--amend", "--message", "Two, again")
    clone.push("feature", force=True)
    timeline = (await world.octo.get(f"{REPO}/issues/1/timeline")).json()
    forced = [e for e in timeline if e["event"] == "head_ref_force_pushed"]
    assert [e["commit_id"] for e in forced] == [world.bare_git("rev-parse", "feature")]


async def test_base_pushed_with_the_head_in_it_counts_as_merged(world: World):
    clone = world.clone()
    clone.commit("Feature", {"new.txt": "new\n"}, branch="feature")
    await world.pull("feature", body="")
    clone.git("checkout", "--quiet", "main")
    clone.git("merge", "--quiet", "--no-ff", "--message", "By hand", "feature")
    clone.push("main")
    pull = (await world.octo.get(f"{REPO}/pulls/1")).json()
    assert (pull["state"], pull["merged"]) == ("closed", True)
    assert pull["merge_commit_sha"] == world.bare_git("rev-parse", "main")
    assert pull["commits"] == 1


async def test_head_pushed_over_with_another_history_is_not_mergeable(world: World):
    clone = world.clone()
    clone.commit("Feature", {"new.txt": "new\n"}, branch="feature")
    await world.pull("feature")
    clone.git("checkout", "--quiet", "--orphan", "alone")
    clone.git("commit", "--quiet", "--message", "Alone")
    clone.git("push", "--quiet", "--force", "origin", "alone:feature")
    pull = (await world.octo.get(f"{REPO}/pulls/1")).json()
    assert (pull["state"], pull["mergeable"], pull["mergeable_state"]) == ("open", False, "dirty")
    assert (await world.octo.put(f"{REPO}/pulls/1/merge")).status_code == 405


async def test_deleted_branch_closes_and_cannot_be_reopened(world: World):
    clone = world.clone()
    clone.commit("Feature", {"new.txt": "new\n"}, branch="feature")
    await world.pull("feature")
    clone.git("push", "--quiet", "origin", "--delete", "feature")
    pull = (await world.octo.get(f"{REPO}/pulls/1")).json()
    assert (pull["state"], pull["merged"]) == ("closed", False)
    refused = await world.octo.patch(f"{REPO}/pulls/1", json={"state": "open"})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["message"] == "state cannot be changed. The feature branch has been deleted."
    clone.push("feature")
    reopened = await world.octo.patch(f"{REPO}/pulls/1", json={"state": "open"})
    assert (reopened.status_code, reopened.json()["state"]) == (200, "open")


async def test_files_agree_with_git(world: World):
    clone = world.clone()
    files = {"app.py": "x = 1\ny = 2\n", "dir/ü näme.txt": "a\nb\n", "moved.md": "# Demo\n", "bin": "\0\1"}
    clone.git("checkout", "--quiet", "-b", "feature")
    clone.git("rm", "--quiet", "README.md")
    clone.commit("Many", files, branch="feature")
    await world.pull("feature")
    shown = {f["filename"]: f for f in (await world.octo.get(f"{REPO}/pulls/1/files")).json()}
    numstat = world.bare_git("-c", "core.quotePath=false", "diff", "-M", "--numstat", "main...feature").splitlines()
    assert len(numstat) == len(shown)
    assert shown["moved.md"]["status"] == "renamed"
    assert shown["moved.md"]["previous_filename"] == "README.md"
    assert (shown["app.py"]["additions"], shown["app.py"]["deletions"]) == (1, 0)
    assert shown["app.py"]["patch"].endswith("+y = 2")
    assert shown["app.py"]["sha"] == world.bare_git("rev-parse", "feature:app.py")
    assert shown["dir/ü näme.txt"]["status"] == "added"
    assert "patch" not in shown["bin"]


async def test_squash_and_delete_branch(world: World):
    world.forge.configure("octo/demo", delete_branch_on_merge=True)
    clone = world.clone()
    clone.commit("One", {"a.txt": "a\n"}, branch="feature")
    clone.commit("Two", {"b.txt": "b\n"}, branch="feature")
    clone.commit("Stacked", {"c.txt": "c\n"}, branch="stacked", start="feature")
    await world.pull("feature")
    await world.pull("stacked", base="feature")
    answer = await world.octo.put(f"{REPO}/pulls/1/merge", json={"merge_method": "squash"})
    assert answer.status_code == 200
    message = world.bare_git("log", "-1", "--format=%B", "main")
    assert message == "From feature (#1)\n\n* One\n\n* Two"
    assert world.bare_git("branch", "--format=%(refname:short)").split() == ["main", "stacked"]
    stacked = (await world.octo.get(f"{REPO}/pulls/2")).json()
    assert (stacked["state"], stacked["base"]["ref"]) == ("open", "main")


async def test_update_branch_merges_the_base(world: World):
    clone = world.clone()
    head = clone.commit("Feature", {"new.txt": "new\n"}, branch="feature")
    await world.pull("feature")
    clone.git("checkout", "--quiet", "main")
    base = clone.commit("Other", {"other.txt": "other\n"}, branch="main")
    url = f"{REPO}/pulls/1/update-branch"
    wrong = await world.octo.put(url, json={"expected_head_sha": "0" * 40})
    assert wrong.status_code == 422
    assert (await world.octo.put(url, json={"expected_head_sha": head})).status_code == 202
    assert world.bare_git("log", "-1", "--format=%P", "feature").split() == [head, base]
    assert (await world.octo.put(url)).status_code == 422


async def test_refs_over_the_api_are_refs_in_git(world: World):
    main = world.bare_git("rev-parse", "main")
    head = world.clone().commit("Feature", {"new.txt": "new\n"}, branch="feature")
    made = await world.octo.post(f"{REPO}/git/refs", json={"ref": "refs/heads/claims/1", "sha": main})
    assert made.status_code == 201
    again = await world.octo.post(f"{REPO}/git/refs", json={"ref": "refs/heads/claims/1", "sha": main})
    assert (again.status_code, again.json()["message"]) == (422, "Reference already exists")
    url = f"{REPO}/git/refs/heads/claims/1"
    assert (await world.octo.patch(url, json={"sha": head})).json()["object"]["sha"] == head
    back = await world.octo.patch(url, json={"sha": main})
    assert (back.status_code, back.json()["message"]) == (422, "Update is not a fast forward")
    assert (await world.octo.patch(url, json={"sha": main, "force": True})).status_code == 200
    found = (await world.octo.get(f"{REPO}/git/matching-refs/heads/cl")).json()
    assert [ref["ref"] for ref in found] == ["refs/heads/claims/1"]
    assert (await world.octo.get(f"{REPO}/git/ref/heads/claims/1")).json()["object"]["sha"] == main
    assert (await world.octo.delete(url)).status_code == 204
    assert (await world.octo.delete(url)).status_code == 422
    assert (await world.octo.get(f"{REPO}/git/ref/heads/claims/1")).status_code == 404


async def test_hostile_names_reach_no_command_line(world: World):
    before = world.bare_git("for-each-ref")
    main = world.bare_git("rev-parse", "main")
    for name in ("--upload-pack=x", "a..b", "a b", "x.lock", "@{0}", "a^", "../../../etc/x", "-d", "a\nb"):
        made = await world.octo.post(f"{REPO}/git/refs", json={"ref": f"refs/heads/{name}", "sha": main})
        assert made.status_code == 422, name
        pull = await world.octo.post(f"{REPO}/pulls", json={"title": "x", "head": name, "base": "main"})
        assert pull.json()["errors"][0] == {"resource": "PullRequest", "code": "invalid", "field": "head"}
    for name in ("--help", "main^", "HEAD", "main:app.py", "%2e%2e"):
        assert (await world.octo.get(f"{REPO}/commits/{name}")).status_code == 422, name
    assert (await world.octo.post(f"{REPO}/git/refs", json={"ref": "refs/x", "sha": "--all"})).status_code == 422
    assert world.bare_git("for-each-ref") == before


async def test_git_data_makes_real_objects(world: World):
    main = world.bare_git("rev-parse", "main")
    blob = (await world.octo.post(f"{REPO}/git/blobs", json={"content": "aGk=", "encoding": "base64"})).json()["sha"]
    entries = [{"path": "dir/hi", "mode": "100644", "type": "blob", "sha": blob}]
    tree = (await world.octo.post(f"{REPO}/git/trees", json={"tree": entries, "base_tree": main})).json()["sha"]
    body = {"message": "By API", "tree": tree, "parents": [main]}
    commit = (await world.octo.post(f"{REPO}/git/commits", json=body)).json()
    assert world.bare_git("ls-tree", "-r", "--name-only", commit["sha"]).split() == ["README.md", "app.py", "dir/hi"]
    assert world.bare_git("cat-file", "blob", blob) == "hi"
    assert (await world.octo.get(f"{REPO}/git/commits/{commit['sha']}")).json()["parents"][0]["sha"] == main
    shown = (await world.octo.get(f"{REPO}/commits/{commit['sha']}")).json()
    assert [file["filename"] for file in shown["files"]] == ["dir/hi"]


async def test_import_takes_all_branches_and_tags(world: World):
    clone = world.clone()
    clone.commit("Feature", {"new.txt": "new\n"}, branch="trunk")
    clone.git("tag", "v1")
    status = clone.git("status", "--porcelain", "--branch")
    bare = await world.forge.create_repository("octo/copy", import_from=clone.folder)
    repo = (await world.octo.get("/repos/octo/copy")).json()
    assert repo["default_branch"] == "trunk"
    names = clone.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags")
    assert names == clone.git("--git-dir", str(bare), "for-each-ref", "--format=%(refname) %(objectname)")
    assert clone.git("status", "--porcelain", "--branch") == status
    assert repo["clone_url"] == bare.as_uri()


async def test_empty_repository_says_so(world: World):
    await world.forge.create_repository("octo/empty")
    answer = await world.octo.get("/repos/octo/empty/commits/main")
    assert (answer.status_code, answer.json()["message"]) == (409, "Git Repository is empty.")


async def test_what_stands_on_a_merged_branch_goes_to_its_base_when_that_is_deleted(world: World):
    clone = world.clone()
    clone.commit("below", {"a": "1"}, branch="below")
    await world.pull("below")
    clone.commit("above", {"b": "1"}, branch="above", start="origin/below")
    made = await world.octo.post(f"{REPO}/pulls", json={"title": "Above", "head": "above", "base": "below"})
    number = made.json()["number"]
    assert (await world.octo.put(f"{REPO}/pulls/1/merge", json={"merge_method": "squash"})).status_code == 200
    clone.git("push", "--quiet", "origin", "--delete", "below")
    above = (await world.octo.get(f"{REPO}/pulls/{number}")).json()
    assert (above["state"], above["base"]["ref"]) == ("open", "main")
