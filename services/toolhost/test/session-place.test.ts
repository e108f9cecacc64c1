import { chmod, chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { BubblewrapDriver } from "@reeve/sandbox/bubblewrap/driver";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { SessionWorkspaceStorage } from "@reeve/sandbox/storage/session-workspace-storage";
import { MemoryHosts, requestOf } from "@reeve/toolhost/test/support/memory-workspaces";
import { readText, writeFile } from "@reeve/sandbox/files/workspace-files";
import type { SandboxDriver, SandboxSession } from "@reeve/sandbox/port";
import { commandOf } from "@reeve/sandbox/test/support/bubblewrap-here";

const signal = new AbortController().signal;
const identity = sandboxIdentity(64_017);
const bubblewrap = new BubblewrapDriver(identity);
const report = await bubblewrap.probe(signal);
const why = report.works ? "" : ` (skipped: ${report.reason})`;
const sessions: SandboxSession[] = [];

/** Each session has a separate folder, which is removed with it, as in a pod. */
const driver: SandboxDriver = {
  name: "pods",
  keepsWorkspace: "session",
  probe: (until) => bubblewrap.probe(until),
  list: () => bubblewrap.list(),
  destroy: (sessionId) => bubblewrap.destroy(sessionId),
  async open(spec, until) {
    const folder = await mkdtemp(join(tmpdir(), "reeve-pod-"));
    await chmod(folder, 0o700);
    if (identity.isDedicated) await chown(folder, identity.uid, identity.gid);
    const session = await bubblewrap.open({ ...spec, workspaceDir: folder }, until);
    sessions.push(session);
    return {
      sessionId: session.sessionId,
      exec: (command, untilEnd) => session.exec(command, untilEnd),
      settled: () => session.settled(),
      [Symbol.asyncDispose]: async () => {
        await session[Symbol.asyncDispose]();
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
};

const some = { path: "a.txt", offset: 0, limit: undefined };

async function writes({ keeper }: Pick<ReturnType<MemoryHosts["host"]>, "keeper">, text: string) {
  await using workspace = await keeper.open(requestOf(), signal);
  await writeFile(workspace.sandbox, "a.txt", Buffer.from(text), signal);
}

async function reads({ keeper }: Pick<ReturnType<MemoryHosts["host"]>, "keeper">) {
  await using workspace = await keeper.open(requestOf("read_file"), signal);
  const outcome = await readText(workspace.sandbox, some, signal);
  const lost = workspace.losses?.lost.length ?? 0;
  return { text: outcome.kind === "done" ? outcome.text : outcome.reason, lost };
}

function newPlace(): SessionWorkspaceStorage {
  return new SessionWorkspaceStorage(driver, { idleMs: 60_000 });
}

describe.skipIf(!report.works)(`a workspace that lives in a session${why}`, () => {
  let hosts: MemoryHosts;

  beforeEach(() => {
    hosts = new MemoryHosts();
    sessions.length = 0;
  });

  test("stays in one session for all commands, and is saved before the session ends", async () => {
    await using place = newPlace();
    const host = hosts.hostAt(place, "a");
    await writes(host, "one");
    expect(await reads(host)).toEqual({ text: "one", lost: 0 });
    expect(sessions).toHaveLength(1);
    const [held] = host.keeper.idle;
    expect(held && (await host.keeper.evict(held, signal))).toBe(true);
    expect(await sessions[0]?.settled()).toBe(false);
    expect(await reads(host)).toEqual({ text: "one", lost: 0 });
    expect(sessions).toHaveLength(2);
  });

  test("moves complete to the session of another host", async () => {
    await using first = newPlace();
    await using second = newPlace();
    await writes(hosts.hostAt(first, "a"), "one");
    expect(await reads(hosts.hostAt(second, "b"))).toEqual({ text: "one", lost: 0 });
  });

  test("comes back from its snapshot when its session is lost, and reports the losses", async () => {
    await using place = newPlace();
    const host = hosts.hostAt(place, "a");
    await writes(host, "one");
    const [held] = host.keeper.idle;
    if (held !== undefined) await host.keeper.evict(held, signal);
    await writes(host, "two");
    await driver.destroy(sessions.at(-1)?.sessionId ?? "", signal);
    await expect(reads(host)).rejects.toThrow(/sandbox/);
    expect(await reads(host)).toEqual({ text: "one", lost: 1 });
  });

  test("is not given to untrusted code that must not write", async () => {
    await using place = newPlace();
    const { keeper } = hosts.hostAt(place, "a");
    await using workspace = await keeper.open(requestOf(), signal);
    const command = { ...commandOf("true"), readOnly: true };
    const ran = Array.fromAsync(workspace.sandbox.exec(command, signal));
    await expect(ran).rejects.toMatchObject({ kind: "unsupported" });
  });
});
