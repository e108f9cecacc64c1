import { describe, expect, test } from "vitest";
import type { NetworkEntry } from "./network-entry.ts";
import { normalizeHost, includesEntry, parseNetworkEntry, permitsHost } from "./network-entry.ts";

function entry(text: string): NetworkEntry {
  const parsed = parseNetworkEntry(text, "operator");
  if (parsed === undefined) throw new Error(`${text} is not an entry`);
  return parsed;
}

describe("an entry of a network policy", () => {
  test.each([
    ["example.org:443", "example.org:443"],
    ["Example.ORG.:443", "example.org:443"],
    ["*.example.org:8443", "*.example.org:8443"],
    ["203.0.113.7:80", "203.0.113.7:80"],
    ["[2001:DB8:0::7]:443", "[2001:db8::7]:443"],
    ["localhost:1", "localhost:1"],
  ])("%s is normalized to %s", (text, plain) => {
    expect(parseNetworkEntry(text, "agent")?.text).toBe(plain);
  });

  test.each([
    "",
    "example.org",
    "example.org:0",
    "example.org:65536",
    "example.org:443:443",
    ":443",
    "*:443",
    "example.org:*",
    "*:*",
    "*.*:443",
    "*.203.0.113.7:443",
    "a.*.example.org:443",
    "*example.org:443",
    "https://example.org:443",
    "example.org:443/path",
    "user@example.org:443",
    "exa mple.org:443",
    "-a.example.org:443",
    "a..example.org:443",
    "127.1:80",
    "2130706433:80",
    "0x7f000001:80",
    "example.0x7f:80",
    "[fe80::1%eth0]:80",
    "2001:db8::7:443",
    `${"a.".repeat(130)}org:443`,
  ])("%j is rejected from an agent", (text) => {
    expect(parseNetworkEntry(text, "agent")).toBeUndefined();
  });

  test.each(["*:443", "*:*", "example.org:*"])("%s is accepted from an operator", (text) => {
    expect(parseNetworkEntry(text, "operator")?.text).toBe(text);
  });

  test("permits its host and port, and no other", () => {
    const entries = [entry("example.org:443"), entry("*.example.net:80"), entry("203.0.113.7:1")];
    expect(permitsHost(entries, "example.org", 443)).toBe(true);
    expect(permitsHost(entries, "example.org", 80)).toBe(false);
    expect(permitsHost(entries, "www.example.org", 443)).toBe(false);
    expect(permitsHost(entries, "notexample.net", 80)).toBe(false);
    expect(permitsHost(entries, "example.net", 80)).toBe(false);
    expect(permitsHost(entries, "a.b.example.net", 80)).toBe(true);
    expect(permitsHost(entries, "203.0.113.7", 1)).toBe(true);
    expect(permitsHost([entry("*:443")], "anything.test", 443)).toBe(true);
  });

  test.each([
    ["example.org:443", "example.org:443", true],
    ["example.org:*", "example.org:443", true],
    ["*:443", "*.example.org:443", true],
    ["*:*", "203.0.113.7:1", true],
    ["*.example.org:443", "a.example.org:443", true],
    ["*.example.org:443", "*.a.example.org:443", true],
    ["*.example.org:443", "*.example.org:443", true],
    ["*.example.org:443", "example.org:443", false],
    ["*.a.example.org:443", "*.example.org:443", false],
    ["*.example.org:443", "*.notexample.org:443", false],
    ["example.org:443", "*.example.org:443", false],
    ["example.org:443", "example.org:80", false],
    ["*:80", "example.org:443", false],
  ])("%s includes %s: %s", (outer, inner, expected) => {
    expect(includesEntry(entry(outer), entry(inner))).toBe(expected);
  });

  test.each([
    ["EXAMPLE.org.", "example.org"],
    ["[::1]", "::1"],
    ["0:0:0:0:0:ffff:7f00:1", "127.0.0.1"],
    ["::ffff:93.184.216.34", "93.184.216.34"],
    ["127.1", undefined],
    ["a b", undefined],
    ["", undefined],
  ])("the host %j is normalized to %s", (written, host) => {
    expect(normalizeHost(written)).toBe(host);
  });
});
