import { spawnSync } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";

test.skipIf(process.platform !== "linux")(
  "output that cannot be written is an error of one line",
  () => {
    const bin = join(import.meta.dirname, "../bin/reeve.mjs");
    const { status, stderr } = spawnSync(process.execPath, [bin, "--help"], {
      encoding: "utf8",
      stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
    });
    expect(stderr).toMatch(/^error: the output cannot be written: .*ENOSPC.*\n$/);
    expect(status).toBe(1);
  },
);
