import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { afterAll, expect, test } from "vitest";
import { openCardSigner } from "../src/a2a/sign-card.ts";
import { gatewayConfig } from "../src/config.ts";

const folder = mkdtempSync(join(tmpdir(), "reeve-card-key-"));
const log = createLogger("test", "silent");
const ed25519 = generateKeyPairSync("ed25519");
const pkcs8 = { type: "pkcs8", format: "pem" } as const;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function open(content: string | Buffer | undefined): void {
  using resources = new DisposableStack();
  const path = join(folder, "card.pem");
  rmSync(path, { force: true });
  if (content !== undefined) writeFileSync(path, content);
  const opened = new AsyncDisposableStack();
  resources.defer(() => void opened.disposeAsync());
  openCardSigner(path, log, opened);
}

// Requirement: RES-3
test.each([
  ["is missing", undefined],
  ["is empty", ""],
  ["is a public key", ed25519.publicKey.export({ type: "spki", format: "pem" })],
  [
    "has a password",
    ed25519.privateKey.export({ ...pkcs8, cipher: "aes-256-cbc", passphrase: "secret" }),
  ],
  ["is of RSA", generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey.export(pkcs8)],
  [
    "is of another curve",
    generateKeyPairSync("ec", { namedCurve: "secp256k1" }).privateKey.export(pkcs8),
  ],
])("a gateway does not start with a key for cards that %s", (_, content) => {
  expect(() => open(content)).toThrow("REEVE_A2A_CARD_KEY_FILE");
});

test("a key for cards is opened", () => {
  expect(() => open(ed25519.privateKey.export(pkcs8))).not.toThrow();
});

// Requirement: RES-3
test("cards are signed only with an address that no client chooses", () => {
  const parsed = gatewayConfig.safeParse({ REEVE_A2A_CARD_KEY_FILE: "card.pem" });
  expect(parsed.error?.issues).toMatchObject([
    { path: ["REEVE_A2A_CARD_KEY_FILE"], message: expect.stringMatching("needs REEVE_PUBLIC_URL") },
  ]);
});
