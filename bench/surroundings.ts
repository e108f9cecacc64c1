import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { Program } from "./program.ts";

const root = join(import.meta.dirname, "..");

/** Writes a configuration with the MCP servers `srv` (of the tests) and `bench` into `folder`. Returns its path. */
export function writeMcpConfig(folder: string): string {
  const servers = {
    srv: server("services/toolhost/test/support/progress-server.ts"),
    bench: server("bench/tools-server.ts"),
  };
  const path = join(folder, "mcp.json");
  writeFileSync(path, JSON.stringify({ servers }));
  return path;
}

function server(path: string) {
  return { command: process.execPath, args: [join(root, path)], sandbox: false };
}

/** Starts a model without latency in a separate process. Returns its base URL. */
export async function startModel(
  resources: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<string> {
  const main = join(root, "test/support/model-server.ts");
  // With the probe, the model ends when its driver is killed.
  const probe = ["--import", join(import.meta.dirname, "process-probe.ts")];
  return await resources
    .use(new Program([...probe, main, "--port", "0"]))
    .says(/(http:\S+)/, signal);
}
