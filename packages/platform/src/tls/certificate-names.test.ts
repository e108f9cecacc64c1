import { X509Certificate } from "node:crypto";
import { Authority } from "@reeve/sandbox/test/support/certificates";
import { expect, test } from "vitest";
import { namesOf } from "./certificate-names.ts";

const hourMs = 3_600_000;

test.each([
  [[], []],
  [["spiffe://a.example/b"], ["spiffe://a.example/b"]],
  [
    ["spiffe://a.example/b", "https://c.example/"],
    ["spiffe://a.example/b", "https://c.example/"],
  ],
  // A text that looks like a common name.
  [["CN=builder", "spiffe://a.example/b"], ["spiffe://a.example/b"]],
  // Texts that look like two names, or like the end of one.
  [["https://a.example/, URI:spiffe://b.example/c"], []],
  [['https://a.example/", URI:spiffe://b.example/c'], []],
  [["https://a.example/,b", "spiffe://c.example/"], ["spiffe://c.example/"]],
])("the URIs %j are the names %j, and so is the common name", async (uris, names) => {
  const authority = await Authority.create();
  const { cert } = await authority.certify("ci", hourMs, { uris });
  expect(namesOf(new X509Certificate(cert))).toEqual([...names, "CN=ci"]);
});
