import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { findNode, linkNode } from "../../scripts/bootstrap/node.mjs";

/** What the bootstrap says on a machine whose PATH has only `programs`, where nothing may be installed. */
function bootstrap(programs: readonly string[], command = "demo") {
  const folder = mkdtempSync(join(tmpdir(), "reeve-path-"));
  for (const program of programs) {
    const path = join(folder, program);
    writeFileSync(path, "#!/bin/sh\n");
    chmodSync(path, 0o755);
  }
  const { status, stderr } = spawnSync(process.execPath, ["scripts/bootstrap.mjs", command], {
    cwd: join(import.meta.dirname, "../.."),
    encoding: "utf8",
    env: { ...process.env, REEVE_BOOTSTRAP_PATH: folder, REEVE_BOOTSTRAP_NO_INSTALL: "1" },
  });
  return { status, said: stderr };
}

describe.skipIf(process.platform !== "linux")("a machine that lacks programs", () => {
  test.each([
    ["apt-get", "apt-get install -y --no-install-recommends nats-server bubblewrap ripgrep"],
    ["dnf", "dnf install -y nats-server bubblewrap ripgrep"],
    ["apk", "apk add nats-server bubblewrap ripgrep"],
  ])("is told the line to type for %s", (manager, line) => {
    const { status, said } = bootstrap([manager]);
    expect(said).toContain(line);
    expect(status).toBe(3);
  });

  test("is told only what is missing", () => {
    const { status, said } = bootstrap(["apk", "nats-server", "rg"]);
    expect(said).toMatch(/^missing: bwrap\. Run: (sudo )?apk add bubblewrap$/m);
    expect(status).toBe(3);
  });
});

describe.skipIf(process.platform !== "linux")("the pinned Node", () => {
  test("is linked where npm has removed its link", () => {
    const root = mkdtempSync(join(tmpdir(), "reeve-node-"));
    const program = join(`node-linux-${process.arch}`, "bin", "node");
    for (const folder of [".bin", join(program, "..")]) {
      mkdirSync(join(root, "node_modules", folder), { recursive: true });
    }
    writeFileSync(join(root, "node_modules", program), "");
    linkNode(root);
    expect(readlinkSync(join(root, "node_modules/.bin/node"))).toBe(join("..", program));
    expect(findNode(root)).toBe(join(root, "node_modules", program));
  });

  test("is replaced by the current one where none is installed", () => {
    expect(findNode(mkdtempSync(join(tmpdir(), "reeve-node-")))).toBe(process.execPath);
  });
});

test("an unknown command is a usage error", () => {
  const { status, said } = bootstrap([], "dance");
  expect(said).toMatch(/^usage: .*demo\|start\|test\|/);
  expect(status).toBe(2);
});
