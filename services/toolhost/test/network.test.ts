import { once } from "node:events";

import { mkdir, readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseNetworkEntry } from "@reeve/agent/spec/network-entry";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { Lookups } from "@reeve/sandbox/network/lookups";
import { NetworkedDriver } from "@reeve/sandbox/network/networked-driver";
import { machineIdHash } from "@reeve/sandbox/host/owner";
import type { ExecEvent, SandboxDriver, SandboxSession } from "@reeve/sandbox/port";
import { defaultLimits } from "@reeve/sandbox/port";
import type { RunningToolhost } from "./support/running-toolhost.ts";
import { runningToolhost } from "./support/running-toolhost.ts";
import { skipReason } from "@reeve/sandbox/test/support/bubblewrap-here";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";
import { resultOf } from "./support/toolhost.ts";

const signal = new AbortController().signal;
const server = createServer((request, response) => void response.end(`told ${request.url}`));

describe.skipIf(skipReason !== "")(`a toolhost with a network for agents${skipReason}`, () => {
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

  test("gives an agent the hosts that it requests, even by names of this host", async () => {
    expect(await printed("run_1-1-0", [`localhost:${port}`])).toBe("told /x");
    expect(toolhost.logged.find(({ msg }) => msg === "sandbox connection")).toMatchObject({
      runId: "run_1",
      callId: "run_1-1-0",
      host: "localhost",
      port,
      outcome: "allowed",
    });
  });

  test("gives nothing to an agent that requests nothing", async () => {
    expect(await printed("run_1-1-1", [])).toContain("name resolution");
  });

  test("gives an agent only the permitted hosts that it requests", async () => {
    expect(await printed("run_1-1-2", ["a.example.org:443"])).toBe("HTTP Error 403: Forbidden");
  });

  test("refuses a call of an agent that requests more, and says what is permitted", async () => {
    const content = await printed("run_1-1-3", ["*.example.org:443", "example.com:443"]);
    expect(content).toMatch(
      /^no network: the agent requests example\.com:443, but its operator permits only .*localhost:\d+, \*\.example\.org:443; .*REEVE_NETWORK_ALLOW/,
    );
  });
});

describe("the proxy of a sandbox", () => {
  const entry = parseNetworkEntry("example.org:443", "operator");
  const spec = {
    ...defaultLimits,
    workspaceDir: "/",
    readOnly: true,
    network: ["example.org:443"],
  };

  /** Returns a driver with the given behavior, and the folder of its proxies. */
  function networkedOver(folder: string, open: SandboxDriver["open"]) {
    const driver = { name: "none", probe: refuse, open, list: refuse, destroy: refuse };
    return new NetworkedDriver(driver, {
      policy: { allow: entry === undefined ? [] : [entry], ranges: [], maxBytes: 1 },
      identity: { ...sandboxIdentity(64_017), isDedicated: false },
      folder: () => folder,
      lookups: new Lookups(() => Promise.resolve([])),
      log: createLogger("test", "silent"),
    });
  }

  test("exists as long as the sandbox, however long the path is", async () => {
    await using temporary = await temporaryFolder();
    const folder = join(temporary.path, "long".repeat(40));
    let proxyDir = "";
    const session = await networkedOver(folder, (asked) => {
      proxyDir = asked.proxyDir ?? "";
      return Promise.resolve(idle);
    }).open(spec, signal);
    expect(await readdir(proxyDir)).toEqual(["proxy"]);
    await session[Symbol.asyncDispose]();
    expect(await readdir(folder)).toEqual([]);
  });

  test("is removed when its sandbox does not open", async () => {
    await using folder = await temporaryFolder();
    const broken = networkedOver(folder.path, () => Promise.reject(new Error("no sandbox")));
    await expect(broken.open(spec, signal)).rejects.toThrow("no sandbox");
    expect(await readdir(folder.path)).toEqual([]);
  });

  test("of a dead toolhost is removed, and those of others stay", async () => {
    await using folder = await temporaryFolder();
    // On another host, a process with that id may exist.
    const elsewhere = ["0123456789ab~4194303.1~abc", "4194303.1-abc", "other"];
    const gone = `${machineIdHash()}~4194303.1~abc`;
    for (const name of [gone, ...elsewhere]) await mkdir(join(folder.path, name));
    const broken = networkedOver(folder.path, () => Promise.reject(new Error("no sandbox")));
    await expect(broken.open(spec, signal)).rejects.toThrow("no sandbox");
    expect((await readdir(folder.path)).toSorted()).toEqual(elsewhere);
  });
});

function refuse(): Promise<never> {
  return Promise.reject(new Error("no lookup is expected"));
}

/** Returns a sandbox in which nothing happens. */
const idle: SandboxSession = {
  sessionId: "idle",
  exec: refused,
  settled: () => Promise.resolve(true),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

async function* refused(): AsyncIterable<ExecEvent> {
  yield await refuse();
}
