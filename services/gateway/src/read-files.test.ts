import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, onTestFinished, test } from "vitest";
import { gatewayConfig } from "./config.ts";
import { readFiles } from "./read-files.ts";

// Requirement: RES-12
test("everything that is wrong with the files of a gateway is reported together", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-files-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const quotas = join(folder, "quotas.yaml");
  writeFileSync(quotas, "quotas: many\n");
  const policy = join(folder, "policy.yaml");
  writeFileSync(policy, "rules: none\n");
  const config = gatewayConfig.parse({
    REEVE_LISTEN: "127.0.0.1:0",
    REEVE_POLICY_FILE: policy,
    REEVE_QUOTAS_FILE: quotas,
    REEVE_TOKENS_FILE: join(folder, "missing"),
  });
  await using resources = new AsyncDisposableStack();
  const options = { environment: {}, log: createLogger("test", "silent"), resources };
  const { message } = await readFiles(config, options, new AbortController().signal).then(
    () => new Error("nothing was wrong"),
    (error: Error) => error,
  );
  expect(message).toContain(policy);
  expect(message).toContain(quotas);
  expect(message).toContain(join(folder, "missing"));
});
