import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NatsConnection } from "@nats-io/transport-node";
import type { NatsServer } from "@reeve/platform/nats/nats-server";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ServiceName } from "../src/access/permissions.ts";
import { permissionsOf, serviceNames } from "../src/access/permissions.ts";
import { issueCredentials, writeServerUsers } from "../src/access/server-users.ts";
import type { Act } from "./support/contract-acts.ts";
import { contractActs } from "./support/contract-acts.ts";
import { recordRefusals } from "./support/refusals.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
const resources = new AsyncDisposableStack();
const credentials = issueCredentials();
const acts = contractActs();
let server: NatsServer;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-matrix-"));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const configFile = join(folder, "nats.conf");
  writeServerUsers(configFile, credentials);
  const options = { storeDir: join(folder, "store"), configFile, log };
  server = resources.use(await startNatsServer(options, never));
});

afterAll(() => resources.disposeAsync());

/** Tries every act, and returns those that the server refuses. */
async function refusedOf(connection: NatsConnection): Promise<readonly Act[]> {
  const refusals = recordRefusals(connection);
  for (const { kind, subject } of acts) {
    if (kind === "publish") connection.publish(subject);
    else connection.subscribe(subject, { callback: () => undefined });
  }
  const refused = await refusals.soFar();
  const named = { publish: "publish", subscribe: "subscription" };
  return acts.filter(({ kind, subject }) => refused.has(`${named[kind]} ${subject}`));
}

const textOf = ({ kind, subject }: Act) => `${kind} ${subject}`;

describe.each(serviceNames)("%s", (service) => {
  test("may do what the contracts name for it, and the server refuses everything else", async () => {
    const options = { name: service, log, ...credentials[service] };
    await using nats = await connectNats(server.url, options, never);
    const forbidden = acts.filter(({ allowed }) => !allowed.has(service));
    expect((await refusedOf(nats.connection)).map(textOf)).toEqual(forbidden.map(textOf));
    // Most of what the contracts name is for others.
    expect(forbidden.length).toBeGreaterThan(acts.length / 2);
  });

  test("has no permission for anything that the contracts do not name", () => {
    const { publish, subscribe } = permissionsOf(service);
    expect(publish.filter((pattern) => !isNamed("publish", pattern, service))).toEqual([]);
    expect(subscribe.filter((pattern) => !isNamed("subscribe", pattern, service))).toEqual([]);
  });
});

/** Whether a permission is for an act that the contracts name for the service. */
function isNamed(kind: Act["kind"], pattern: string, service: ServiceName): boolean {
  const ofKind = acts.filter((act) => act.kind === kind && act.allowed.has(service));
  return ofKind.some(({ subject }) => subject === pattern || matches(pattern, subject));
}

function matches(pattern: string, subject: string): boolean {
  const parts = pattern.split(".");
  const tokens = subject.split(".");
  const isOpen = parts.at(-1) === ">";
  const fixed = isOpen ? parts.slice(0, -1) : parts;
  return (
    (isOpen ? tokens.length > fixed.length : tokens.length === fixed.length) &&
    fixed.every((part, index) => part === "*" || part === tokens[index])
  );
}
