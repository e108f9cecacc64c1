import { expect, test } from "vitest";
import type { Detector } from "./detectors.ts";
import { detect } from "./detectors.ts";
import { disjoint, redactText } from "./text-span.ts";

function pem(kind: string): string {
  return `-----BEGIN ${kind}-----\nMIIE+/=\n\nabc\n-----END ${kind}-----`;
}

test.each<[Detector, string, string]>([
  ["email", "write to ann.b+c@mail.example.org, please", "ann.b+c@mail.example.org"],
  ["credit_card", "card 4111 1111 1111 1111.", "4111 1111 1111 1111"],
  ["iban", "to DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00"],
  ["us_ssn", "ssn 078-05-1120", "078-05-1120"],
  ["ip_address", "at 10.0.0.255:80", "10.0.0.255"],
  ["secret_key", `key=sk-${"a1".repeat(20)};`, `sk-${"a1".repeat(20)}`],
  ["secret_key", "a -----BEGIN RSA PRIVATE KEY-----\nMII", "-----BEGIN RSA PRIVATE KEY-----\nMII"],
  ["secret_key", `a ${pem("RSA PRIVATE KEY")} b`, pem("RSA PRIVATE KEY")],
  ["secret_key", `a ${pem("PGP PRIVATE KEY BLOCK")} b`, pem("PGP PRIVATE KEY BLOCK")],
  ["credit_card", "card-4111-1111-1111-1111-12/26", "4111-1111-1111-1111"],
  ["credit_card", "4111111111111111 12 26, cvc 123", "4111111111111111"],
  ["credit_card", "items 12 4111 1111 1111 1111", "4111 1111 1111 1111"],
  ["credit_card", "amex 3782 822463 10005 0626", "3782 822463 10005"],
  ["iban", "pay DE89 3704 0044 0532 0130 00 EUR 100 NOW", "DE89 3704 0044 0532 0130 00"],
  ["iban", "IBAN-GB29-NWBK-6016-1331-9268-19 BIC X", "GB29-NWBK-6016-1331-9268-19"],
  ["iban", "AB12 NO93 8601 1117 947 OK", "NO93 8601 1117 947"],
])("a text of the kind %s is found: %s", (kind, text, expected) => {
  expect(detect(kind, text).map(({ start, end }) => text.slice(start, end))).toEqual([expected]);
});

test.each<[Detector, string]>([
  ["email", "a@b"],
  ["credit_card", "order 4111 1111 1111 1112"],
  ["credit_card", "0000 0000 0000 0000"],
  ["credit_card", "41111111111111110000000000"],
  ["iban", "DE88 3704 0044 0532 0130 00"],
  ["ip_address", "version 1.2.3.4.5 and 999.1.1.1"],
  ["secret_key", "sk-short"],
])("what only looks like the kind %s is not found: %s", (kind, text) => {
  expect(detect(kind, text)).toEqual([]);
});

test("parts of a text that overlap are replaced once", () => {
  const spans = [
    { start: 4, end: 8, label: "b" },
    { start: 2, end: 6, label: "a" },
    { start: 9, end: 10, label: "c" },
  ];
  expect(redactText("0123456789", disjoint(spans))).toBe("01[redacted: a]8[redacted: c]");
});
