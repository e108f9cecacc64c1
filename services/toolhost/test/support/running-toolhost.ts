import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolCallFact } from "@reeve/contracts/tool";
import type { CallJournal } from "@reeve/jetstream/log/call-journal";
import { openCallJournal } from "@reeve/jetstream/log/open";
import { openCallRequests } from "./call-requests.ts";
import { readConfig } from "@reeve/platform/config";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { programFile } from "@reeve/platform/test/support/program-file";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import { openArtifactStore } from "@reeve/jetstream/objects/nats-artifact-store";
import { toolhostConfig } from "../../src/config.ts";
import { startToolhost } from "../../src/serve.ts";
import type { LogLine } from "@reeve/sandbox/test/support/recording-log";
import { recordingLog } from "@reeve/sandbox/test/support/recording-log";
import type { RequestOptions } from "./toolhost.ts";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";
import { factsUntilEnd, keyOf, requestOf } from "./toolhost.ts";

/** A toolhost with a separate NATS server, and the MCP server `demo`. */
export interface RunningToolhost extends AsyncDisposable {
  readonly nats: Nats;
  readonly journal: CallJournal;
  readonly artifacts: ArtifactStore;
  /** What it has logged at levels info and above. */
  readonly logged: readonly LogLine[];
  /** Executes a call, and returns its journal. */
  made(options: RequestOptions): Promise<readonly ToolCallFact[]>;
}

export async function runningToolhost(
  signal: AbortSignal,
  settings: Readonly<Record<string, string>> = { REEVE_SANDBOX: "bubblewrap" },
): Promise<RunningToolhost> {
  const { log, logged } = recordingLog();
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(await temporaryFolder());
  const storeDir = join(folder.path, "nats");
  const server = starting.use(await startNatsServer({ storeDir, log }, signal));
  const nats = starting.use(await connectNats(server.url, { name: "test", log }, signal));
  const mcp = join(folder.path, "mcp.json");
  const args = [programFile("progress-server")];
  await writeFile(
    mcp,
    JSON.stringify({ servers: { demo: { command: process.execPath, args, sandbox: false } } }),
  );
  const config = readConfig(toolhostConfig, {
    REEVE_DATA_DIR: join(folder.path, "data"),
    REEVE_MCP_CONFIG: mcp,
    ...settings,
  });
  const toolhost = starting.use(
    await startToolhost(config, { nats, log, environment: {} }, signal),
  );
  await toolhost.offersAll;
  const journal = await openCallJournal(nats);
  const requests = await openCallRequests(nats);
  const resources = starting.move();
  return {
    nats,
    logged,
    journal,
    artifacts: await openArtifactStore(nats, { maxBytes: 100_000_000 }),
    made: async (options) => {
      const request = requestOf(options);
      const key = keyOf(request);
      await requests.publish(request, signal);
      return await factsUntilEnd(journal, key, signal);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
