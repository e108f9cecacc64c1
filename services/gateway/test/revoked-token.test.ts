import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tokenDigest } from "@reeve/platform/rpc/principal";
import { expect, onTestFinished, test } from "vitest";
import { openBenchWithAgent } from "./support/bench-with-agent.ts";
import { clientsOf, refusalOf } from "./support/clients.ts";

const line = (token: string) => `sha256:${tokenDigest(token)} acme/eve/viewer\n`;

test("a watch ends when its token is revoked", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-tokens-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const tokensFile = join(folder, "tokens");
  writeFileSync(tokensFile, line("revoked-token") + line("other-token"));
  await using bench = await openBenchWithAgent({ REEVE_TOKENS_FILE: tokensFile });
  const runId = await bench.queued();
  const watching = (token: string) =>
    clientsOf(bench.url, `Bearer ${token}`, "gRPC").runs.watchRun({ runId });
  let heartbeats = 0;
  const other = watching("other-token");
  const refusal = refusalOf(
    (async function* () {
      for await (const message of watching("revoked-token")) {
        // The stream is open: from here on, only heartbeats follow.
        if (heartbeats++ === 0) writeFileSync(tokensFile, line("other-token"));
        yield message;
      }
    })(),
  );
  expect(await refusal).toMatchObject({ kind: "unauthenticated", reason: "UNAUTHENTICATED" });
  // A valid token is not affected.
  for await (const { throughSequence } of other) {
    expect(throughSequence).toBeDefined();
    break;
  }
});
