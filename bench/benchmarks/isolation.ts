import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { BubblewrapDriver } from "@reeve/sandbox/bubblewrap/driver";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { DockerDriver } from "@reeve/sandbox/docker/driver";
import { SpareSandboxes } from "@reeve/sandbox/lifecycle/spare-sandboxes";
import { WarmSandboxes } from "@reeve/sandbox/lifecycle/warm-sandboxes";
import { collect } from "@reeve/sandbox/files/collect";
import type { Sandbox, SandboxDriver } from "@reeve/sandbox/port";
import { defaultLimits } from "@reeve/sandbox/port";
import type { Benchmark, Figure } from "../figure.ts";
import { barePython } from "../floor.ts";
import { rateOf, timesOf, warmUp } from "../measure.ts";
import {
  processesOfBubblewrap,
  processesOfContainers,
  proportionalBytes,
} from "../sandbox-memory.ts";

const coldTimes = 10;
const spareTimes = 10;
const warmTimes = 100;
const busyTimes = 400;
const sessions = 5;
const miBytes = 2 ** 20;
const giBytes = 2 ** 30;
const identity = sandboxIdentity(64_017);
const address = process.env["DOCKER_HOST"];
const limits = { ...defaultLimits, timeoutMs: 60_000 };
const request = JSON.stringify({ code: "print(1)", allowed_imports: [] });
const print = { program: "execute_code", argv: [], stdin: Buffer.from(request), limits } as const;
const { memoryBytes, processes } = defaultLimits;
const sessionSpec = { readOnly: false, memoryBytes, processes };

/** Sandboxes without queue and journal, for each driver that works on this machine. */
export const isolation: Benchmark = {
  name: "isolation",
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    const folder = mkdtempSync(join(tmpdir(), "reeve-bench-"));
    chmodSync(folder, 0o711);
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    if (identity.isDedicated) chownSync(workspace, identity.uid, identity.gid);
    const drivers: SandboxDriver[] = [new BubblewrapDriver(identity)];
    const image = "reeve-sandbox:latest";
    if (address !== undefined) {
      drivers.push(new DockerDriver({ identity, address, image, probeDir: () => folder }));
    }
    try {
      await warmUp(3, barePython);
      for (const driver of drivers) {
        const { works } = await driver.probe(signal);
        if (!works) continue;
        yield* firstCalls(driver, folder, signal);
        yield* nextCalls(driver, workspace, signal);
        yield* sizes(driver, workspace, signal);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** The first call in a new sandbox, and in a spare one. */
async function* firstCalls(
  driver: SandboxDriver,
  folder: string,
  signal: AbortSignal,
): AsyncIterable<Figure> {
  const floors = await timesOf(coldTimes, barePython);
  const cold: number[] = [];
  for (let turn = 0; turn < coldTimes; turn++) {
    await using warm = new WarmSandboxes(driver, { idleMs: 60_000, maxIdle: 1 });
    const box = warm.sandboxFor(join(folder, "workspace"));
    const [took = 0] = await timesOf(1, () => collect(box, print, signal));
    cold.push(took);
  }
  const name = `${driver.name}: first call in`;
  const aim = driver.name === "bubblewrap" ? { aim: { ratio: 2.5 } } : {};
  yield { name: `${name} a new sandbox`, unit: "ms", values: cold, floors, ...aim };
  const options = {
    count: 1,
    spec: sessionSpec,
    folder: join(folder, ".spare"),
    identity,
    log: console,
  };
  await using spares = new SpareSandboxes(driver, options);
  await using warm = new WarmSandboxes(spares, { idleMs: 60_000, maxIdle: 1 });
  const spare: number[] = [];
  for (let turn = 0; turn < spareTimes; turn++) {
    while (spares.waiting === 0) await barePython();
    // Until its interpreter has started.
    await warmUp(10, barePython);
    const box = warm.sandboxFor(join(folder, `${driver.name}-${turn}`, "files"));
    const [took = 0] = await timesOf(1, () => collect(box, print, signal));
    spare.push(took);
  }
  yield { name: `${name} a spare sandbox`, unit: "ms", values: spare, floors };
}

async function* nextCalls(
  driver: SandboxDriver,
  workspace: string,
  signal: AbortSignal,
): AsyncIterable<Figure> {
  await using warm = new WarmSandboxes(driver, { idleMs: 60_000, maxIdle: 2 });
  const box = warm.sandboxFor(workspace);
  const call = () => collect(box, print, signal);
  const floors = await timesOf(coldTimes, barePython);
  await warmUp(3, call);
  const values = await timesOf(warmTimes, call);
  const name = `${driver.name}: the next`;
  yield { name: `${name} hundred calls`, unit: "ms", values, floors, aim: { ratio: 2 } };
  yield {
    name: `${name} calls, from the ninetieth on`,
    unit: "ms",
    values: values.slice(-10),
    floors,
  };
  await Promise.all([call(), call()]);
  const rate = await rateOf(busyTimes, 2, call);
  yield { name: `${driver.name}: calls, two at a time`, unit: "calls/s", values: [rate] };
  yield {
    name: `${driver.name}: 1 GiB of output`,
    unit: "MiB/s",
    values: [await flood(box, signal)],
  };
}

async function* sizes(
  driver: SandboxDriver,
  workspace: string,
  signal: AbortSignal,
): AsyncIterable<Figure> {
  await using open = new AsyncDisposableStack();
  const before = proportionalBytes(processesOfBubblewrap());
  const names: string[] = [];
  for (let count = 0; count < sessions; count++) {
    const session = open.use(
      await driver.open({ ...sessionSpec, workspaceDir: workspace }, signal),
    );
    for await (const _ of session.exec(print, signal));
    await session.settled();
    names.push(session.sessionId);
  }
  // Modules that are imported during idle time count too.
  await warmUp(20, barePython);
  const bytes =
    driver.name === "docker" && address !== undefined
      ? proportionalBytes(await processesOfContainers(address, names, signal))
      : proportionalBytes(processesOfBubblewrap()) - before;
  const name = `${driver.name}: memory of one of ${sessions} idle sandboxes`;
  yield { name, unit: "MiB", values: [bytes / sessions / miBytes] };
}

/** Returns the output rate of a command, in MiB per second. */
async function flood(box: Sandbox, signal: AbortSignal): Promise<number> {
  const argv = ["head", "-c", String(giBytes), "/dev/zero"];
  const [took = 0] = await timesOf(1, async () => {
    const flooding = { argv, limits: { ...limits, outputBytes: 2 * giBytes } };
    for await (const event of box.exec(flooding, signal)) {
      if (event.kind === "end" && event.reason !== "exit") throw new Error(event.reason);
    }
  });
  return (giBytes / miBytes / took) * 1_000;
}
