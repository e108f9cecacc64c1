import { createHmac } from "node:crypto";
import { Role } from "@reeve/contracts/access/role";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { HastyClock, ManualClock } from "@reeve/platform/test/support/manual-clock";
import type { CryptoKey, JSONWebKeySet, JWK } from "jose";
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from "jose";
import { expect, test } from "vitest";
import { jwtCredentials } from "./jwt-credentials.ts";
import { oidcConfig } from "./oidc-config.ts";
import { maxWaitingOfNetwork, ProviderKeys } from "./provider-keys.ts";

const issuer = "https://login.example.com";
const now = Date.parse("2026-01-01T00:00:00Z");
const seconds = now / 1_000;
const config = oidcConfig.parse({
  issuer,
  audience: "reeve",
  tenant: "acme",
  roles: { approvers: ["approver"], platform: ["author", "operator"] },
});
const pair = await generateKeyPair("ES256", { extractable: true });
const stranger = await generateKeyPair("ES256");
const jwk = { ...(await exportJWK(pair.publicKey)), kid: "one", alg: "ES256", use: "sig" };

/** The credentials of a provider, at a time that tests move, and how many errors they log. */
function opened(given = config, published: JWK[] = [jwk]) {
  const clock = new ManualClock(now);
  const log = createLogger("test", "silent");
  const logged = { errors: 0 };
  log.error = () => void logged.errors++;
  const options = {
    issuer,
    read: () => Promise.resolve({ keys: [...published] }),
    clock: new HastyClock(),
    log,
  };
  const keys = new ProviderKeys(options, new AbortController().signal);
  return { clock, logged, credentials: jwtCredentials(given, keys, clock, log) };
}

type Claims = Readonly<Record<string, unknown>>;

const claims: Claims = {
  iss: issuer,
  aud: "reeve",
  sub: "ann",
  groups: ["approvers", "people"],
  exp: seconds + 300,
};

interface Signing {
  readonly typ?: string;
  readonly key?: CryptoKey;
  readonly kid?: string | undefined;
}

async function tokenOf(
  given: Claims,
  { key = pair.privateKey, kid = "one", typ }: Signing = {},
): Promise<string> {
  const header = { alg: "ES256", ...(kid !== "" && { kid }), ...(typ && { typ }) };
  return await new SignJWT({ ...claims, ...given }).setProtectedHeader(header).sign(key);
}

const network = "192.0.2.1";

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** Returns a token with any header, whose signature `sign` makes. */
function unusual(header: object, sign: (input: string) => string): string {
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${sign(input)}`;
}

async function refusalOf(token: string, given = config): Promise<unknown> {
  const { credentials } = opened(given);
  return await credentials.accept(token, network).then(
    () => "accepted",
    (error: unknown) => error,
  );
}

test("a token stands for the tenant, the subject, the roles, and the groups of its claims", async () => {
  const { credentials } = opened();
  const token = await tokenOf({ aud: ["other", "reeve"] }, { typ: "at+JWT" });
  const grant = await credentials.accept(token, network);
  expect(grant?.()).toEqual({
    kind: "oidc",
    tenant: "acme",
    subject: "ann",
    roles: new Set([Role.APPROVER]),
    groups: ["approvers", "people"],
  });
});

test("a token ends when it expires, with the tolerance for clocks that differ", async () => {
  const { clock, credentials } = opened();
  const grant = await credentials.accept(await tokenOf({}), network);
  await clock.advance(329_999);
  expect(grant?.()).toBeDefined();
  await clock.advance(1);
  expect(grant?.()).toBeUndefined();
  await expect(credentials.accept(await tokenOf({}), network)).rejects.toThrow(
    /^the token expired at 2026-01-01T00:05:00\.000Z; get a new one/,
  );
});

test("a token of a clock that is ahead is accepted within the tolerance only", async () => {
  expect(await refusalOf(await tokenOf({ nbf: seconds + 30 }))).toBe("accepted");
  expect(await refusalOf(await tokenOf({ nbf: seconds + 31 }))).toMatchObject({
    kind: "unauthenticated",
    message: expect.stringMatching(/^the token is valid from 2026-01-01T00:00:31/) as string,
  });
});

const publicPem = await exportSPKI(pair.publicKey);

test.each<[string, () => string | Promise<string>, RegExp]>([
  ["has expired", () => tokenOf({ exp: seconds - 31 }), /^the token expired at 2025-12-31/],
  ["never expires", () => tokenOf({ exp: undefined }), /claim `exp` of the token is missing/],
  ["is for another audience", () => tokenOf({ aud: "mail" }), /not for the audience reeve/],
  ["has no audience", () => tokenOf({ aud: undefined }), /claim `aud` of the token is missing/],
  ["is of another issuer", () => tokenOf({ iss: "https://evil.example" }), /not from the issuer/],
  ["is of no issuer", () => tokenOf({ iss: undefined }), /not from the issuer/],
  ["is not signed", () => unusual({ alg: "none" }, () => ""), /an algorithm that is not accepted/],
  [
    "is signed with the public key as a secret",
    () =>
      unusual({ alg: "HS256", kid: "one" }, (input) =>
        createHmac("sha256", publicPem).update(input).digest("base64url"),
      ),
    /an algorithm that is not accepted/,
  ],
  [
    "is signed with another key",
    () => tokenOf({}, { key: stranger.privateKey }),
    /signature .* wrong/,
  ],
  ["names an unknown key", () => tokenOf({}, { kid: "two" }), /publishes no key .*`kid`/],
  ["names no key", () => tokenOf({}, { kid: "" }), /names no key; .*`kid`/],
  ["is for a logout", () => tokenOf({}, { typ: "logout+jwt" }), /not an access token/],
  ["has a number as its type", () => unusual({ alg: "ES256", typ: 1 }, () => "AA"), /`typ`/],
  ["has a number as its key", () => unusual({ alg: "ES256", kid: 1 }, () => "AA"), /`kid`/],
  ["was changed", async () => `${await tokenOf({})}A`, /signature .* wrong|signed JWT/],
  ["is too long", () => tokenOf({ pad: "x".repeat(8_192) }), /at most 8192 are accepted/],
  ["is opaque", () => "an-opaque-token", /nor a signed JWT/],
  ["is malformed", () => "eyJ.eyJ.", /nor a signed JWT/],
  ["has a malformed header", () => "a.b.c", /nor a signed JWT/],
  [
    "must be understood to be used",
    () => unusual({ alg: "ES256", crit: ["x"], x: 1 }, () => "AA"),
    /cannot be checked/,
  ],
])("a token that %s is refused, and the message says why", async (_, token, message) => {
  expect(await refusalOf(await token())).toMatchObject({
    kind: "unauthenticated",
    message: expect.stringMatching(message) as string,
  });
});

test.each<[string, () => string | Promise<string>]>([
  ["EXPIRED", () => tokenOf({ exp: seconds - 31 })],
  ["WRONG_AUDIENCE", () => tokenOf({ aud: "mail" })],
  ["WRONG_ISSUER", () => tokenOf({ iss: "https://evil.example" })],
  ["WRONG_CLAIM", () => tokenOf({ nbf: seconds + 31 })],
  ["BAD_SIGNATURE", () => tokenOf({}, { key: stranger.privateKey })],
  ["UNKNOWN_KEY", () => tokenOf({}, { kid: "two" })],
  // A token of the token file that was revoked.
  ["UNKNOWN", () => "rv_an-opaque-token"],
])("the name of a problem for programs is %s", async (credential, token) => {
  expect(await refusalOf(await token())).toMatchObject({ metadata: { credential } });
});

test("a new key with the id of an old one is used at once, and ends the tokens of the old one", async () => {
  const published = [jwk];
  const { credentials } = opened(config, published);
  const before = await credentials.accept(await tokenOf({}), network);
  const next = await generateKeyPair("ES256", { extractable: true });
  published[0] = { ...jwk, ...(await exportJWK(next.publicKey)) };
  const after = await credentials.accept(await tokenOf({}, { key: next.privateKey }), network);
  expect([before?.(), after?.()]).toEqual([undefined, expect.objectContaining({ subject: "ann" })]);
});

test("a token that may have a new key is not refused as wrong while too many wait for the keys", async () => {
  const next = await generateKeyPair("ES256", { extractable: true });
  const read = Promise.withResolvers<JSONWebKeySet>();
  const clock = new ManualClock(seconds * 1_000);
  const log = createLogger("test", "silent");
  let answer = Promise.resolve<JSONWebKeySet>({ keys: [jwk] });
  const options = { issuer: config.issuer, read: () => answer, clock, log };
  const keys = new ProviderKeys(options, new AbortController().signal);
  const credentials = jwtCredentials(config, keys, clock, log);
  await credentials.accept(await tokenOf({}), network);
  answer = read.promise;
  const waiting = Array.from({ length: maxWaitingOfNetwork }, () => keys.refresh(network));
  const token = await tokenOf({}, { key: next.privateKey });
  await expect(credentials.accept(token, network)).rejects.toMatchObject({ kind: "unavailable" });
  read.resolve({ keys: [{ ...jwk, ...(await exportJWK(next.publicKey)) }] });
  await clock.advance(5_000);
  await Promise.all(waiting);
  expect(await credentials.accept(token, network)).toBeDefined();
});

test("a token whose key cannot be used is refused, and the key is logged once", async () => {
  const short = { kty: "RSA", kid: "short", alg: "RS256", n: "u-7uQQ", e: "AQAB" };
  const malformed = { ...jwk, kid: "malformed", x: "AA" };
  const { credentials, logged } = opened(config, [short, malformed]);
  for (const { kid, alg } of [short, malformed]) {
    const token = unusual({ alg, kid }, () => "AA");
    await expect(credentials.accept(token, network)).rejects.toMatchObject({
      kind: "unauthenticated",
      message: expect.stringMatching(/its key at https:\S+ cannot be used/) as string,
    });
  }
  expect(logged.errors).toBe(1);
});

test.each<[string, Claims, RegExp]>([
  ["no group", { groups: undefined }, /no groups in the claim `groups`/],
  ["groups without a role", { groups: ["people", "x"] }, /no group .* has a role: `people`, `x`/],
  ["a group with the name of a property", { groups: ["__proto__", "constructor"] }, /has no role/],
  ["no subject", { sub: undefined }, /names no subject: the claim `sub` is missing/],
  ["a subject with a slash", { sub: "a/b" }, /names no subject: the claim `sub` is/],
  ["a subject with a line break", { sub: "a\u0085b" }, /names no subject/],
])("a token with %s is denied, and the message says how to fix it", async (_, given, message) => {
  expect(await refusalOf(await tokenOf(given))).toMatchObject({
    kind: "denied",
    message: expect.stringMatching(message) as string,
  });
  expect(await refusalOf(await tokenOf(given))).toMatchObject({
    message: expect.stringContaining("REEVE_OIDC_CONFIG") as string,
  });
});

test("the tenant can be a claim, which must have the name of a tenant", async () => {
  const given = { ...config, tenant: { claim: ["org", "id"] } };
  const { credentials } = opened(given);
  const grant = await credentials.accept(await tokenOf({ org: { id: "globex" } }), network);
  expect(grant?.()).toMatchObject({ tenant: "globex" });
  for (const id of [undefined, "", "a.b", "*", "Globex", ["globex"], 1]) {
    expect(await refusalOf(await tokenOf({ org: { id } }), given)).toMatchObject({
      kind: "denied",
      message: expect.stringMatching(/^the token of ann names no tenant: .*`org\.id`/) as string,
    });
  }
});

test("only the scope of a token is a list that is separated by spaces", async () => {
  const text = { groups: "people platform", scope: "people platform" };
  expect(await refusalOf(await tokenOf(text))).toMatchObject({ kind: "denied" });
  const { credentials } = opened({ ...config, groups_claim: ["scope"] });
  const grant = await credentials.accept(await tokenOf(text), network);
  expect(grant?.()?.roles).toEqual(new Set([Role.AUTHOR, Role.OPERATOR]));
});
