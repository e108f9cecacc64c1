import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadTemporalSdk } from "./sdk.ts";
import { untilConnected } from "./until-connected.ts";
import { createLogger } from "@reeve/platform/telemetry/logger";

const fix =
  "run `node services/runtime/temporal/install.mjs FOLDER`, and set REEVE_TEMPORAL_SDK=FOLDER";

test("a runtime without the packages of Temporal says what is missing, and how to install it", () => {
  const needs = "the executor temporal needs the packages of Temporal, and";
  expect(() => loadTemporalSdk(undefined)).toThrow(
    `${needs} REEVE_TEMPORAL_SDK is not set; ${fix}`,
  );
  expect(() => loadTemporalSdk("/missing")).toThrow(`${needs} /missing is missing; ${fix}`);
});

test("a folder with another version of the workflow, or without the packages, is refused", () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-sdk-"));
  try {
    expect(() => loadTemporalSdk(folder)).toThrow(
      `${folder} has version unknown of the workflow, and this runtime needs version 1; ${fix}`,
    );
    writeFileSync(join(folder, "package.json"), JSON.stringify({ version: "2.0.0" }));
    expect(() => loadTemporalSdk(folder)).toThrow(`${folder} has version 2.0.0 of the workflow`);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ version: "1.0.0" }));
    expect(() => loadTemporalSdk(folder)).toThrow(
      `the packages of Temporal in ${folder} cannot be loaded; ${fix}`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a runtime waits for a server that is unreachable, and says so once", async () => {
  const lines: string[] = [];
  const log = createLogger("test", "warn", { write: (line) => void lines.push(line) });
  let attempts = 0;
  const connect = async () => {
    if (++attempts < 3) throw new Error("refused");
    return "connected";
  };
  const delays = { firstDelayMs: 1, maxDelayMs: 1 };
  const waiting = untilConnected(
    connect,
    { address: "a:1", log, delays },
    new AbortController().signal,
  );
  expect(await waiting).toBe("connected");
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    address: "a:1",
    msg: "Temporal is unreachable; runs wait until it answers",
  });
});
