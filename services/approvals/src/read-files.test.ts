import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, onTestFinished, test } from "vitest";
import { approvalsConfig } from "./config.ts";
import { readFiles } from "./read-files.ts";

// Requirement: RES-12
test("everything that is wrong with the files of approvals is reported together", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-files-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [policy, notify] = [join(folder, "policy.yaml"), join(folder, "notify.yaml")];
  writeFileSync(policy, "rules: none\n");
  writeFileSync(notify, "receivers: none\n");
  const config = approvalsConfig.parse({
    REEVE_APPROVALS_LISTEN: "127.0.0.1:0",
    REEVE_INTERNAL_TOKEN: "x".repeat(32),
    REEVE_PUBLIC_URL: "https://reeve.example.org",
    REEVE_POLICY_FILE: policy,
    REEVE_NOTIFY: notify,
  });
  await using resources = new AsyncDisposableStack();
  const options = { environment: {}, log: createLogger("test", "silent"), resources };
  const { message } = await readFiles(config, options).then(
    () => new Error("nothing was wrong"),
    (error: Error) => error,
  );
  expect(message).toContain(policy);
  expect(message).toContain(notify);
});
