import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import { PermissionClass, ToolCatalogSchema } from "@reeve/contracts/tool";
import { emptyTail } from "@reeve/jetstream/log/port";
import { openRunLog } from "@reeve/jetstream/log/open";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { RunEventSchema } from "@reeve/contracts/run";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Listener } from "@reeve/platform/rpc/listener";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { openTable } from "@reeve/jetstream/table/nats";
import { gatewayConfig } from "../../src/config.ts";
import { startGateway } from "../../src/serve.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;

/** The tokens of the clients in a test. */
export const tokens = {
  acme: "token-of-acme",
  /** Another user of the same tenant. */
  acmeToo: "token-of-acme-too",
  globex: "token-of-globex",
} as const;

/** Returns the token of a client of `acme` that has one role. */
export function tokenWithRole(role: string): string {
  return `token-of-a-${role}`;
}

const roles = ["viewer", "runner", "approver", "author", "operator"];

/** A gateway with its own NATS server, a model, and a tool. There is no runtime and no approvals service. */
export interface GatewayBench extends AsyncDisposable {
  readonly url: string;
  /** Appends facts, as a runtime does, to the log of a run of `acme`. */
  append(run: string, ...facts: readonly ExternalFact[]): Promise<void>;
  /** Starts another gateway with its own connection, and returns its URL. */
  startAnother(): Promise<string>;
  /** Kills the NATS server, runs `meanwhile`, and starts the server again. */
  restartNats(meanwhile?: () => Promise<void>): Promise<void>;
  readonly nats: Nats;
}

/** Opens it with further settings of the gateway, on a port that is already open if `listener` is given. */
export async function openGatewayBench(
  settings: Readonly<Record<string, string>> = {},
  listener?: Listener,
): Promise<GatewayBench> {
  await using starting = new AsyncDisposableStack();
  const storeDir = mkdtempSync(join(tmpdir(), "reeve-gateway-"));
  starting.defer(() => rmSync(storeDir, { recursive: true, force: true }));
  let server = await startNatsServer({ storeDir, log }, never);
  starting.defer(() => server[Symbol.asyncDispose]());
  const nats = starting.use(await connectNats(server.url, { name: "test", log }, never));
  await announce(nats);
  const config = gatewayConfig.parse({
    REEVE_LISTEN: "127.0.0.1:0",
    REEVE_TOKENS: [
      `${tokens.acme}=acme/ann`,
      `${tokens.acmeToo}=acme/bob`,
      `${tokens.globex}=globex/ann`,
      ...roles.map((role) => `${tokenWithRole(role)}=acme/${role}/${role}`),
    ].join(","),
    // Nothing listens on this port.
    REEVE_APPROVALS_URL: "http://127.0.0.1:1",
    REEVE_MAX_ARTIFACT_BYTES: "1000",
    ...settings,
  });
  const gateway = starting.use(
    await startGateway(config, { nats, log, ...(listener && { listener }) }, never),
  );
  const runs = await openRunLog(nats);
  const resources = starting.move();
  return {
    url: gateway.url,
    nats,
    async append(run, ...facts) {
      const key = { tenant: "acme", run };
      const { tail } = await runs.read(key, emptyTail, never);
      const events: readonly RunEvent[] = facts.map((event, index) =>
        create(RunEventSchema, {
          runId: run,
          sequence: tail.sequence + 1 + index,
          time: timestampNow(),
          event,
        }),
      );
      const outcome = await runs.append(key, tail, events, never);
      if (outcome.kind === "conflict") throw new Error(`another writer appended to ${run}`);
    },
    async startAnother() {
      const second = resources.use(await connectNats(server.url, { name: "second", log }, never));
      return resources.use(await startGateway(config, { nats: second, log }, never)).url;
    },
    async restartNats(meanwhile) {
      const { port, pid } = server;
      process.kill(pid, "SIGKILL");
      await server[Symbol.asyncDispose]();
      await meanwhile?.();
      server = await startNatsServer({ storeDir, port, log }, never);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function announce(nats: Nats): Promise<void> {
  const models = await openTable(nats, ModelCatalogSchema);
  const catalog = create(ModelCatalogSchema, {
    models: [{ id: "known", provider: "scripted", upstreamName: "known" }],
    providers: [{ name: "scripted", scripted: true, upstreamNames: ["known", "gone"] }],
    storedProviders: { origins: ["https://models.example.org"], apis: [{ name: "chat" }] },
  });
  await models.put("default", catalog, never);
  const tools = await openTable(nats, ToolCatalogSchema);
  const schema = { type: "object", properties: { path: { type: "string" } } };
  const pool = create(ToolCatalogSchema, {
    pool: "default",
    isolation: "bubblewrap",
    tools: [
      {
        name: "read_file",
        permissionClass: PermissionClass.SAFE,
        inputSchema: schema,
        source: "builtin",
        pool: "default",
      },
    ],
  });
  await tools.put("default", pool, never);
}
