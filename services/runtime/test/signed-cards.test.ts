import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { AgentCard, canonicalizeAgentCard, generateAgentCardSignature } from "@a2a-js/sdk";
import type { CryptoKey, JWK } from "jose";
import { base64url, exportJWK, FlattenedSign, generateKeyPair } from "jose";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { RemoteClients } from "../src/remote-agents/remote-clients.ts";
import type { Remote } from "../src/remote-agents/remotes-file.ts";
import { cardAt } from "./support/agent-server.ts";
import { remoteAt } from "./support/remote-requests.ts";

const never = new AbortController().signal;
let card: unknown;
let url = "";
let own: JWK;
let other: JWK;
let sign: (keys: CryptoKey, jku?: string) => Promise<AgentCard>;
let key: CryptoKey;

/** Serves a card, and the key with which it may be signed. */
let keyReads = 0;
const server = createServer((request, response) => {
  if (request.url === "/jwks.json") keyReads += 1;
  response.end(JSON.stringify(request.url === "/jwks.json" ? { keys: [own] } : card));
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP listener has an address and a port.
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const [pair, another] = [await generateKeyPair("ES256"), await generateKeyPair("ES256")];
  key = pair.privateKey;
  own = { ...(await exportJWK(pair.publicKey)), kid: "k" };
  other = { ...(await exportJWK(another.publicKey)), kid: "k" };
  sign = async (signing, jku) => {
    const header = { alg: "ES256", kid: "k", typ: "JOSE", ...(jku !== undefined && { jku }) };
    return await generateAgentCardSignature(signing, header)(cardAt(url, true));
  };
});

beforeEach(() => {
  keyReads = 0;
});

afterAll(() => server.close());

/** Reads the card as an agent with this entry does. */
async function read(served: AgentCard, more: Partial<Remote> = {}): Promise<void> {
  card = AgentCard.toJSON(served);
  await using clients = new RemoteClients([remoteAt(url, more)], () => 0);
  await clients.clientFor("acme", url, never);
}

// Requirement: RES-3
test("a card that is signed with a key of its entry is accepted, and every other one refused", async () => {
  const cardKeys = [own];
  await read(await sign(key), { cardKeys });
  await read(await sign(key), { cardKeys: [other, own] });
  const refused = expect.objectContaining({ reason: "refused", retryable: false });
  await expect(read(await sign(key), { cardKeys: [other] })).rejects.toEqual(refused);
  await expect(read(cardAt(url, true), { cardKeys })).rejects.toThrow("has no signature");
  const changed = { ...(await sign(key)), description: "another" };
  await expect(read(changed, { cardKeys })).rejects.toThrow("no valid signature");
});

// Requirement: RES-3
test("a signature may leave out the security schemes; one that has them protects them", async () => {
  const scheme = { scheme: "Bearer", bearerFormat: "", description: "" };
  const httpAuth = { scheme: { $case: "httpAuthSecurityScheme", value: scheme } } as const;
  const plain = { ...cardAt(url, true), securitySchemes: { bearer: httpAuth } };
  const signer = generateAgentCardSignature(key, { alg: "ES256", kid: "k", typ: "JOSE" });
  const cardKeys = [own];
  await read(await signer(plain), { cardKeys });
  const { signatures } = await signer(AgentCard.toJSON(plain) as AgentCard);
  await read({ ...plain, signatures }, { cardKeys });
  const changed = { ...plain, securitySchemes: { other: httpAuth }, signatures };
  await expect(read(changed, { cardKeys })).rejects.toThrow("no valid signature");
});

// Requirement: RES-3
test("without keys of its entry, a signature is checked with those that it names below the entry", async () => {
  const jku = `${url}jwks.json`;
  await read(await sign(key, jku));
  const changed = { ...(await sign(key, jku)), description: "another" };
  await expect(read(changed)).rejects.toThrow("no valid signature");
  const broken = {
    ...cardAt(url, true),
    signatures: [{ protected: "?", signature: "?", header: {} }],
  };
  await read(broken);
  await read(await sign(key, "http://169.254.169.254/jwks.json"));
});

const encoded = (value: object) => base64url.encode(JSON.stringify(value));

// Requirement: RES-3
test("a signature without a key, or with a public key as a shared secret, is not valid", async () => {
  const cardKeys = [own];
  const plain = cardAt(url, true);
  const none = { protected: encoded({ alg: "none", kid: "k" }), signature: "", header: {} };
  const payload = new TextEncoder().encode(canonicalizeAgentCard(plain));
  const secret = new TextEncoder().encode(JSON.stringify(own));
  const shared = await new FlattenedSign(payload)
    .setProtectedHeader({ alg: "HS256", kid: "k" })
    .sign(secret);
  for (const signature of [none, { ...shared, protected: shared.protected ?? "", header: {} }]) {
    const served = { ...plain, signatures: [signature] };
    await expect(read(served, { cardKeys })).rejects.toThrow("no valid signature");
  }
});

// Requirement: RES-3
test("keys that the header without protection names are not used", async () => {
  const { signatures, ...rest } = await sign(key);
  const header = { jku: `${url}jwks.json` };
  await read({ ...rest, description: "x", signatures: signatures.map((s) => ({ ...s, header })) });
  expect(keyReads).toBe(0);
});
