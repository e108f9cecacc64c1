import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { isSigned } from "./verify-signature.ts";
import { issueSecret } from "./webhook-secrets.ts";

const nowMs = Date.parse("2026-11-27T10:00:00Z");
const { secret, text } = issueSecret();
const keys = [secret.key];

/** A request that the library of Standard Webhooks signed. */
function signed({ body = '{"a":1}', atMs = nowMs, by = text, id = "msg_1" } = {}) {
  const signature = new Webhook(by).sign(id, new Date(atMs), body);
  const timestamp = String(Math.floor(atMs / 1_000));
  return { webhookId: id, timestamp, signature, body: Buffer.from(body) };
}

test("a request that a library of Standard Webhooks signed is accepted", () => {
  expect(isSigned(signed(), keys, nowMs)).toBe(true);
  expect(isSigned(signed({ body: "" }), keys, nowMs)).toBe(true);
});

test("one of several signatures, and one of several keys, suffices", () => {
  const other = issueSecret();
  const request = signed();
  const several = { ...request, signature: `v1,AAAA v2,x ${request.signature}` };
  expect(isSigned(several, [other.secret.key, ...keys], nowMs)).toBe(true);
});

test.each([
  ["another body", { ...signed(), body: Buffer.from('{"a":2}') }],
  ["another id", { ...signed(), webhookId: "msg_2" }],
  ["another time", { ...signed(), timestamp: String(nowMs / 1_000 + 1) }],
  ["another secret", signed({ by: issueSecret().text })],
  ["a time that is too old", signed({ atMs: nowMs - 301_000 })],
  ["a time that is to come", signed({ atMs: nowMs + 301_000 })],
  ["no signature", { ...signed(), signature: undefined }],
  ["a shortened signature", { ...signed(), signature: signed().signature.slice(0, 10) }],
  ["an unknown version", { ...signed(), signature: signed().signature.replace("v1", "v1a") }],
  ["no time", { ...signed(), timestamp: undefined }],
  ["a time with more text", { ...signed(), timestamp: `${nowMs / 1_000}x` }],
  ["no id", { ...signed(), webhookId: undefined }],
])("a request with %s is refused", (_, request) => {
  expect(isSigned(request, keys, nowMs)).toBe(false);
});

test("nobody can sign for a trigger without a secret", () => {
  expect(isSigned(signed(), [], nowMs)).toBe(false);
});

test("bytes that decode to the same text have different signatures", () => {
  const request = signed({ body: "\ufffd" });
  expect(isSigned({ ...request, body: Buffer.from([0xff]) }, keys, nowMs)).toBe(false);
});
