import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { text } from "node:stream/consumers";
import { programFile } from "@reeve/platform/test/support/program-file";
import { expect, test } from "vitest";
import { inheritedEnv } from "../support/inherited-env.ts";
import type { ServiceName } from "./support/deployment.ts";

const wrong = { REEVE_NATS_URL: "nats://me:secret@host", REEVE_LOG_LEVEL: "loud" };

/** Returns the output and the exit code of a service that is started with these settings. */
async function startWith(service: ServiceName, settings: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [programFile(service)], {
    env: { ...inheritedEnv, ...settings },
    stdio: ["ignore", "inherit", "pipe"],
  });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  return { lines: said.trim().split("\n"), code: code as number };
}

test.each<readonly [ServiceName, Readonly<Record<string, string>>, readonly string[]]>([
  [
    "gateway",
    { REEVE_LISTEN: ":4680", REEVE_APPROVALS_URL: "there", REEVE_MAX_ARTIFACT_BYTES: "many" },
    [
      "REEVE_NATS_URL",
      "REEVE_LOG_LEVEL",
      "REEVE_APPROVALS_URL",
      "REEVE_MAX_ARTIFACT_BYTES",
      "REEVE_TOKENS",
    ],
  ],
  [
    "runtime",
    { REEVE_RUNTIME_LISTEN: "here", REEVE_DRAIN_MS: "-1" },
    ["REEVE_NATS_URL", "REEVE_LOG_LEVEL", "REEVE_RUNTIME_LISTEN", "REEVE_DRAIN_MS"],
  ],
  [
    "toolhost",
    { REEVE_TOOLHOST_LISTEN: "here", REEVE_POOL: "a b" },
    ["REEVE_NATS_URL", "REEVE_LOG_LEVEL", "REEVE_TOOLHOST_LISTEN", "REEVE_POOL"],
  ],
  [
    "approvals",
    { REEVE_APPROVALS_LISTEN: "127.0.0.1:4681" },
    ["REEVE_NATS_URL", "REEVE_LOG_LEVEL", "REEVE_INTERNAL_TOKEN"],
  ],
])(
  "%s reports all missing and invalid settings together, and starts nothing",
  async (service, settings, named) => {
    const { lines, code } = await startWith(service, { ...wrong, ...settings });
    expect(code).toBe(2);
    expect(lines).toHaveLength(1);
    const { msg } = JSON.parse(lines[0] ?? "") as { readonly msg: string };
    expect([...msg.matchAll(/^ {2}(\w+): /gm)].map(([, name]) => name)).toEqual(named);
    expect(msg).not.toContain("secret");
  },
);

test("a service whose port is in use reports that and exits, without waiting for its store", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  // A TCP listener has an address and a port.
  const { port } = taken.address() as AddressInfo;
  const listen = `127.0.0.1:${port}`;
  const { lines, code } = await startWith("runtime", { REEVE_RUNTIME_LISTEN: listen });
  taken.close();
  expect(code).toBe(1);
  expect(lines).toEqual([expect.stringContaining(`cannot listen on ${listen}`)]);
});
