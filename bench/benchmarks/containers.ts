import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { imageNames } from "../../scripts/images/image-names.ts";
import type { Benchmark, Figure } from "../figure.ts";
import { timesOf, warmUp } from "../measure.ts";

const times = 8;
const mebibyte = 2 ** 20;
const network = `reeve-bench-${process.pid}`;
const confined = ["--rm", "--read-only", "--tmpfs", "/tmp", "--tmpfs", "/data:mode=1777"];
/** The log message with which each service reports that it is ready. */
const ready = {
  gateway: "gateway listens",
  runtime: "runtime works",
  toolhost: "toolhost started",
  approvals: "approvals listens",
} as const;

/** The sizes of the images that `node scripts/images.ts` builds, and the start times of their containers. */
export const containers: Benchmark = {
  name: "containers",
  maxMs: 180_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    for (const name of [imageNames.services, imageNames.toolhost, imageNames.nats]) {
      const bytes = Number(await docker(signal, "image", "inspect", "-f", "{{.Size}}", name));
      yield { name: `image ${name}`, unit: "MiB", values: [bytes / mebibyte] };
    }
    await using started = new AsyncDisposableStack();
    await docker(signal, "network", "create", network);
    started.defer(async () => void (await docker(undefined, "network", "rm", network)));
    const named = ["--network", network, "--network-alias", "nats"];
    const nats = await docker(signal, "run", "-d", "--rm", ...named, imageNames.nats);
    started.defer(async () => void (await docker(undefined, "rm", "-f", nats.trim())));
    const bare = () =>
      docker(
        signal,
        "run",
        ...confined,
        "--network",
        network,
        imageNames.services,
        "node",
        "-e",
        "",
      );
    await warmUp(1, bare);
    const floors = await timesOf(times, bare);
    for (const service of ["gateway", "runtime", "toolhost", "approvals"] as const) {
      await warmUp(1, () => readyOnce(service, signal));
      const values: number[] = [];
      await warmUp(times, async () => values.push(await readyOnce(service, signal)));
      yield { name: `${service}, from docker run until ready`, unit: "ms", values, floors };
    }
  },
};

/** Starts a service and ends it when it is ready. Returns the time until then, in milliseconds. */
async function readyOnce(service: keyof typeof ready, signal: AbortSignal): Promise<number> {
  const image = service === "toolhost" ? imageNames.toolhost : imageNames.services;
  const settings = [
    "REEVE_NATS_URL=nats://nats:4222",
    "REEVE_DATA_DIR=/data",
    "REEVE_SANDBOX=none",
  ];
  const command = ["node", `programs/${service}.mjs`];
  const environment = settings.flatMap((each) => ["-e", each]);
  const startedAt = performance.now();
  const child = spawn(
    "docker",
    ["run", "--network", network, ...confined, ...environment, image, ...command],
    { stdio: ["ignore", "ignore", "pipe"], signal },
  );
  const ended = once(child, "exit");
  for await (const line of createInterface({ input: child.stderr })) {
    if (!line.includes(ready[service])) continue;
    const tookMs = performance.now() - startedAt;
    child.kill("SIGTERM");
    await ended;
    return tookMs;
  }
  throw new Error(`${service} ended before it was ready`);
}

async function docker(signal: AbortSignal | undefined, ...args: string[]): Promise<string> {
  const options = { encoding: "utf8", ...(signal && { signal }) } as const;
  const { stdout } = await promisify(execFile)("docker", args, options);
  return stdout;
}
