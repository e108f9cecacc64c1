import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test } from "vitest";

const bin = join(import.meta.dirname, "../bin/reeve.mjs");

test("a command keeps what it compiled in the user's cache, and works without one", () => {
  const cache = mkdtempSync(join(tmpdir(), "reeve-cache-"));
  onTestFinished(() => rmSync(cache, { recursive: true, force: true }));
  for (const folder of [cache, "/dev/null"]) {
    const environment = { PATH: process.env["PATH"], XDG_CACHE_HOME: folder };
    const { status, stdout } = spawnSync(process.execPath, [bin, "--version"], {
      env: environment,
      encoding: "utf8",
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "0.1.0\n" });
  }
  expect(readdirSync(join(cache, "reeve/compiled"))).not.toEqual([]);
});
