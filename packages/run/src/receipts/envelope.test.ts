import { generateKeyPairSync, sign } from "node:crypto";
import { expect, test } from "vitest";
import { envelopeText, maxEnvelopeBytes, openEnvelope, sealEnvelope } from "./envelope.ts";
import { parseSigningKey, parseVerifyingKeys, publicKeyPem } from "./receipt-keys.ts";

function newKey() {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return parseSigningKey(pem, "the key");
}

const key = newKey();
const payload = new TextEncoder().encode('{"paid":5}');
const text = envelopeText(sealEnvelope(payload, key));

function problemOf(altered: string, keys = [key]): string {
  const opened = openEnvelope(altered, keys);
  return opened.kind === "refused" ? opened.problem : "";
}

test("an envelope is JSON of DSSE, and its signature is over the pre-authentication encoding", () => {
  const {
    payloadType,
    payload: encoded,
    signatures,
  } = JSON.parse(text) as {
    readonly payloadType: string;
    readonly payload: string;
    readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
  };
  expect(Buffer.from(encoded, "base64").toString()).toBe('{"paid":5}');
  // Written out, so that the encoding does not change unnoticed.
  const signed = 'DSSEv1 28 application/vnd.in-toto+json 10 {"paid":5}';
  const sig = sign(undefined, Buffer.from(signed), key.privateKey).toString("base64");
  expect({ payloadType, signatures }).toEqual({
    payloadType: "application/vnd.in-toto+json",
    signatures: [{ keyid: key.keyId, sig }],
  });
  expect(openEnvelope(`${text}\n`, [newKey(), key])).toMatchObject({ kind: "verified" });
});

test("an envelope with any bit of any byte changed is refused", () => {
  const bytes = Buffer.from(`${text}\n`);
  const accepted = [];
  for (const index of bytes.keys()) {
    for (let bit = 0; bit < 8; bit++) {
      const altered = Buffer.from(bytes);
      altered[index] = (altered[index] ?? 0) ^ (1 << bit);
      if (problemOf(altered.toString("latin1")) === "") accepted.push({ index, bit });
    }
    const cut = Buffer.concat([bytes.subarray(0, index), bytes.subarray(index + 1)]);
    if (index < text.length && problemOf(cut.toString()) === "") accepted.push({ index, cut });
  }
  expect(accepted).toEqual([]);
});

test.each([
  ["with another key", text, [newKey()], "not by the given one"],
  ["that is not JSON", "receipt", [key], "is not JSON"],
  ["that is other JSON", "[1]", [key], "is not an envelope"],
  ["with further fields", text.replace("{", '{"a":1,'), [key], "is not an envelope"],
  ["with other spaces", text.replaceAll(",", ", "), [key], "is not written as receipts are"],
  ["of another type", text.replace("vnd.in-toto", "vnd.other"), [key], "has the payload type"],
  ["without a signature", text.replace(/\[.*\]/, "[]"), [key], "is not written"],
  ["that is too large", " ".repeat(3) + "1".repeat(maxEnvelopeBytes + 1), [key], "is larger than"],
])("a receipt %s is refused, and says so", (_, altered, keys, problem) => {
  expect(problemOf(altered, keys)).toContain(problem);
});

test("keys are read from PEM, with an id that follows from the public key; other keys are refused", () => {
  const other = newKey();
  const listed = parseVerifyingKeys(`${publicKeyPem(key)}${publicKeyPem(other)}`, "keys.pem");
  expect(listed.map(({ keyId }) => keyId)).toEqual([key.keyId, other.keyId]);
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = ec.publicKey.export({ type: "spki", format: "pem" }).toString();
  expect(() => parseVerifyingKeys(pem, "keys.pem")).toThrow("keys.pem has a key of type ec");
  expect(() => parseVerifyingKeys("nothing", "keys.pem")).toThrow("has no public key in PEM");
  expect(() => parseSigningKey("nothing", "key.pem")).toThrow("key.pem has no private key");
});
