import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readlinkSync, rmSync } from "node:fs";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, onTestFinished, test } from "vitest";
import { userPath } from "../support/user-path.ts";
import { findNode, linkNode } from "../../scripts/bootstrap/node.mjs";

/** Returns the output of the bootstrap with a PATH that has only `programs`, without installing anything. */
function bootstrap(programs: readonly string[], command: readonly string[] = ["demo", "--yes"]) {
  const folder = mkdtempSync(join(tmpdir(), "reeve-path-"));
  for (const program of programs) {
    const path = join(folder, program);
    writeFileSync(path, "#!/bin/sh\n");
    chmodSync(path, 0o755);
  }
  const { status, stderr } = spawnSync(process.execPath, ["scripts/bootstrap.mjs", ...command], {
    cwd: join(import.meta.dirname, "../.."),
    encoding: "utf8",
    env: { ...process.env, REEVE_BOOTSTRAP_PATH: folder, REEVE_BOOTSTRAP_NO_INSTALL: "1" },
  });
  return { status, said: stderr };
}

describe.skipIf(process.platform !== "linux")("on a machine without the required programs", () => {
  test.each([
    ["apt-get", "apt-get install -y --no-install-recommends nats-server bubblewrap ripgrep"],
    ["dnf", "dnf install -y nats-server bubblewrap ripgrep"],
    ["apk", "apk add nats-server bubblewrap ripgrep"],
  ])("the bootstrap prints the install command for %s", (manager, line) => {
    const { status, said } = bootstrap([manager]);
    expect(said).toContain(line);
    expect(status).toBe(3);
  });

  test("the bootstrap lists only the missing programs", () => {
    const { status, said } = bootstrap(["apk", "nats-server", "rg"]);
    expect(said).toMatch(/^missing: bwrap\. Run: (sudo )?apk add bubblewrap$/m);
    expect(status).toBe(3);
  });

  test("the demo without a terminal is refused before anything is installed", () => {
    const { status, said } = bootstrap(["apk"], ["demo", "sales.csv"]);
    expect(said).toContain("run: npm run demo -- --yes");
    expect(said).not.toContain("missing");
    expect(status).toBe(2);
  });
});

test("the demo without a terminal names an option that does not exist", () => {
  const { status, said } = bootstrap(["nats-server", "bwrap", "rg"], ["demo", "--bogus"]);
  expect(said).toContain("unknown option '--bogus'");
  expect(status).toBe(2);
});

describe.skipIf(process.platform !== "linux")("the pinned Node", () => {
  test("is linked again after npm removed the link", () => {
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

  test("falls back to the current Node if it is not installed", () => {
    expect(findNode(mkdtempSync(join(tmpdir(), "reeve-node-")))).toBe(process.execPath);
  });
});

test("the demo of a fresh clone, on the Node of the user and without a network, says within seconds what it needs", () => {
  const clone = mkdtempSync(join(tmpdir(), "reeve-offline-"));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  for (const path of [
    "scripts/bootstrap.mjs",
    "scripts/bootstrap",
    "cli/src/embedded/programs.mjs",
  ]) {
    cpSync(join(import.meta.dirname, "../..", path), join(clone, path), { recursive: true });
  }
  const dependencies = { absent: "1.0.0" };
  const project = { name: "clone", version: "1.0.0", dependencies };
  const packages = { "": project, "node_modules/absent": { version: "1.0.0" } };
  writeFileSync(join(clone, "package.json"), JSON.stringify(project));
  const lock = { name: "clone", lockfileVersion: 3, requires: true, packages };
  writeFileSync(join(clone, "package-lock.json"), JSON.stringify(lock));
  const started = performance.now();
  const { status, stderr } = spawnSync("node", ["scripts/bootstrap.mjs", "demo", "--yes"], {
    cwd: clone,
    encoding: "utf8",
    env: {
      ...process.env,
      PATH: userPath,
      // Nothing listens there.
      npm_config_registry: "http://127.0.0.1:9",
      npm_config_cache: join(clone, "cache"),
      npm_execpath: "",
    },
  });
  expect(stderr).toContain("ECONNREFUSED");
  expect(stderr).toContain("the first start needs the npm registry");
  expect(status).toBe(3);
  // The pauses of npm take six seconds; its own defaults would take more than a minute.
  expect(performance.now() - started).toBeLessThan(60_000);
});

test("an unknown command is a usage error", () => {
  const { status, said } = bootstrap([], ["dance"]);
  expect(said).toMatch(/^usage: .*demo\|start\|test\|/);
  expect(status).toBe(2);
});
