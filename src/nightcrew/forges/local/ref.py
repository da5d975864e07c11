"""Git refs and objects over the API. Names are checked before git sees them; every move is compare-and-set in git."""

import base64
import binascii
import tempfile
from typing import Any
from urllib.parse import quote

from nightcrew.forges.local.call import Answer, Call, Route, text_of
from nightcrew.forges.local.commit import refuse_empty, render_git_commit
from nightcrew.forges.local.error import Refusal, flaw, invalid, not_found
from nightcrew.forges.local.git import ZERO, Signature, is_ref_name, is_sha
from nightcrew.forges.local.page import page_of
from nightcrew.forges.local.push import observe_pushes
from nightcrew.forges.local.user import node_id


async def render_ref(call: Call, full_name: str, sha: str) -> dict[str, Any]:
    kind = await call.git.kind_of(sha) or "commit"
    return {
        "ref": full_name,
        "node_id": node_id("Ref" + full_name, call.repo["id"]),
        "url": f"{call.repo_url}/git/{quote(full_name)}",
        "object": {"sha": sha, "type": kind, "url": f"{call.repo_url}/git/{kind}s/{sha}"},
    }


async def get_ref(call: Call) -> Answer:
    full_name = f"refs/{call.params['ref']}"
    sha = await call.git.ref(full_name)
    if sha is None:
        await refuse_empty(call)
        raise not_found()
    return Answer(200, await render_ref(call, full_name, sha))


async def list_matching(call: Call) -> Answer:
    """Refs whose name starts with what is given, to the letter."""
    prefix = f"refs/{call.params['ref']}"
    folder = prefix.rsplit("/", 1)[0] + "/"
    safe = folder if is_ref_name(folder.rstrip("/")) or folder == "refs/" else None
    found = await call.git.refs(safe) if safe else {}
    names = sorted(name for name in found if name.startswith(prefix))
    return page_of(call, [await render_ref(call, name, found[name]) for name in names])


async def create_ref(call: Call) -> Answer:
    body = call.body()
    full_name, sha = text_of(body, "ref"), text_of(body, "sha")
    if not full_name.startswith("refs/") or full_name.count("/") < 2:
        raise Refusal(422, "Reference name must start with 'refs/' and have at least two slashes.")
    if not is_ref_name(full_name) or not is_ref_name(full_name.split("/", 2)[2]):
        raise Refusal(422, f"{full_name} is not a valid ref name.")
    if await call.git.kind_of(sha) is None:
        raise Refusal(422, "Object does not exist")
    if await call.git.ref(full_name) is not None or not await call.git.move_ref(full_name, new=sha, old=ZERO):
        raise Refusal(422, "Reference already exists")
    await observe_pushes(call)
    shown = await render_ref(call, full_name, sha)
    return Answer(201, shown, {"Location": shown["url"]})


async def update_ref(call: Call) -> Answer:
    body = call.body()
    full_name, sha = f"refs/{call.params['ref']}", text_of(body, "sha")
    old = await call.git.ref(full_name)
    if old is None:
        raise Refusal(422, "Reference does not exist")
    if await call.git.kind_of(sha) is None:
        raise Refusal(422, "Object does not exist")
    if body.get("force") is not True and not await call.git.is_ancestor(old, sha):
        raise Refusal(422, "Update is not a fast forward")
    if not await call.git.move_ref(full_name, new=sha, old=old):
        raise Refusal(409, "Reference update failed")
    await observe_pushes(call)
    return Answer(200, await render_ref(call, full_name, sha))


async def delete_ref(call: Call) -> Answer:
    full_name = f"refs/{call.params['ref']}"
    old = await call.git.ref(full_name)
    if old is None:
        raise Refusal(422, "Reference does not exist")
    if full_name == f"refs/heads/{call.repo['default_branch']}":
        raise Refusal(422, "Cannot delete the default branch")
    if not await call.git.delete_ref(full_name, old=old):
        raise Refusal(409, "Reference update failed")
    await observe_pushes(call)
    return Answer(204)


async def create_blob(call: Call) -> Answer:
    body = call.body()
    content = text_of(body, "content").encode()
    if body.get("encoding") == "base64":
        try:
            content = base64.b64decode(content, validate=False)
        except binascii.Error as error:
            raise Refusal(422, "content is not valid Base64") from error
    sha = (await call.git.run("hash-object", "-w", "--stdin", stdin=content)).text.strip()
    url = f"{call.repo_url}/git/blobs/{sha}"
    return Answer(201, {"sha": sha, "url": url}, {"Location": url})


async def create_tree(call: Call) -> Answer:
    """A tree from entries, over `base_tree` if that is given; built in an index of its own."""
    body = call.body()
    entries = body.get("tree")
    base = body.get("base_tree")
    if not isinstance(entries, list) or (base and await call.git.kind_of(str(base)) not in {"tree", "commit"}):
        raise invalid(flaw("Tree", "invalid", "tree"))
    lines = [await _tree_line(call, entry) for entry in entries]
    sha = await _write_tree(call, str(base) if base else None, lines)
    listed = await call.git.text("ls-tree", sha)
    tree = [_render_entry(call, line) for line in listed.splitlines()]
    url = f"{call.repo_url}/git/trees/{sha}"
    return Answer(201, {"sha": sha, "url": url, "tree": tree, "truncated": False}, {"Location": url})


def _render_entry(call: Call, line: str) -> dict[str, Any]:
    meta, _, path = line.partition("\t")
    mode, kind, sha = meta.split(" ")
    return {"path": path, "mode": mode, "type": kind, "sha": sha, "url": f"{call.repo_url}/git/{kind}s/{sha}"}


async def _tree_line(call: Call, entry: Any) -> str:
    if not isinstance(entry, dict) or not isinstance(entry.get("path"), str) or "\0" in entry["path"]:
        raise invalid(flaw("Tree", "invalid", "path"))
    if "sha" in entry and entry["sha"] is None:
        return f"0 {ZERO}\t{entry['path']}\0"
    sha = entry.get("sha")
    if sha is None:
        text = text_of(entry, "content").encode()
        sha = (await call.git.run("hash-object", "-w", "--stdin", stdin=text)).text.strip()
    mode = entry.get("mode") or "100644"
    if not is_sha(str(sha)) or mode not in {"100644", "100755", "120000", "160000", "040000"}:
        raise invalid(flaw("Tree", "invalid", "sha"))
    return f"{mode} {sha}\t{entry['path']}\0"


async def _write_tree(call: Call, base: str | None, lines: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        env = {"GIT_INDEX_FILE": f"{folder}/index"}
        if base:
            await call.git.run("read-tree", base, env=env)
        text = "".join(lines).encode()
        done = await call.git.run("update-index", "-z", "--index-info", stdin=text, env=env, ok=(0, 128))
        if done.returncode != 0:
            raise invalid(flaw("Tree", "invalid", "path", done.complaint))
        return (await call.git.run("write-tree", env=env)).text.strip()


async def create_commit(call: Call) -> Answer:
    body = call.body()
    tree, parents = text_of(body, "tree"), body.get("parents") or []
    if await call.git.kind_of(tree) != "tree":
        raise Refusal(422, "Tree SHA does not exist")
    if not isinstance(parents, list):
        raise invalid(flaw("Commit", "invalid", "parents"))
    for parent in parents:
        if await call.git.kind_of(str(parent)) != "commit":
            raise Refusal(422, "Parent SHA does not exist or is not a commit object")
    user = call.user.user
    own = Signature(user["name"] or user["login"], user["email"], call.now.isoformat())
    author = _signature(body.get("author"), own)
    sha = await call.git.commit_tree(
        tree,
        [str(parent) for parent in parents],
        message=text_of(body, "message"),
        author=author,
        committer=_signature(body.get("committer"), author),
    )
    shown = render_git_commit(call, await call.git.commit(sha))
    return Answer(201, shown, {"Location": shown["url"]})


def _signature(given: Any, own: Signature) -> Signature:
    if not isinstance(given, dict):
        return own
    return Signature(text_of(given, "name"), text_of(given, "email"), text_of(given, "date", own.date))


_WRITE = "contents=write"

ROUTES = [
    Route("GET", "~/git/ref/{ref:path}", get_ref, needs="contents=read"),
    Route("GET", "~/git/matching-refs/{ref:path}", list_matching, needs="contents=read"),
    Route("POST", "~/git/refs", create_ref, needs=_WRITE, role="write"),
    Route("PATCH", "~/git/refs/{ref:path}", update_ref, needs=_WRITE, role="write"),
    Route("DELETE", "~/git/refs/{ref:path}", delete_ref, needs=_WRITE, role="write"),
    Route("POST", "~/git/blobs", create_blob, needs=_WRITE, role="write"),
    Route("POST", "~/git/trees", create_tree, needs=_WRITE, role="write"),
    Route("POST", "~/git/commits", create_commit, needs=_WRITE, role="write"),
]
