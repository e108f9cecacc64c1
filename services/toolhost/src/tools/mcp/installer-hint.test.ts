import { expect, test } from "vitest";
import { installerHint } from "./installer-hint.ts";
import { mcpServerConfig } from "./mcp-config.ts";

test.each([
  ["npx", { command: "npx", args: ["-y", "a-server"] }],
  ["uvx", { command: "/usr/local/bin/uvx" }],
])(
  "a server that %s downloads has the hint that its sandbox has no network",
  (program, settings) => {
    expect(installerHint(mcpServerConfig(settings))).toMatch(
      new RegExp(`^${program} downloads the server, and its sandbox has no network: install `),
    );
  },
);

test.each([
  ["that is installed", { command: "/usr/bin/node" }],
  ["with the network", { command: "npx", network: true }],
  ["without a sandbox", { command: "npx", sandbox: false }],
  ["over HTTP", { url: "https://example.com/mcp" }],
])("a server %s has no hint", (_, settings) => {
  expect(installerHint(mcpServerConfig(settings))).toBeUndefined();
});
