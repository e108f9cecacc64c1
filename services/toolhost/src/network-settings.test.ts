import { readConfig } from "@reeve/platform/config";
import { Failure } from "@reeve/platform/failure";
import { describe, expect, test } from "vitest";
import { toolhostConfig } from "./config.ts";

/** Returns the problems of settings, by name. */
function problemsOf(settings: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(toolhostConfig, settings);
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.violations.map(({ field, description }) => `${field}: ${description}`);
  }
}

describe("the network that an operator permits", () => {
  test("is empty by default", () => {
    const config = readConfig(toolhostConfig, {});
    expect(config.REEVE_NETWORK_ALLOW).toEqual([]);
    expect(config.REEVE_NETWORK_RANGES).toEqual([]);
  });

  test("is a list of hosts and ports, and of ranges", () => {
    const config = readConfig(toolhostConfig, {
      REEVE_NETWORK_ALLOW: " Example.org:443, *.example.org:*,*:8443,",
      REEVE_NETWORK_RANGES: "10.0.0.0/8, fd00::1",
    });
    expect(config.REEVE_NETWORK_ALLOW.map(({ text }) => text)).toEqual([
      "example.org:443",
      "*.example.org:*",
      "*:8443",
    ]);
    expect(config.REEVE_NETWORK_RANGES).toEqual(["10.0.0.0/8", "fd00::1"]);
  });

  test("reports each invalid entry", () => {
    expect(
      problemsOf({
        REEVE_NETWORK_ALLOW: "example.org, https://example.org:443, *:443",
        REEVE_NETWORK_RANGES: "10.0.0.0/33, example.org, 10.0.0.1",
        REEVE_NETWORK_MAX_BYTES: "0",
      }),
    ).toEqual([
      expect.stringMatching(/^REEVE_NETWORK_ALLOW: "example\.org" is not host:port/),
      expect.stringMatching(/^REEVE_NETWORK_ALLOW: "https:/),
      expect.stringMatching(/^REEVE_NETWORK_RANGES: "10\.0\.0\.0\/33" is not an address/),
      expect.stringMatching(/^REEVE_NETWORK_RANGES: "example\.org"/),
      expect.stringMatching(/^REEVE_NETWORK_MAX_BYTES/),
    ]);
  });
});
