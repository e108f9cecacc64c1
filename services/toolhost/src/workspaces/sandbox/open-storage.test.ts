import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { readConfig } from "@reeve/platform/config";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { SandboxDriver } from "@reeve/sandbox/port";
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

test("no spare sandbox is started when the id of the storage cannot be read", () => {
  // A folder where the file is expected.
  mkdirSync(join(folder, "place"));
  let started = 0;
  const driver: SandboxDriver = {
    name: "docker",
    keepsWorkspace: "host",
    probe: () => Promise.reject(new Error("not probed")),
    open: () => {
      started++;
      return Promise.reject(new Error("not opened"));
    },
    list: () => Promise.resolve([]),
    destroy: () => Promise.resolve(),
  };
  const identity = {
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
    isDedicated: false,
  };
  const config = readConfig(toolhostConfig, {
    NATS_URL: "nats://127.0.0.1:4222",
    REEVE_DATA_DIR: folder,
    REEVE_SANDBOX_SPARE: "2",
  });
  const open = () =>
    openStorage({ driver, isolates: true, identity }, config, createLogger("test", "silent"));
  expect(open).toThrow("EISDIR");
  expect(started).toBe(0);
});
