import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { programFile } from "@reeve/platform/test/support/program-file";

export interface ToolhostProcessOptions {
  readonly natsUrl: string;
  readonly folder: string;
  readonly sandbox?: string;
  /** More settings, by the names of their environment variables. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A process, the name of its host, and the address of its probes. */
export type ToolhostProcess = ChildProcess & { readonly host: string; readonly url: string };

/** Starts a toolhost as a separate process, and waits until it is ready. It ends with `resources` at the latest. */
export async function startToolhostProcess(
  { natsUrl, folder, sandbox = "bubblewrap", settings = {} }: ToolhostProcessOptions,
  resources: AsyncDisposableStack,
): Promise<ToolhostProcess> {
  const child = spawn(process.execPath, [programFile("toolhost")], {
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      REEVE_NATS_URL: natsUrl,
      REEVE_DATA_DIR: join(folder, "data"),
      REEVE_SANDBOX: sandbox,
      REEVE_NETWORK_ALLOW: "*:443",
      ...settings,
      ...(process.env["DOCKER_HOST"] && { DOCKER_HOST: process.env["DOCKER_HOST"] }),
    },
  });
  resources.defer(() => void child.kill("SIGKILL"));
  if (child.stderr === null) throw new Error("stderr is a pipe");
  let host = "";
  let url = "";
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.includes('"probes are answered"'))
      ({ url } = JSON.parse(line) as { readonly url: string });
    if (!line.includes('"toolhost started"')) continue;
    ({ host } = JSON.parse(line) as { readonly host: string });
    break;
  }
  child.stderr.resume();
  return Object.assign(child, { host, url });
}
