import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, onTestFinished, test, vi } from "vitest";
import { watchPolicy } from "./watch-policy.ts";

const problems: unknown[] = [];

/** Watches a file with this text. */
function watched(text: string) {
  const folder = mkdtempSync(join(tmpdir(), "reeve-policy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "policy.yaml");
  writeFileSync(path, text);
  const resources = new AsyncDisposableStack();
  onTestFinished(() => resources.disposeAsync());
  problems.length = 0;
  const log = createLogger("test", "silent");
  log.error = (fields: unknown) => void problems.push(fields);
  return { path, policy: watchPolicy(path, log, resources) };
}

const rule = (name: string) => `rules: [{ name: ${name}, deny: { tools: [x] } }]`;

test("a change of the file is in force without a restart", async () => {
  const { path, policy } = watched(rule("old"));
  expect(policy()?.rules[0]?.name).toBe("old");
  writeFileSync(path, rule("new"));
  await vi.waitFor(() => expect(policy()?.rules[0]?.name).toBe("new"), { timeout: 20_000 });
});

test("a mistake leaves the policy as it was, and the log says where it is", async () => {
  const { path, policy } = watched(rule("old"));
  writeFileSync(path, "rules:\n  - { name: new }");
  await vi.waitFor(() => expect(problems).toHaveLength(1), { timeout: 20_000 });
  expect(problems[0]).toMatchObject({
    paths: [path],
    problem: expect.stringContaining("line 2") as string,
  });
  expect(policy()?.rules[0]?.name).toBe("old");
});

test("a file with a mistake at the start is an error that names the setting, the path, and the line", () => {
  expect(() => watched("rules:\n  - nobody: 1")).toThrow(
    /REEVE_POLICY_FILE .*policy\.yaml: .*rules\[0\]\.nobody: line 2: unknown field/,
  );
});

test("no setting is no policy", () => {
  const log = createLogger("test", "silent");
  expect(watchPolicy(undefined, log, new AsyncDisposableStack())()).toBeUndefined();
});
