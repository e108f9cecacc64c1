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

const signal = new AbortController().signal;
const log = createLogger("test", "warn");
const identity = sandboxIdentity(64_017);
const engine = await testEngine();
const bubblewrap = new BubblewrapDriver(identity);
const report = await bubblewrap.probe(signal);
const { memoryBytes, processes } = defaultLimits;

/** Opens workspace storage with spare sandboxes, as a toolhost does. */
async function openStorage(driver: SandboxDriver) {
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
  const ownRecords = async () =>
    (await spares.list(signal)).filter(({ sessionId }) => sessionId.includes(`${process.pid}.`));
  // Two sandboxes, and a folder for each.
  await vi.waitFor(async () => expect(await ownRecords()).toHaveLength(4), 30_000);
  const warm = starting.use(new WarmSandboxes(spares, { idleMs: 300_000, maxIdle: 4 }));
  const storage = new HostWorkspaceStorage({ id: "here", root, identity, hasSpares: true }, warm);
  const resources = starting.move();
  return {
    root,
    ownRecords,
    storage,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

// Requirement: HOST-9
describe.each([
  ["bubblewrap", report.works ? bubblewrap : undefined, report.works ? "" : report.reason],
  ["docker", "why" in engine ? undefined : engine.driver, "why" in engine ? engine.why : ""],
] as const)("a spare sandbox of %s", (_, driver, why) => {
  test.skipIf(driver === undefined)(
    `is used by a new run, which has its own files and limits and finds its files again${why && ` (skipped: ${why})`}`,
    async () => {
      if (driver === undefined) return;
      await using host = await openStorage(driver);
      const before = await host.ownRecords();
      const box = host.storage.sandbox("acme", "run_1");
      expect(await host.storage.isEmpty("acme", "run_1")).toBe(true);
      await writeFile(box, "in/a.txt", Buffer.from("given"), signal);
      const sh = (script: string, limits = {}) =>
        collect(box, { argv: ["/bin/sh", "-c", script], limits: limitsOf(limits) }, signal);
      expect((await sh("cat in/a.txt; echo made > b.txt; pwd")).text("stdout")).toBe(
        "given/workspace\n",
      );
      const path = join(host.root, "acme/run_1/files");
      expect(readFileSync(join(path, "b.txt"), "utf8")).toBe("made\n");
      // One of the two spares is in use now: its sandbox is still listed, its spare folder is not.
      const remaining = (await host.ownRecords()).filter(({ sessionId }) =>
        before.some((each) => each.sessionId === sessionId),
      );
      expect(remaining).toHaveLength(3);
      const { end } = await sh("head -c 30000000 /dev/zero > big; sleep 60", {
        workspaceBytes: 10 * 2 ** 20,
      });
      expect(end.reason).toBe("disk_limit");
      const other = host.storage.sandbox("acme", "run_2");
      const looking = { argv: ["ls", "-A", "/workspace"], limits: limitsOf() };
      expect((await collect(other, looking, signal)).text("stdout")).toBe("");
      // A read-only command needs another sandbox over the existing workspace.
      const reading = { argv: ["cat", "b.txt"], readOnly: true, limits: limitsOf() };
      expect((await collect(box, reading, signal)).text("stdout")).toBe("made\n");
      expect(await host.storage.list()).toHaveLength(2);
      await host.storage.remove("acme", "run_1", signal);
      expect(host.storage.has("acme", "run_1")).toBe(false);
    },
  );
});
