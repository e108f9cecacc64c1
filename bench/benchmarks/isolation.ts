import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { BubblewrapDriver } from "../../services/toolhost/src/adapters/bubblewrap/bubblewrap-driver.ts";
import { sandboxIdentity } from "../../services/toolhost/src/adapters/bubblewrap/identity.ts";
import { DockerDriver } from "../../services/toolhost/src/adapters/docker/docker-driver.ts";
import { WarmSandboxes } from "../../services/toolhost/src/adapters/warm-sandboxes.ts";
import { collect } from "../../services/toolhost/src/app/collect.ts";
import type { SandboxDriver } from "../../services/toolhost/src/ports/sandbox.ts";
import { defaultLimits } from "../../services/toolhost/src/ports/sandbox.ts";
import type { Benchmark, Figure } from "../figure.ts";
import { barePython } from "../floor.ts";
import { timesOf, warmUp } from "../measure.ts";

const coldTimes = 10;
const warmTimes = 100;
const sessions = 5;
const giBytes = 2 ** 30;
const limits = { ...defaultLimits, timeoutMs: 60_000 };
const request = JSON.stringify({ code: "print(1)", allowed_imports: [] });
const print = { program: "execute_code", argv: [], stdin: Buffer.from(request), limits } as const;

/** Sandboxes alone, without queue and journal, per driver that works here. */
export const isolation: Benchmark = {
  name: "isolation",
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    const identity = sandboxIdentity(64_017);
    const folder = mkdtempSync(join(tmpdir(), "reeve-bench-"));
    chmodSync(folder, 0o711);
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    if (identity.isDedicated) chownSync(workspace, identity.uid, identity.gid);
    const drivers: SandboxDriver[] = [new BubblewrapDriver(identity)];
    const address = process.env["DOCKER_HOST"];
    const image = "reeve-sandbox:latest";
    if (address !== undefined) {
      drivers.push(new DockerDriver({ identity, address, image, probeDir: () => folder }));
    }
    try {
      await warmUp(3, barePython);
      for (const driver of drivers) {
        const { works } = await driver.probe(signal);
        if (works) yield* figuresOf(driver, workspace, signal);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function* figuresOf(
  driver: SandboxDriver,
  workspace: string,
  signal: AbortSignal,
): AsyncIterable<Figure> {
  const floors = await timesOf(coldTimes, barePython);
  const unit = "ms";
  const cold: number[] = [];
  for (let turn = 0; turn < coldTimes; turn++) {
    await using warm = new WarmSandboxes(driver, { idleMs: 60_000, mostIdle: 1 });
    const [took = 0] = await timesOf(1, () => collect(warm.over(workspace), print, signal));
    cold.push(took);
  }
  yield { name: `${driver.name}: first call in a sandbox`, unit, values: cold, floors };
  await using warm = new WarmSandboxes(driver, { idleMs: 60_000, mostIdle: 1 });
  const box = warm.over(workspace);
  await warmUp(3, () => collect(box, print, signal));
  const values = await timesOf(warmTimes, () => collect(box, print, signal));
  yield { name: `${driver.name}: the next hundred calls there`, unit, values, floors };
  const before = residentKiB();
  await using idle = new WarmSandboxes(driver, { idleMs: 60_000, mostIdle: sessions });
  await Promise.all(
    Array.from({ length: sessions }, () => collect(idle.over(workspace), print, signal)),
  );
  const resident = (residentKiB() - before) / sessions / 1_024;
  yield { name: `${driver.name}: an idle sandbox`, unit: "MiB", values: [resident] };
  const argv = ["head", "-c", String(giBytes), "/dev/zero"];
  const [flood = 0] = await timesOf(1, async () => {
    const flooding = { argv, limits: { ...limits, outputBytes: 2 * giBytes } };
    for await (const event of box.exec(flooding, signal)) {
      if (event.kind === "end" && event.reason !== "exit") throw new Error(event.reason);
    }
  });
  yield { name: `${driver.name}: 1 GiB of output`, unit: "MiB/s", values: [1_024_000 / flood] };
}

/** Memory of the whole machine that is not available, which other work on it changes as well. */
function residentKiB(): number {
  const [, total = "0", available = "0"] =
    /MemTotal: +(\d+)[^]*MemAvailable: +(\d+)/.exec(readFileSync("/proc/meminfo", "utf8")) ?? [];
  return Number(total) - Number(available);
}
