import { once } from "node:events";

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningToolhost } from "./support/running-toolhost.ts";
import { runningToolhost } from "./support/running-toolhost.ts";
import { whyNoSandbox } from "./support/sandboxed-workspace.ts";
import { resultOf } from "./support/toolhost.ts";

const signal = AbortSignal.timeout(60_000);
const server = createServer((request, response) => void response.end(`told ${request.url}`));

describe.skipIf(whyNoSandbox !== "")(`a toolhost with a network for agents${whyNoSandbox}`, () => {
  let toolhost: RunningToolhost;
  let port = 0;

  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
    toolhost = await runningToolhost(signal, {
      REEVE_SANDBOX: "bubblewrap",
      REEVE_NETWORK_ALLOW: `localhost:${port}, *.example.org:443`,
      REEVE_NETWORK_RANGES: "127.0.0.0/8, ::1",
    });
  });

  afterAll(async () => {
    await toolhost[Symbol.asyncDispose]();
    server.closeAllConnections();
    server.close();
  });

  const printed = async (callId: string, network: readonly string[]) => {
    const code = `
import os, urllib.request
for name in ("no_proxy", "NO_PROXY"): os.environ.pop(name, None)
try: print(urllib.request.urlopen("http://localhost:${port}/x").read().decode())
except OSError as error: print(error)`;
    const args = { command: ["python3", "-I", "-c", code] };
    const made = await toolhost.made({ callId, name: "run_command", args, network });
    const { content, isError } = resultOf(made);
    return isError ? content : (JSON.parse(content) as { stdout: string }).stdout.trim();
  };

  test("gives an agent what it asks for, by names of this host as well", async () => {
    expect(await printed("run_1-1-0", [`localhost:${port}`])).toBe("told /x");
    expect(toolhost.logged.find(({ msg }) => msg === "sandbox connection")).toMatchObject({
      runId: "run_1",
      callId: "run_1-1-0",
      host: "localhost",
      port,
      outcome: "allowed",
    });
  });

  test("gives nothing to an agent that asks for nothing", async () => {
    expect(await printed("run_1-1-1", [])).toContain("name resolution");
  });

  test("gives an agent only what it asks for, of what is permitted", async () => {
    expect(await printed("run_1-1-2", ["a.example.org:443"])).toBe("HTTP Error 403: Forbidden");
  });

  test("refuses a call of an agent that asks for more, and says what is permitted", async () => {
    const content = await printed("run_1-1-3", ["*.example.org:443", "example.com:443"]);
    expect(content).toMatch(
      /^no network: the agent asks for example\.com:443, beyond what .* localhost:\d+, \*\.example\.org:443; .*REEVE_NETWORK_ALLOW/,
    );
  });
});
