import { chmod } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { describe, expect, test, vi } from "vitest";
import { BubblewrapDriver } from "../src/bubblewrap/driver.ts";
import { sandboxIdentity } from "../src/host/identity.ts";
import { HostWorkspaceStorage } from "../src/storage/host-workspace-storage.ts";
import { SpareSandboxes } from "../src/lifecycle/spare-sandboxes.ts";
import { WarmSandboxes } from "../src/lifecycle/warm-sandboxes.ts";
import { workspaceRoot } from "../src/host/workspace-root.ts";
import { collect } from "../src/files/collect.ts";
import { writeFile } from "../src/files/workspace-files.ts";
import type { SandboxDriver } from "../src/port.ts";
import { defaultLimits } from "../src/port.ts";
import { limitsOf } from "./support/contract/sandbox-bench.ts";
import { testEngine } from "./support/docker-engine.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const signal = AbortSignal.timeout(100_000);
const log = createLogger("test", "warn");
const identity = sandboxIdentity(64_017);
const engine = await testEngine();
const bubblewrap = new BubblewrapDriver(identity);
const report = await bubblewrap.probe(signal);
const { memoryBytes, processes } = defaultLimits;

/** Workspaces of runs as a toolhost has them, with spare sandboxes. */
async function toolhost(driver: SandboxDriver) {
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(await temporaryFolder()).path;
  await chmod(folder, 0o711);
  const root = workspaceRoot(join(folder, "data"), identity);
  const spares = starting.use(
    new SpareSandboxes(driver, {
      count: 2,
      spec: { readOnly: false, memoryBytes, processes },
      folder: join(root, ".spare"),
      identity,
      log,
    }),
  );
  const own = async () =>
    (await spares.list(signal)).filter(({ sessionId }) => sessionId.includes(`${process.pid}.`));
  // Two sandboxes, and a folder for each.
  await vi.waitFor(async () => expect(await own()).toHaveLength(4), 30_000);
  const warm = starting.use(new WarmSandboxes(spares, { idleMs: 300_000, maxIdle: 4 }));
  const place = new HostWorkspaceStorage({ id: "here", root, identity, hasSpares: true }, warm);
  const resources = starting.move();
  return {
    root,
    own,
    place,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

// Requirement: HOST-9
describe.each([
  ["bubblewrap", report.works ? bubblewrap : undefined, report.works ? "" : report.reason],
  ["docker", "why" in engine ? undefined : engine.driver, "why" in engine ? engine.why : ""],
] as const)("a spare sandbox of %s", (_, driver, why) => {
  test.skipIf(driver === undefined)(
    `is given to a new run, which sees its own files, keeps its bounds and finds them again${why && ` (skipped: ${why})`}`,
    async () => {
      if (driver === undefined) return;
      await using host = await toolhost(driver);
      const before = await host.own();
      const box = host.place.sandbox("acme", "run_1");
      expect(await host.place.isEmpty("acme", "run_1")).toBe(true);
      await writeFile(box, "in/a.txt", Buffer.from("given"), signal);
      const sh = (script: string, limits = {}) =>
        collect(box, { argv: ["/bin/sh", "-c", script], limits: limitsOf(limits) }, signal);
      expect((await sh("cat in/a.txt; echo made > b.txt; pwd")).text("stdout")).toBe(
        "given/workspace\n",
      );
      const path = join(host.root, "acme/run_1/files");
      expect(readFileSync(join(path, "b.txt"), "utf8")).toBe("made\n");
      // What is over it now is one of those that waited.
      const kept = (await host.own()).filter(({ sessionId }) =>
        before.some((each) => each.sessionId === sessionId),
      );
      expect(kept).toHaveLength(3);
      const { end } = await sh("head -c 30000000 /dev/zero > big; sleep 60", {
        workspaceBytes: 10 * 2 ** 20,
      });
      expect(end.reason).toBe("disk_limit");
      const other = host.place.sandbox("acme", "run_2");
      const looking = { argv: ["ls", "-A", "/workspace"], limits: limitsOf() };
      expect((await collect(other, looking, signal)).text("stdout")).toBe("");
      // Another one over the workspace that is there.
      const reading = { argv: ["cat", "b.txt"], readOnly: true, limits: limitsOf() };
      expect((await collect(box, reading, signal)).text("stdout")).toBe("made\n");
      expect(await host.place.list()).toHaveLength(2);
      await host.place.remove("acme", "run_1", signal);
      expect(host.place.has("acme", "run_1")).toBe(false);
    },
  );
});
