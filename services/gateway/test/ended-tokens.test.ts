import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tokenDigest } from "@reeve/platform/rpc/credentials/bearer-tokens";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { BenchWithAgent } from "./support/bench-with-agent.ts";
import { openBenchWithAgent } from "./support/bench-with-agent.ts";
import { clientsOf, refusalOf } from "./support/clients.ts";

const line = (token: string, role = "viewer") => `sha256:${tokenDigest(token)} acme/eve/${role}\n`;
const folder = mkdtempSync(join(tmpdir(), "reeve-tokens-"));
const tokensFile = join(folder, "tokens");
const issuer = "https://login.example.com";
const { privateKey, publicKey } = await generateKeyPair("ES256");
const jwk = { ...(await exportJWK(publicKey)), kid: "one" };
/** Whether the identity provider publishes its keys. */
let publishes = false;
const provider = createServer((_, response) =>
  publishes ? response.end(JSON.stringify({ keys: [jwk] })) : response.destroy(),
);
let bench: BenchWithAgent;

beforeAll(async () => {
  provider.listen(0, "127.0.0.1");
  await once(provider, "listening");
  // A TCP server has an address and a port.
  const { port } = provider.address() as AddressInfo;
  const config = {
    issuer,
    audience: "reeve",
    jwks_uri: `http://127.0.0.1:${port}`,
    clock_skew_seconds: 0,
    tenant: "acme",
    roles: { people: ["viewer"] },
  };
  writeFileSync(join(folder, "oidc.json"), JSON.stringify(config));
  writeFileSync(
    tokensFile,
    line("revoked-token") + line("other-token") + line("role-token", "runner"),
  );
  bench = await openBenchWithAgent({
    REEVE_TOKENS_FILE: tokensFile,
    REEVE_OIDC_CONFIG: join(folder, "oidc.json"),
  });
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  provider.closeAllConnections();
  provider.close();
  rmSync(folder, { recursive: true, force: true });
});

const runsOf = (token: string) => clientsOf(bench.url, `Bearer ${token}`, "gRPC").runs;

async function signed(seconds: number): Promise<string> {
  return await new SignJWT({ sub: "ann", groups: ["people"] })
    .setProtectedHeader({ alg: "ES256", kid: "one" })
    .setIssuer(issuer)
    .setAudience("reeve")
    .setExpirationTime(Math.ceil(Date.now() / 1_000) + seconds)
    .sign(privateKey);
}

test("an upload ends when its token loses the role that it needs", async () => {
  const { artifacts, runs } = clientsOf(bench.url, "Bearer role-token", "gRPC");
  const kindOf = async () => (await refusalOf(runs.cancelRun({ runId: "run_none0001" }))).kind;
  expect(await kindOf()).toBe("not_found");
  async function* parts() {
    yield { part: { case: "header" as const, value: { name: "a.txt" } } };
    writeFileSync(tokensFile, line("revoked-token") + line("other-token") + line("role-token"));
    await vi.waitFor(async () => expect(await kindOf()).toBe("denied"), { timeout: 20_000 });
    yield { part: { case: "chunk" as const, value: new Uint8Array(10) } };
  }
  const refusal = await refusalOf(artifacts.uploadArtifact(parts()));
  expect(refusal).toMatchObject({ kind: "denied", reason: "PERMISSION_DENIED" });
  expect((await artifacts.listArtifacts({})).artifacts).toEqual([]);
});

test("a watch ends when its token is revoked", async () => {
  const runId = await bench.queued();
  let heartbeats = 0;
  const other = runsOf("other-token").watchRun({ runId });
  const refusal = refusalOf(
    (async function* () {
      for await (const message of runsOf("revoked-token").watchRun({ runId })) {
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

test("a token of an identity provider can be retried until the provider answers, and a watch ends with it", async () => {
  const unchecked = await refusalOf(runsOf(await signed(60)).listRuns({}));
  expect(unchecked).toMatchObject({ kind: "unavailable", reason: "UNAVAILABLE" });
  // Tokens of the gateway's own do not depend on the provider.
  await runsOf("other-token").listRuns({});
  publishes = true;
  const isAccepted = async () => void (await runsOf(await signed(60)).listRuns({}));
  await vi.waitFor(isAccepted, { timeout: 60_000, interval: 500 });
  const runId = await bench.queued();
  const ended = await refusalOf(runsOf(await signed(5)).watchRun({ runId }));
  expect(ended).toMatchObject({ kind: "unauthenticated", reason: "UNAUTHENTICATED" });
});
