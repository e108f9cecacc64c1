import { writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GatewayBench } from "@reeve/gateway/test/support/gateway-bench";
import { openGatewayBench, tokens } from "@reeve/gateway/test/support/gateway-bench";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";

let bench: GatewayBench;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "reeve-triggers-"));
  bench = await openGatewayBench();
  const agent = write("agent.yaml", "id: writer\nname: writer\nmodel: known\n");
  await reeve("agents", "apply", "-f", agent);
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function reeve(...args: readonly string[]) {
  const terminal = new MemoryTerminal();
  const signal = new AbortController().signal;
  const line = ["--url", bench.url, "--token", tokens.acme, ...args];
  const code = await runCli(line, { terminal, environment: {}, signal });
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

const nightly = `trigger_id: nightly
agent_id: writer
input: Write the report of {{time}}.
schedule:
  cron: 0 2 * * *
  time_zone: Europe/Lisbon
  on_missed: ON_MISSED_ONCE
`;

test("a trigger file is created, left as it is, and updated", async () => {
  const path = write("nightly.yaml", nightly);
  const apply = async () => await reeve("triggers", "apply", "-f", path);
  expect(await apply()).toEqual({ code: 0, stdout: "nightly created\n", stderr: "" });
  expect((await apply()).stdout).toBe("nightly unchanged\n");
  write("nightly.yaml", nightly.replace("0 2", "0 3"));
  expect((await apply()).stdout).toBe("nightly updated\n");
  const { stdout } = await reeve("triggers", "list");
  expect(stdout).toMatch(/^TRIGGER +STATE +AGENT +SOURCE +NEXT +LAST\n/);
  expect(stdout).toMatch(/nightly +active +writer +0 3 \* \* \* Europe\/Lisbon +2\d{3}-/);
});

test("a trigger can be fired, paused, resumed, and deleted", async () => {
  const fired = await reeve("triggers", "fire", "nightly");
  expect(fired.stdout).toMatch(/^run_/);
  const again = await reeve("triggers", "fire", "nightly");
  expect(again).toMatchObject({ code: 1, stdout: "" });
  expect(again.stderr).toContain("has not ended");
  const { stdout } = await reeve("triggers", "firings", "nightly");
  expect(stdout).toMatch(/request +skipped/);
  expect(stdout).toMatch(/request +started +run_/);
  expect((await reeve("triggers", "pause", "nightly")).stdout).toBe("nightly paused\n");
  expect((await reeve("triggers", "get", "nightly")).stdout).toMatch(/state +paused/);
  expect((await reeve("triggers", "resume", "nightly")).stdout).toBe("nightly resumed\n");
  expect((await reeve("triggers", "delete", "nightly")).stdout).toBe("nightly deleted\n");
  expect(await reeve("triggers", "get", "nightly")).toMatchObject({
    code: 1,
    stderr: "error: trigger nightly not found; list the triggers for their ids\n",
  });
});

test("the secret of a webhook is shown once, and can be replaced", async () => {
  const path = write(
    "hook.yaml",
    "trigger_id: hook\nagent_id: writer\ninput: Triage {{body.title}}\nwebhook: {}\n",
  );
  const { stdout, stderr } = await reeve("triggers", "apply", "-f", path);
  expect(stdout).toMatch(
    /^hook created\naddress {2}\/v1\/hooks\/acme\/hook\nsecret {3}whsec_\S{44}\n$/,
  );
  expect(stderr).toBe("the secret is not shown again\n");
  expect((await reeve("triggers", "apply", "-f", path)).stdout).toBe("hook unchanged\n");
  expect((await reeve("triggers", "get", "hook")).stdout).not.toContain("whsec_");
  expect((await reeve("triggers", "rotate-secret", "hook")).stdout).toMatch(/^whsec_\S{44}\n$/);
});

test("a file with mistakes changes nothing, and names them", async () => {
  const good = write("good.yaml", nightly.replace("nightly", "good"));
  const bad = write("bad.yaml", "trigger_id: bad\nagent: writer\n");
  const { code, stderr } = await reeve("triggers", "apply", "-f", good, bad);
  expect(code).toBe(1);
  expect(stderr).toContain("agent");
  expect((await reeve("triggers", "list")).stdout).not.toContain("good");
});
