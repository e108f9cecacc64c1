import { generateKeyPairSync } from "node:crypto";
import { decidedCall, decidedCallId } from "@reeve/engine/test/support/decided-call";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import { emptyTail } from "@reeve/jetstream/log/port";
import { envelopeText, openEnvelope } from "@reeve/run/receipts/envelope";
import { parseSigningKey } from "@reeve/run/receipts/receipt-keys";
import { expect, test } from "vitest";
import { limitWalks } from "../watch/start-watch.ts";
import { getReceipt } from "./get-receipt.ts";

const never = new AbortController().signal;
const { privateKey } = generateKeyPairSync("ed25519");
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const signing = parseSigningKey(pem, "the key");
const request = { callId: decidedCallId, omitContent: false };
const [{ runId: run } = { runId: "" }] = decidedCall();

async function portsWith(keys = { signing, verifying: [signing] }) {
  const logBatches = memoryRunLog();
  await logBatches.append({ tenant: "acme", run }, emptyTail, decidedCall(), never);
  return { logBatches, receiptKeys: () => keys, walks: limitWalks() };
}

test("the receipt of a call is signed by the key of the deployment, and the same each time", async () => {
  const ports = await portsWith();
  const key = { tenant: "acme", run };
  const envelope = await getReceipt(ports, key, request, never);
  expect(openEnvelope(envelopeText(envelope), [signing])).toMatchObject({ kind: "verified" });
  expect(await getReceipt(ports, key, request, never)).toEqual(envelope);
  const short = await getReceipt(ports, key, { ...request, omitContent: true }, never);
  expect(short.payload.length).toBeLessThan(envelope.payload.length);
});

test("another tenant finds no run, and a deployment without a key signs nothing", async () => {
  const ports = await portsWith();
  const theirs = getReceipt(ports, { tenant: "other", run }, request, never);
  await expect(theirs).rejects.toMatchObject({ kind: "not_found" });
  const without = { ...ports, receiptKeys: () => ({ signing: undefined, verifying: [signing] }) };
  await expect(getReceipt(without, { tenant: "acme", run }, request, never)).rejects.toMatchObject({
    kind: "precondition",
    message: expect.stringContaining("REEVE_RECEIPT_KEY_FILE") as string,
  });
});

test("receipts wait for the logs that are read for others of the tenant, and leave room for other tenants", async () => {
  const ports = await portsWith();
  const first = Promise.withResolvers<undefined>();
  const otherBegan = Promise.withResolvers<undefined>();
  const begun: string[] = [];
  const logBatches = {
    async *readBatches(key: { readonly tenant: string; readonly run: string }) {
      begun.push(key.tenant);
      if (key.tenant === "other") otherBegan.resolve(undefined);
      else await first.promise;
      yield* ports.logBatches.readBatches(key, never);
    },
  };
  const ask = (tenant: string) =>
    getReceipt({ ...ports, logBatches }, { tenant, run }, request, never);
  const own = [ask("acme"), ask("acme"), ask("acme")];
  const other = ask("other").catch(() => "not found");
  await otherBegan.promise;
  expect(begun.filter((tenant) => tenant === "acme").length).toBeLessThanOrEqual(2);
  first.resolve(undefined);
  expect(await other).toBe("not found");
  expect(await Promise.all(own)).toHaveLength(3);
  expect(begun.filter((tenant) => tenant === "acme")).toHaveLength(3);
});
