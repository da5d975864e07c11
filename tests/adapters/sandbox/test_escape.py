"""What an agent tries in its sandbox, and what must not come of it. Real processes, files and sockets."""

import contextlib
import os
import socket
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from nightcrew.sandbox import Network
from tests.adapters.sandbox.cell import Cell, is_alive, reviewer_cell
from tests.adapters.workspaces.house import git
from tests.waiting import eventually


@contextlib.contextmanager
def bystander(marker: str):
    """A process of the same user outside, with a secret in its environment."""
    argv = [sys.executable, "-I", "-S", "-c", "import sys; print('up', flush=True); sys.stdin.read()", marker]
    with subprocess.Popen(argv, env={"SECRET": marker}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


# --- Reading --------------------------------------------------------------------------------------------------------


async def test_the_main_checkout_is_not_there(cell: Cell):
    assert "No such file" in await cell.fails('cat "$1"', cell.house.person / "README.md")
    assert "No such file" in await cell.fails('ls "$1"', cell.house.bare)


async def test_another_worktree_is_not_there(cell: Cell):
    other = await cell.house.start(run="run-9", number=8)
    await cell.fails('cat "$1"/README.md', other.path)
    await cell.fails('ls "$1"', cell.house.agents_of(8) / "worktrees" / other.path.name)
    assert await cell.says('ls "$1"', cell.house.agents / "worktrees") == cell.tree.name
    assert await cell.says("git worktree list | wc -l") == "2"  # the repository itself, and its own


@pytest.mark.parametrize("name", [".ssh/id_ed25519", ".config/gh/hosts.yml", ".aws/credentials", ".netrc",
                                  ".git-credentials", "nightcrew/home/config.yaml", "nightcrew/home/nightcrew.db",
                                  "nightcrew/home/runs/acme/6 author/prompt.md", ".bash_history"])  # fmt: skip
async def test_secrets_of_the_home_are_not_there(cell: Cell, name):
    path = cell.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a secret")
    await cell.fails('cat "$1"', path)
    assert "a secret" not in (await cell.run("grep -rs 'a secret' ~ /tmp /etc /run /var /root /home")).text


async def test_the_system_shows_no_secret(cell: Cell):
    for path in ("/etc/shadow", "/etc/sudoers", "/etc/ssl/private", "/etc/ssh", "/root/.bashrc", "/var/lib",
                 "/run/user", "/run/dbus", "/run/docker.sock", "/sys/kernel", "/boot", "/mnt", "/srv"):  # fmt: skip
        await cell.fails('test -e "$1"', path)


async def test_other_processes_are_not_seen(cell: Cell):
    marker = uuid.uuid4().hex
    with bystander(marker) as process:
        assert marker.encode() in Path(f"/proc/{process.pid}/environ").read_bytes()
        seen = await cell.run("cat /proc/*/environ /proc/*/cmdline /proc/*/task/*/environ 2>/dev/null | tr '\\0' '\\n'")
        assert "HOME=" in seen.text
        assert marker not in seen.text
        assert int(await cell.says("ls -d /proc/[0-9]* | wc -l")) < 12


async def test_its_proc_opens_no_way_to_the_outer_root(cell: Cell):
    outside = cell.house.person / "README.md"
    await cell.fails(
        'cat "/proc/1/root$1" || cat "/proc/self/root$1" || cat "/proc/$PPID/root$1" || cat "/proc/1/cwd/$1"', outside
    )


async def test_a_link_out_of_the_workspace_leads_nowhere(cell: Cell):
    secret = cell.home / "secret"
    secret.write_text("a secret")
    (cell.tree / "link").symlink_to(secret)
    (cell.tree / "up").symlink_to("../../../../../../../../etc")
    await cell.fails("cat link")
    await cell.fails("cat up/shadow")
    await cell.run("echo changed > link")
    assert secret.read_text() == "a secret"


async def test_a_hard_link_out_of_a_mount_cannot_be_made(cell: Cell):
    for target in ("/etc/passwd", "/usr/bin/env", cell.house.agents / "config", cell.house.agents / "HEAD"):
        await cell.fails('ln "$1" here', target)
    await cell.fails("mount --bind / /tmp")
    await cell.fails("mknod /tmp/disk b 8 0")
    await cell.fails("chroot / true")


# --- Writing --------------------------------------------------------------------------------------------------------


async def test_the_system_cannot_be_written(cell: Cell):
    for path in ("/etc/passwd", "/etc/new", "/usr/bin/new", "/new", "/bin/new", "/opt/new"):
        await cell.fails('echo x > "$1"', path)
    for path in ("kernel/core_pattern", "kernel/modprobe", "vm/drop_caches", "kernel/hostname", "net/ipv4/ip_forward"):
        await cell.fails('exec 3>"/proc/sys/$1"', path)  # opening is enough to know
    await cell.fails('exec 3>"$1"', "/proc/sysrq-trigger")
    await cell.fails("hostname evil")


async def test_no_hook_and_no_setting_reaches_git_outside(cell: Cell):
    agents, evil = cell.house.agents, cell.tree / "evil"
    before = (agents / "config").read_bytes()
    hook = 'printf "#!/bin/sh\\ntouch %s\\n" "$2" > "$1" && chmod +x "$1"'
    for where in (agents / "hooks", cell.house.admin / "hooks"):
        await cell.run(f'mkdir -p "$1"; set -- "$1/post-checkout" "$2"; {hook}', where, evil)
    await cell.fails('git config core.hooksPath "$1"', cell.tree)
    await cell.fails('echo x >> "$1"', agents / "config")
    await cell.fails('echo x > "$1.new" && mv "$1.new" "$1"', agents / "config")
    await cell.fails('rm "$1"', agents / "config")
    await cell.fails('mv "$1" "$1.old"', agents)
    await cell.run('echo "/" > "$1/info/attributes"; echo x > "$1/config.worktree"; mkdir "$1/modules"', agents)
    assert (agents / "config").read_bytes() == before
    assert sorted(path.name for path in agents.iterdir()) == [
        "HEAD", "config", "objects", "packed-refs", "refs", "worktrees"
    ]  # fmt: skip
    git(cell.tree, "checkout", "-q", "--detach")
    assert not evil.exists()


async def test_borrowed_objects_stay_as_they_are(cell: Cell):
    objects = cell.house.engine / "objects"
    await cell.fails('touch "$1/new"', objects)
    await cell.fails('rm -r "$1"/*', objects)
    await cell.fails('ls "$1/.." | grep -v "^objects$"', objects)
    alternates = cell.house.agents / "objects" / "info" / "alternates"
    before = alternates.read_bytes()
    await cell.fails('echo / >> "$1"', alternates)
    await cell.fails('mv "$1" "$1.old"', alternates.parent)
    assert alternates.read_bytes() == before


async def test_the_link_of_the_worktree_stays(cell: Cell):
    await cell.fails('echo / > "$1"', cell.house.admin / "commondir")
    await cell.fails('mv "$1" "$1.old" || rm -r "$1"/commondir', cell.house.admin)


async def test_the_branch_and_the_objects_of_another_task_are_out_of_reach(cell: Cell):
    other = await cell.house.start(run="run-9", number=8)
    git(other.path, "commit", "-q", "--allow-empty", "-m", "theirs")
    branch, theirs = git(other.path, "symbolic-ref", "HEAD"), git(other.path, "rev-parse", "HEAD")
    place = cell.house.agents_of(8)
    await cell.fails('ls "$1"', place)
    await cell.fails('git --git-dir="$1" update-ref "$2" HEAD', place, branch)
    await cell.fails('rm -r "$1"/objects/* || mv "$1" "$1.old"', place)
    await cell.fails('git cat-file -e "$1"', theirs)
    # A ref of that name in its own repository is its own affair.
    await cell.says('git commit -q --allow-empty -m mine && git update-ref "$1" HEAD', branch)
    await cell.run('mkdir -p "$1" && echo x > "$1/HEAD"', place)
    assert git(other.path, "rev-parse", "HEAD") == theirs
    assert git(other.path, "fsck", "--strict") == ""
    left = await cell.house.collect(number=8)
    assert left.head_sha == theirs


async def test_the_record_of_its_run_cannot_be_forged(cell: Cell):
    assert cell.spec.folder is not None
    log = cell.spec.folder.parent / "stdout.log"
    log.write_text("what it said")
    await cell.fails('cat "$1"', log)
    await cell.fails('mv "$1" "$1.old"', cell.spec.folder)
    await cell.run('echo x >> "$1"', log)
    await cell.run('rm "$1"', log)
    await cell.run('echo "{}" > "$1/result.json"', log.parent)
    assert log.read_text() == "what it said"
    assert sorted(path.name for path in log.parent.iterdir()) == ["agent", "stdout.log"]


async def test_a_reviewer_has_no_other_folder(cell: Cell):
    reviewer = await reviewer_cell(cell)
    await reviewer.fails('ls "$1"', cell.house.agents)
    await reviewer.fails('ls "$1"', cell.tree)
    await reviewer.fails('touch "$1"', reviewer.tree / ".git" / "hooks")


# --- Processes and the network --------------------------------------------------------------------------------------


async def test_what_it_leaves_behind_is_gone(cell: Cell):
    marker = f"nc-{uuid.uuid4().hex}"
    script = (
        'for i in 1 2; do setsid -f bash -c "exec -a $1 sleep 600" </dev/null >/dev/null 2>&1; done; '
        '(trap "" TERM HUP; exec -a $1 sleep 600) >/dev/null 2>&1 & '
        "until [ $(pgrep -fc $1) -ge 3 ]; do :; done; echo left"
    )
    assert await cell.says(script, marker) == "left"
    await eventually(lambda: not is_alive(marker), what="the end of what it left behind")


async def test_processes_outside_cannot_be_signalled(cell: Cell):
    with bystander(uuid.uuid4().hex) as process:
        await cell.fails('kill -9 "$1"', process.pid)
        await cell.run("kill -9 -1")
        assert process.poll() is None


async def test_it_ends_with_its_parent(cell: Cell):
    marker = f"nc-{uuid.uuid4().hex}"
    argv = cell.argv('exec -a "$1" sleep 600', marker)
    # A parent of its own, which is killed: neither it nor bwrap gets to do anything.
    code = "import subprocess, sys; p = subprocess.Popen(sys.argv[1:]); p.wait()"
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", code, *argv], env=cell.env) as parent:
        await eventually(lambda: any_named(marker), what="the agent's start")
        parent.kill()
    await eventually(lambda: not any_named(marker), what="the agent's end")


def any_named(marker: str) -> bool:
    """Whether a process calls itself `marker` (its first argument)."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().startswith(marker.encode()):
                return True
    return False


async def test_without_a_network_even_loopback_is_its_own(cell: Cell):
    connect = "exec 3<>/dev/tcp/127.0.0.1/$1"
    with listening() as port:
        await cell.says(connect, port)
        assert "refused" in await cell.with_network(Network.NONE).fails(connect, port)


async def test_without_a_network_no_abstract_socket_is_reached(cell: Cell):
    name = f"nc-{uuid.uuid4().hex}"
    code = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(chr(0) + sys.argv[1])"
    if not Path("/usr/bin/python3").exists():
        pytest.skip("there is no python3 of the system")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0" + name)
        server.listen()
        script = f'/usr/bin/python3 -I -S -c "{code}" "$1"'
        await cell.says(script, name)
        await cell.with_network(Network.NONE).fails(script, name)


async def test_sockets_of_the_person_are_not_there(cell: Cell, tmp_path):
    with socket.socket(socket.AF_UNIX) as agent, contextlib.chdir(tmp_path):
        agent.bind("ssh-agent")
        agent.listen()
        await cell.fails('test -S "$1"', tmp_path / "ssh-agent")
    assert "SSH_AUTH_SOCK" not in await cell.says("env")


async def test_it_has_no_privileges(cell: Cell):
    status = await cell.says("cat /proc/self/status")
    caps = {line.split(":")[0]: int(line.split()[1], 16) for line in status.splitlines() if line.startswith("Cap")}
    assert set(caps.values()) == {0}
    assert "NoNewPrivs:\t1" in status
    assert await cell.says("id -u") != "0" or os.getuid() != 0
