import { generateKeyPairSync } from "node:crypto";
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { publicKeyPem } from "@reeve/run/receipts/receipt-keys";
import { expect, test } from "vitest";
import { openReceiptKeys } from "./open-receipt-keys.ts";

const log = createLogger("test", "silent");

function newPem(): string {
  const { privateKey } = generateKeyPairSync("ed25519");
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

test("after a rotation, the earlier key stays listed behind the one that signs, each once", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "reeve-receipt-keys-"));
  await using resources = new AsyncDisposableStack();
  const keyFile = join(folder.path, "key.pem");
  const publicFile = join(folder.path, "public.pem");
  writeFileSync(keyFile, newPem());
  const earlier = openReceiptKeys({ REEVE_RECEIPT_KEY_FILE: keyFile }, log, resources)();
  const listed = earlier.verifying.map(publicKeyPem).join("");
  writeFileSync(keyFile, newPem());
  const settings = { REEVE_RECEIPT_KEY_FILE: keyFile, REEVE_RECEIPT_PUBLIC_KEYS_FILE: publicFile };
  const own = openReceiptKeys({ REEVE_RECEIPT_KEY_FILE: keyFile }, log, resources)();
  writeFileSync(publicFile, `${listed}${own.verifying.map(publicKeyPem).join("")}`);
  const { signing, verifying } = openReceiptKeys(settings, log, resources)();
  expect(verifying.map(({ keyId }) => keyId)).toEqual([signing?.keyId, earlier.signing?.keyId]);
  expect(signing?.keyId).toBe(own.signing?.keyId);
});

test("a file that is no key is refused with its setting, and no file means no receipts", () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "reeve-receipt-keys-"));
  const path = join(folder.path, "key.pem");
  writeFileSync(path, "nothing");
  const resources = new AsyncDisposableStack();
  expect(() => openReceiptKeys({ REEVE_RECEIPT_KEY_FILE: path }, log, resources)).toThrow(
    `REEVE_RECEIPT_KEY_FILE ${path} has no private key`,
  );
  expect(openReceiptKeys({}, log, resources)()).toEqual({ signing: undefined, verifying: [] });
});
