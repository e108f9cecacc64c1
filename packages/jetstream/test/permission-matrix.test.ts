import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NatsConnection } from "@nats-io/transport-node";
import type { NatsServer } from "@reeve/platform/nats/nats-server";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import type { NatsOptions } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AccountKeys } from "../src/access/nats-accounts.ts";
import { issueUser, keyNames, newKey, renderNatsAccounts } from "../src/access/nats-accounts.ts";
import type { ServiceName } from "../src/access/permissions.ts";
import { permissionsOf, serviceNames } from "../src/access/permissions.ts";
import { issueCredentials, writeServerUsers } from "../src/access/server-users.ts";
import type { Act } from "./support/permissions/contract-acts.ts";
import { contractActs } from "./support/permissions/contract-acts.ts";
import { recordRefusals } from "./support/permissions/refusals.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
const acts = contractActs();

/** What a service needs to connect. */
type Login = Pick<NatsOptions, "user" | "pass" | "credsFile">;

/** Writes the users for a server to a file. Returns how each service connects. */
type WriteUsers = (
  configFile: string,
  folder: string,
) => Promise<Readonly<Record<ServiceName, Login>>>;

const withPasswords: WriteUsers = (configFile) => {
  const credentials = issueCredentials();
  writeServerUsers(configFile, credentials);
  return Promise.resolve(credentials);
};

const withJwts: WriteUsers = async (configFile, folder) => {
  // One for each name.
  const keys = Object.fromEntries(keyNames.map((name) => [name, newKey(name)])) as AccountKeys;
  writeFileSync(configFile, await renderNatsAccounts(keys, undefined));
  const login = async (service: ServiceName) => {
    const credsFile = join(folder, `${service}.creds`);
    writeFileSync(credsFile, await issueUser(keys, service));
    return [service, { credsFile }] as const;
  };
  // One for each service.
  return Object.fromEntries(await Promise.all(serviceNames.map(login))) as Record<
    ServiceName,
    Login
  >;
};

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

describe.each([
  ["passwords", withPasswords],
  ["JWTs", withJwts],
])("with %s", (_, writeUsers) => {
  const resources = new AsyncDisposableStack();
  let server: NatsServer;
  let logins: Readonly<Record<ServiceName, Login>>;

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), "reeve-matrix-"));
    resources.defer(() => rmSync(folder, { recursive: true, force: true }));
    const configFile = join(folder, "nats.conf");
    logins = await writeUsers(configFile, folder);
    const options = { storeDir: join(folder, "store"), configFile, log };
    server = resources.use(await startNatsServer(options, never));
  });

  afterAll(() => resources.disposeAsync());

  test.each(serviceNames)("%s may only do what the contracts name for it", async (service) => {
    const options = { name: service, log, ...logins[service] };
    await using nats = await connectNats(server.url, options, never);
    const forbidden = acts.filter(({ allowed }) => !allowed.has(service));
    expect((await refusedOf(nats.connection)).map(textOf)).toEqual(forbidden.map(textOf));
    // Most of what the contracts name is for others.
    expect(forbidden.length).toBeGreaterThan(acts.length / 2);
  });
});

test.each(serviceNames)("%s has no permission for what the contracts do not name", (service) => {
  const { publish, subscribe } = permissionsOf(service);
  expect(publish.filter((pattern) => !isNamed("publish", pattern, service))).toEqual([]);
  expect(subscribe.filter((pattern) => !isNamed("subscribe", pattern, service))).toEqual([]);
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
