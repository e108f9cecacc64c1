import { chmodSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RunStatus } from "@reeve/contracts/run";
import { describe, expect, test, vi } from "vitest";
import { BubblewrapDriver } from "@reeve/sandbox/bubblewrap/driver";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { Engine } from "@reeve/sandbox/docker/engine";
import { testEngine } from "@reeve/sandbox/test/support/docker-engine";
import { EngineProxy } from "@reeve/sandbox/test/support/engine-proxy";
import { newMark } from "@reeve/sandbox/test/support/new-mark";
import { processesWith } from "@reeve/sandbox/test/support/processes-with";
import { Deployment } from "./support/deployment.ts";
import { watchToEnd } from "./support/watching.ts";

const signal = new AbortController().signal;
const engine = await testEngine();
const bubblewrap = await new BubblewrapDriver(sandboxIdentity(64_017)).probe(signal);

/** A container as the engine lists it. */
interface Listed {
  readonly Id: string;
  readonly Labels: Readonly<Record<string, string>>;
}

/** Returns the ids of the containers that a process has created. */
async function containersOf(pid: number, address: string | undefined): Promise<readonly string[]> {
  if (address === undefined) return [];
  const answer = await new Engine(address).get("/containers/json?all=1", signal);
  return (answer as readonly Listed[])
    .filter(({ Labels }) => Labels["reeve.sandbox.owner"]?.startsWith(`${pid}.`))
    .map(({ Id }) => Id);
}

/** Returns the control groups of a process's sandboxes and of some containers. */
function groupsOf(pid: number, containers: readonly string[]): readonly string[] {
  const names = [`reeve/${pid}.*`, ...containers.map((id) => `**/*${id}*`)];
  return names.flatMap((name) => globSync(`/sys/fs/cgroup/{,*/}${name}`));
}

/** Returns the mounts of all processes below a folder. */
function mountsBelow(folder: string): readonly string[] {
  return globSync("/proc/[0-9]*/mountinfo").flatMap((path) => {
    try {
      return readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line.includes(folder));
    } catch {
      return [];
    }
  });
}

// Requirement: DUR-3
describe.each([
  ["bubblewrap", bubblewrap.works ? undefined : bubblewrap.reason, undefined],
  ["docker", "why" in engine ? engine.why : undefined, "why" in engine ? undefined : engine],
] as const)("a toolhost with %s that is killed during a call", (sandbox, why, given) => {
  test.skipIf(why !== undefined)(
    `is replaced: its run continues, and no resources remain${why === undefined ? "" : ` (skipped: ${why})`}`,
    async () => {
      await using resources = new AsyncDisposableStack();
      const folder = mkdtempSync(join(tmpdir(), "reeve-loss-"));
      resources.defer(() => rmSync(folder, { recursive: true, force: true }));
      chmodSync(folder, 0o711);
      const proxy = given && resources.use(await EngineProxy.start(folder, given.options.address));
      const settings = {
        REEVE_SANDBOX: sandbox,
        REEVE_SANDBOX_SPARE: "2",
        REEVE_DATA_DIR: join(folder, "data"),
        ...(proxy && { DOCKER_HOST: proxy.address }),
      };
      const deployment = resources.use(await Deployment.start(settings));
      await deployment.agent("lost-host", { permissionClasses: ["execute"] });
      const first = deployment.pidOf("toolhost");
      const mark = newMark();
      const start = { agentId: "lost-host", input: mark };
      const { run } = await deployment.reeve.runs.startRun(start);
      const runId = run?.runId ?? "";
      await vi.waitFor(() => expect(processesWith(mark).length).toBeGreaterThanOrEqual(2), 30_000);
      const spares = join(folder, "data/workspaces/.spare");
      await vi.waitFor(() => expect(readdirSync(spares)).toHaveLength(2), 30_000);
      // A container that is created after the sweep of the second toolhost remains until the next sweep.
      const expected = given === undefined ? 0 : 3;
      const containersOfFirst = () => containersOf(first, given?.options.address);
      await expect.poll(containersOfFirst, { timeout: 30_000 }).toHaveLength(expected);
      const containers = await containersOfFirst();
      await deployment.kill("toolhost");
      await deployment.start("toolhost");
      const second = deployment.pidOf("toolhost");

      const events = await watchToEnd(deployment, runId);
      expect((await deployment.reeve.runs.getRun({ runId })).run?.status).toBe(RunStatus.COMPLETED);
      const results = events.flatMap(({ event }) =>
        event.case === "toolResult" ? [event.value.result?.content] : [],
      );
      expect(results).toEqual([expect.stringContaining("unknown"), "kept\n"]);

      const left = async () => ({
        processes: processesWith(mark),
        containers: await containersOfFirst(),
        groups: groupsOf(first, containers),
        folders: readdirSync(spares).filter((name) => name.includes(`~${first}.`)),
      });
      const nothing = { processes: [], containers: [], groups: [], folders: [] };
      await vi.waitFor(async () => expect(await left()).toEqual(nothing), 20_000);

      expect(await deployment.end("toolhost")).toBe(0);
      // The engine may still be removing a container that ended with its pipe.
      const ofSecond = () => containersOf(second, given?.options.address);
      await expect.poll(ofSecond, { timeout: 20_000 }).toEqual([]);
      expect(groupsOf(second, [])).toEqual([]);
      expect(readdirSync(spares)).toEqual([]);
      expect(readdirSync(join(folder, "data/workspaces/acme"))).toEqual([runId]);
      await expect.poll(() => mountsBelow(folder)).toEqual([]);
      await vi.waitFor(() => expect(proxy?.connections ?? 0).toBe(0), 5_000);
    },
  );
});
