import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A toolhost as a process of its own, at work. It ends with `resources` at the latest. */
export async function startToolhostProcess(
  {
    natsUrl,
    folder,
    sandbox = "bubblewrap",
    settings = {},
  }: {
    readonly natsUrl: string;
    readonly folder: string;
    readonly sandbox?: string;
    readonly settings?: Readonly<Record<string, string>>;
  },
  resources: AsyncDisposableStack,
): Promise<ChildProcess> {
  const main = join(import.meta.dirname, "../../src/main.ts");
  const child = spawn(process.execPath, [main], {
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env["PATH"],
      REEVE_NATS_URL: natsUrl,
      REEVE_DATA_DIR: join(folder, "data"),
      REEVE_SANDBOX: sandbox,
      ...settings,
      ...(process.env["DOCKER_HOST"] && { DOCKER_HOST: process.env["DOCKER_HOST"] }),
    },
  });
  resources.defer(() => void child.kill("SIGKILL"));
  if (child.stderr === null) throw new Error("stderr is a pipe");
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.includes('"toolhost works"')) break;
  }
  child.stderr.resume();
  return child;
}
