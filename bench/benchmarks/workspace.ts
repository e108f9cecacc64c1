import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { openObjects } from "@reeve/jetstream/objects/nats";
import { BubblewrapDriver } from "@reeve/sandbox/bubblewrap/driver";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { WarmSandboxes } from "@reeve/sandbox/lifecycle/warm-sandboxes";
import { restoreWorkspace, snapshotWorkspace } from "@reeve/sandbox/files/workspace-archive";
import type { Benchmark, Figure } from "../figure.ts";
import { timesOf, warmUp } from "../measure.ts";

const times = 3;
const files = 1_000;
const fileBytes = 50_000;
const quota = { bytes: 2 ** 30, files: 100_000 };

/** Saving and restoring a workspace of 50 MB in 1,000 files. The floor is tar of the same files. */
export const workspace: Benchmark = {
  name: "workspace",
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    const identity = sandboxIdentity(64_017);
    const folder = mkdtempSync(join(tmpdir(), "reeve-bench-"));
    chmodSync(folder, 0o711);
    const ours = (name: string) => {
      mkdirSync(join(folder, name));
      if (identity.isDedicated) chownSync(join(folder, name), identity.uid, identity.gid);
      return join(folder, name);
    };
    const full = ours("full");
    fill(full, identity);
    const archive = join(folder, "archive.tar");
    const driver = new BubblewrapDriver(identity);
    await using warm = new WarmSandboxes(driver, { idleMs: 60_000, maxIdle: 2 });
    const log = createLogger("bench", "silent");
    try {
      await driver.probe(signal);
      // Writes into a pipe: tar does not read files when its output is /dev/null.
      const tar = () => shell(`tar -c -C ${full} . | cat > ${archive}`);
      const box = warm.sandboxFor(full);
      const snapshot = () => Array.fromAsync(snapshotWorkspace(box, quota, signal));
      await warmUp(1, tar);
      await warmUp(1, snapshot);
      const unit = "ms";
      const out = await timesOf(times, tar);
      const values = await timesOf(times, snapshot);
      yield { name: "workspace of 50 MB: a snapshot", unit, values, floors: out };
      await using server = await startNatsServer({ storeDir: join(folder, "nats"), log }, signal);
      await using nats = await connectNats(server.url, { name: "bench", log }, signal);
      const objects = await openObjects(nats, { bucket: "bench", maxBytes: 2 ** 30 });
      let count = 0;
      const saved = await timesOf(times, () =>
        objects.write(`w/${count++}`, snapshotWorkspace(box, quota, signal), signal),
      );
      yield { name: "workspace of 50 MB: saved in the store", unit, values: saved, floors: out };
      const into = await timesOf(times, () =>
        shell(`tar -x -C ${ours(`tar-${count++}`)} -f ${archive}`),
      );
      const empty = Array.from({ length: times }, (_, index) => ours(`empty-${index}`));
      const restored = await timesOf(times, async () => {
        const content = await objects.read("w/0", signal);
        const target = empty.pop();
        if (content === undefined || target === undefined) throw new Error("nothing to restore");
        await restoreWorkspace(warm.sandboxFor(target), content, signal);
      });
      const name = "workspace of 50 MB: restored from the store, in a new sandbox";
      yield { name, unit, values: restored, floors: into };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function fill(folder: string, { uid, gid, isDedicated }: ReturnType<typeof sandboxIdentity>): void {
  for (let index = 0; index < files; index++) {
    const path = join(folder, `file-${index}`);
    writeFileSync(path, randomBytes(fileBytes));
    if (isDedicated) chownSync(path, uid, gid);
  }
}

async function shell(script: string): Promise<void> {
  const child = spawn("/bin/sh", ["-c", script], { stdio: "ignore" });
  await once(child, "exit");
}
