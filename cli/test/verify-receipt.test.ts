import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toJsonString } from "@bufbuild/protobuf";
import { ExportRunLogResponseSchema } from "@reeve/contracts/run";
import { decidedCall, decidedCallId } from "@reeve/engine/test/support/decided-call";
import type { StoredLog } from "@reeve/engine/test/support/stored-log";
import { storedLog } from "@reeve/engine/test/support/stored-log";
import { receiptSource } from "@reeve/engine/verify/receipt-source";
import { envelopeText, sealEnvelope } from "@reeve/run/receipts/envelope";
import { parseSigningKey, publicKeyPem } from "@reeve/run/receipts/receipt-keys";
import { receiptPayload } from "@reeve/run/receipts/receipt-statement";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";

const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "reeve-verify-receipt-"));
const receiptFile = join(folder, "receipt.json");
const keyFile = join(folder, "keys.pem");
const logFile = join(folder, "log.jsonl");
const key = newKey();
let text = "";

beforeAll(async () => {
  const log = await storedLog(decidedCall(), [2]);
  text = await receiptOf(log);
  writeFileSync(receiptFile, `${text}\n`);
  writeFileSync(keyFile, publicKeyPem(key));
  writeFileSync(logFile, exported(log));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function newKey() {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return parseSigningKey(pem, "the key");
}

async function receiptOf({ subject, runId: run, batches }: StoredLog): Promise<string> {
  const source = await receiptSource({ subject, run, callId: decidedCallId }, batches);
  return envelopeText(sealEnvelope(receiptPayload(source, { omitContent: false }), key));
}

function exported({ subject, batches }: StoredLog): string {
  const parts = [batches.slice(0, 1), batches.slice(1)].map((part) =>
    create(ExportRunLogResponseSchema, { subject, batches: [...part] }),
  );
  return parts.map((part) => `${toJsonString(ExportRunLogResponseSchema, part)}\n`).join("");
}

/** Without a server: its address leads nowhere. */
async function verify(...args: readonly string[]) {
  const terminal = new MemoryTerminal();
  const environment = { REEVE_URL: "http://127.0.0.1:1" };
  const code = await runCli(["verify", ...args], { terminal, environment, signal: never });
  return { code, text: terminal.stdout, notes: terminal.stderr };
}

test("says what a receipt proves, without a server, as lines and as JSON", async () => {
  const shown = await verify(receiptFile, "--key", keyFile);
  expect(shown.code).toBe(0);
  expect(shown.text).toContain("asked by   ann at 2030-01-01T00:00:01.000Z\n");
  expect(shown.text).toContain("also eve, who sent messages");
  expect(shown.text).toContain(
    'arguments  {"to":"as-a-person-edited"} (edited by a person, sha256',
  );
  expect(shown.text).toContain(
    `decided    approved by cid at 2030-01-01T00:00:08.000Z, ${decidedCallId} (vote for security): ok\n`,
  );
  expect(shown.text).toContain(
    "executed   handed out at 2030-01-01T00:00:09.000Z, isolation none\n",
  );
  expect(shown.text).toContain("escalated 2030-01-01T00:00:06.000Z to dan\n");
  expect(shown.text).toContain(`with artifact art_large, sha256 ${"d".repeat(64)}\n`);
  expect(shown.text).toMatch(/^log +events 1 to 10, digest [0-9a-f]{64}$/m);
  expect(shown.text).toMatch(/^result +success .*sha256 [0-9a-f]{64}$/m);
  expect(shown.text).toContain(`verified: unaltered, and signed by key ${key.keyId}`);
  const json = JSON.parse((await verify(receiptFile, "--key", keyFile, "--json")).text) as object;
  expect(json).toMatchObject({ verified: true, keyId: key.keyId, receipt: { tenant: "acme" } });
});

test("computes the receipt again from an exported log, and refuses another log", async () => {
  const same = await verify(receiptFile, "--key", keyFile, "--log", logFile);
  expect(same).toMatchObject({ code: 0 });
  expect(same.text).toContain("the log gives the same receipt");
  const other = join(folder, "other.jsonl");
  writeFileSync(other, exported(await storedLog(decidedCall({ result: { content: "no" } }), [2])));
  const refused = await verify(receiptFile, "--key", keyFile, "--log", other);
  expect(refused).toMatchObject({ code: 5 });
  expect(refused.text).toContain("the log gives another receipt");
  const short = await verify(receiptFile, "--key", keyFile, "--log", keyFile);
  expect(short).toMatchObject({ code: 1 });
  expect(short.notes).toContain("is not a log");
});

test("an altered receipt is not verified; other files and missing options say what is wrong", async () => {
  const altered = join(folder, "altered.json");
  const at = text.indexOf('"payload":"') + 100;
  const other = text[at] === "A" ? "B" : "A";
  writeFileSync(altered, `${text.slice(0, at)}${other}${text.slice(at + 1)}`);
  expect(await verify(altered, "--key", keyFile)).toMatchObject({
    code: 5,
    text: expect.stringContaining("NOT VERIFIED") as string,
  });
  const json = JSON.parse((await verify(altered, "--key", keyFile, "--json")).text) as object;
  expect(json).toMatchObject({ verified: false });
  const otherKey = join(folder, "other.pem");
  writeFileSync(otherKey, publicKeyPem(newKey()));
  expect((await verify(receiptFile, "--key", otherKey)).text).toContain("not by the given one");
  expect(await verify(keyFile, "--key", keyFile)).toMatchObject({
    code: 5,
    text: expect.stringContaining("is not JSON") as string,
  });
  const large = join(folder, "large.json");
  writeFileSync(large, "");
  truncateSync(large, 9 * 1024 * 1024);
  expect((await verify(large, "--key", keyFile)).notes).toContain("more than 8388608");
  expect((await verify(receiptFile, "--key", receiptFile)).notes).toContain("no public key in PEM");
  expect((await verify(join(folder, "none"), "--key", keyFile)).notes).toContain("does not exist");
  expect(await verify(receiptFile)).toMatchObject({ code: 2 });
  expect(await verify("run_decided000", "--log", logFile)).toMatchObject({ code: 2 });
});
