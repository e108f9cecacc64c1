import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { readConfig } from "@reeve/platform/config";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { Lookups } from "@reeve/sandbox/network/lookups";
import type { SandboxDriver, SandboxSession } from "@reeve/sandbox/port";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toolhostConfig } from "../../config.ts";
import { openStorage } from "./open-storage.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reeve-storage-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const identity = {
  uid: process.getuid?.() ?? 0,
  gid: process.getgid?.() ?? 0,
  isDedicated: false,
};

const lookups = new Lookups(() => Promise.reject(new Error("no name is looked up")));

function driverOf(
  keepsWorkspace: "host" | "session",
  open: SandboxDriver["open"] = () => Promise.reject(new Error("not opened")),
  name = "docker",
): SandboxDriver {
  return {
    name,
    keepsWorkspace,
    probe: () => Promise.reject(new Error("not probed")),
    open,
    list: () => Promise.resolve([]),
    destroy: () => Promise.resolve(),
  };
}

// Requirement: DUR-6
test.each([
  ["isolated", "host", true, ["example.org:443"], true],
  ["that end with their workspace", "session", true, [], false],
  ["without isolation", "host", false, ["*:*"], false],
] as const)(
  "sandboxes %s offer only what calls can have",
  async (_, keepsWorkspace, isolates, networkAllow, readOnlyWorkspace) => {
    const config = readConfig(toolhostConfig, {
      NATS_URL: "nats://127.0.0.1:4222",
      REEVE_DATA_DIR: folder,
      REEVE_SANDBOX_SPARE: "0",
      REEVE_NETWORK_ALLOW: "example.org:443",
      REEVE_WORKSPACE_BYTES: "2000000",
    });
    const log = createLogger("test", "silent");
    const credentials = [
      {
        name: "tracker",
        hosts: [],
        header: "authorization",
        tenants: undefined,
        ca: undefined,
        value: () => Promise.reject(new Error("no request needs it")),
      },
    ];
    const chosen = { driver: driverOf(keepsWorkspace), isolates, identity };
    const { features, resources } = openStorage(chosen, config, { log, credentials, lookups });
    await resources.disposeAsync();
    expect(features).toMatchObject({ networkAllow, readOnlyWorkspace, workspaceBytes: 2_000_000n });
    expect(features.image).toBe("reeve-sandbox:latest");
    // Only the proxy of an isolated sandbox can add what the sandbox must not have.
    expect(features.networkCredentials).toEqual(readOnlyWorkspace ? ["tracker"] : []);
  },
);

test("no spare sandbox is started when the id of the storage cannot be read", () => {
  // A folder where the file is expected.
  mkdirSync(join(folder, "place"));
  let started = 0;
  const driver = driverOf("host", () => {
    started++;
    return Promise.reject(new Error("not opened"));
  });
  const config = readConfig(toolhostConfig, {
    NATS_URL: "nats://127.0.0.1:4222",
    REEVE_DATA_DIR: folder,
    REEVE_SANDBOX_SPARE: "2",
  });
  const open = () =>
    openStorage({ driver, isolates: true, identity }, config, {
      log: createLogger("test", "silent"),
      credentials: [],
      lookups,
    });
  expect(open).toThrow("EISDIR");
  expect(started).toBe(0);
});

test.each([
  ["docker", 2],
  ["bubblewrap", 2],
  ["unsafe-local", 0],
])("by default, %s has %i spare sandboxes", async (name, spares) => {
  const session = { settled: async () => true, [Symbol.asyncDispose]: async () => undefined };
  const driver = driverOf("host", async () => session as unknown as SandboxSession, name);
  const config = readConfig(toolhostConfig, {
    NATS_URL: "nats://127.0.0.1:4222",
    REEVE_DATA_DIR: folder,
  });
  const log = createLogger("test", "silent");
  const chosen = { driver, isolates: true, identity };
  const { waiting, resources } = openStorage(chosen, config, { log, credentials: [], lookups });
  await using _ = resources;
  await expect.poll(() => waiting().spare).toBe(spares);
});
