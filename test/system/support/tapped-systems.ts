import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseEnv } from "node:util";
import { startEmbedded } from "@reeve/cli/embedded";
import type { Connection } from "@reeve/client";
import { openConnection } from "@reeve/client";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { startModelServer } from "../../support/model-server.ts";
import { NatsTap } from "../../support/nats-tap/nats-tap.ts";
import { Deployment } from "./deployment.ts";

const toolsServer = join(import.meta.dirname, "../../../bench/tools-server.ts");
const log = createLogger("test", "silent");
const never = new AbortController().signal;

/** A Reeve whose requests to NATS are recorded, with a model without latency. */
export interface TappedSystem extends AsyncDisposable {
  readonly reeve: Connection;
  readonly tap: NatsTap;
  /** A connection of the operator, which is not recorded. */
  readonly nats: Nats;
}

/** Returns a function that starts the tap of a NATS server and returns its URL, and the tap once it runs. */
function tapping(resources: AsyncDisposableStack) {
  const started = Promise.withResolvers<NatsTap>();
  const through = async (url: string) => {
    const tap = resources.use(await NatsTap.to(Number(new URL(url).port)));
    started.resolve(tap);
    return tap.url;
  };
  return { through, tap: started.promise };
}

/** Starts a model without latency. Returns the settings for it, and for an MCP server whose tools report no progress. */
async function surroundings(resources: AsyncDisposableStack, folder: string) {
  const model = resources.use(await startModelServer({ record: false }));
  const tools = { command: process.execPath, args: [toolsServer], sandbox: false };
  const mcpConfig = join(folder, "mcp.json");
  writeFileSync(mcpConfig, JSON.stringify({ servers: { bench: tools } }));
  return { OPENAI_API_KEY: "none", OPENAI_BASE_URL: model.url, REEVE_MCP_CONFIG: mcpConfig };
}

function newFolder(resources: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), "reeve-tapped-"));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the four services in this process, as `reeve up` does. */
export async function startTappedProcess(): Promise<TappedSystem> {
  await using starting = new AsyncDisposableStack();
  const folder = newFolder(starting);
  const { through, tap } = tapping(starting);
  const dataDir = join(folder, "data");
  const settings = { ...(await surroundings(starting, folder)), REEVE_SANDBOX: "bubblewrap" };
  const embedded = starting.use(
    await startEmbedded({ listen: "127.0.0.1:0", dataDir, through, settings, log }, never),
  );
  await embedded.offersAll;
  const reeve = starting.use(openConnection({ address: embedded.url, token: embedded.token }));
  const {
    REEVE_NATS_URL: url = "",
    REEVE_NATS_USER: user,
    REEVE_NATS_PASSWORD: pass,
  } = parseEnv(readFileSync(join(dataDir, "nats.env"), "utf8"));
  const nats = starting.use(await connectNats(url, { name: "operator", log, user, pass }, never));
  return withResources({ reeve, nats, tap: await tap }, starting.move());
}

/** Starts the four services as processes. */
export async function startTappedDeployment(): Promise<TappedSystem> {
  await using starting = new AsyncDisposableStack();
  const { through, tap } = tapping(starting);
  const settings = await surroundings(starting, newFolder(starting));
  const deployment = starting.use(await Deployment.start(settings, {}, undefined, through));
  const { reeve, nats } = deployment;
  return withResources({ reeve, nats, tap: await tap }, starting.move());
}

function withResources(
  parts: Omit<TappedSystem, typeof Symbol.asyncDispose>,
  resources: AsyncDisposableStack,
): TappedSystem {
  return { ...parts, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
