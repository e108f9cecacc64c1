import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { RunStatus } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Deployment } from "../system/support/deployment.ts";
import { isAskedFor } from "../system/support/language-providers.ts";
import { testCertificate } from "./support/certificate.ts";
import type { ClientOutput, Setting } from "./support/client-process.ts";
import { outputOf, perform } from "./support/client-process.ts";
import { startNewerServer } from "./support/newer-server.ts";
import { startStallingServer } from "./support/stalling-server.ts";
import type { Toolchain } from "./support/toolchains.ts";
import {
  prepareGo,
  prepareJava,
  preparePython,
  prepareRust,
  prepareTypescript,
} from "./support/toolchains.ts";
import { UnreliableProxy } from "./support/unreliable-proxy.ts";

const root = join(import.meta.dirname, "../..");
const resources = new AsyncDisposableStack();
const folder = mkdtempSync(join(tmpdir(), "reeve-clients-"));
resources.defer(() => rmSync(folder, { recursive: true, force: true }));
const certificate = testCertificate(folder);

const typescript = resources.use(await prepareTypescript());
// One after another: each build uses all CPUs.
const languages: readonly (readonly [string, Toolchain])[] = [
  ["typescript", typescript],
  ["python", await preparePython()],
  ["go", await prepareGo()],
  ["rust", await prepareRust()],
  ["java", await prepareJava()],
];
const agent = "client";
let deployment: Deployment;

beforeAll(async () => {
  const scripts = join(import.meta.dirname, "support/scripts");
  deployment = resources.use(await Deployment.start({ REEVE_SCRIPTS: scripts }));
  await deployment.agent(agent, { hitlTools: ["add_todo"] });
  await deployment.agent("tools");
  await deployment.agent("plain", { model: `scripted:${agent}` });
  await deployment.agent("csv-report", { model: `scripted:${agent}`, hitlTools: ["add_todo"] });
});

afterAll(() => resources.disposeAsync());

async function startedRun(agentId = agent): Promise<string> {
  const { run } = await deployment.reeve.runs.startRun({ agentId, input: "go" });
  return run?.runId ?? "";
}

/** Returns the sequences that an uninterrupted client sees. */
async function sequencesOf(runId: string): Promise<readonly number[]> {
  const seen: number[] = [];
  for await (const { events } of deployment.reeve.runs.watchRun({ runId })) {
    seen.push(...events.map(({ sequence }) => sequence));
  }
  return seen;
}

async function expectWhole(runId: string, { events, result }: ClientOutput): Promise<void> {
  expect(result).toMatchObject({ approved: expect.any(String), ended: RunStatus.COMPLETED });
  expect(events.length).toBeGreaterThan(20);
  expect(events).toEqual(await sequencesOf(runId));
}

test("the printed command runs the TypeScript quickstart in a clone, also where the Node on the PATH is older", async () => {
  const path = (process.env["PATH"] ?? "").split(delimiter);
  const PATH = path.filter((entry) => !entry.includes("node_modules")).join(delimiter);
  const printed = "npx node sdk/typescript/quickstart.mjs";
  for (const page of ["README.md", "docs/clients.md"]) {
    expect(readFileSync(join(root, page), "utf8")).toContain(printed);
  }
  const command = { command: printed.split(" "), env: { PATH } };
  const output = await outputOf(command, deployment.url, deployment.token);
  expect(output.trim()).toMatch(/\ncompleted$/);
});

describe.concurrent.each(languages)("a client in %s", (language, toolchain) => {
  const why = toolchain.kind === "missing" ? ` (skipped: ${toolchain.reason})` : "";
  const isReady = toolchain.kind === "ready";

  async function client(
    operation: readonly string[],
    setting: Partial<Setting> = {},
    onEvent?: (sequence: number) => void,
  ): Promise<ClientOutput> {
    if (!isReady) throw new Error("the client is not prepared");
    const defaults = { url: deployment.url, token: deployment.token };
    return await perform(toolchain.client.driver, operation, { ...defaults, ...setting }, onEvent);
  }

  // Without this test, a language could be skipped forever without notice.
  test.skipIf(!isAskedFor)("can be built if all languages are enabled", () => {
    expect(why).toBe("");
  });

  test.skipIf(!isReady)(`runs its quickstart${why}`, async () => {
    if (!isReady) return;
    const { url, token } = deployment;
    const output = await outputOf(toolchain.client.quickstart, url, token);
    expect(output).toContain("The call was approved, and now I report the result");
    expect(output.trim()).toMatch(/COMPLETED$/i);
  });

  test.skipIf(!isReady)(`sees each event once over broken connections${why}`, async () => {
    const trouble = { afterBytes: 900, times: 6, kind: "cut" } as const;
    await using proxy = await UnreliableProxy.open(deployment.url, { trouble });
    const runId = await startedRun();
    const said = await client(["watch", runId, "0"], { url: `http://${proxy.address}` });
    expect(proxy.troubles).toBeGreaterThan(2);
    await expectWhole(runId, said);
  });

  test.skipIf(!isReady)(`leaves a silent connection${why}`, async () => {
    const trouble = { afterBytes: 1_500, times: 1, kind: "stall" } as const;
    await using proxy = await UnreliableProxy.open(deployment.url, { trouble });
    const runId = await startedRun();
    // With a timeout shorter than the heartbeat interval, the client would also leave healthy connections and still see all events.
    const said = await client(["watch", runId, "0"], {
      url: `http://${proxy.address}`,
      idleTimeoutMs: 2_500,
    });
    expect(proxy.troubles).toBe(1);
    await expectWhole(runId, said);
  });

  test.skipIf(!isReady)(`continues where another client stopped${why}`, async () => {
    const runId = await startedRun("plain");
    const { events } = await client(["watch", runId, "0"]);
    const after = events[9] ?? 0;
    const later = await client(["watch", runId, String(after)]);
    expect(later.events).toEqual(events.slice(10));
    const through = later.result.through ?? 0;
    const end = await client(["watch", runId, String(through)]);
    expect(end).toEqual({ events: [], result: { ended: RunStatus.COMPLETED, through } });
  });

  test.skipIf(!isReady)(`starts a run once for repeated requests${why}`, async () => {
    const requestId = randomUUID();
    const trouble = { afterBytes: 0, times: 2, kind: "cut" } as const;
    await using proxy = await UnreliableProxy.open(deployment.url, { trouble });
    const url = `http://${proxy.address}`;
    const first = await client(["start", agent, "go", requestId], { url });
    expect(first.result.run).toMatch(/^run_/);
    expect(await client(["start", agent, "go", requestId])).toEqual(first);
    const { result } = await client(["start", agent, "something else", requestId]);
    expect(result.error).toMatchObject({ code: "ALREADY_EXISTS", reason: "REQUEST_ID_REUSED" });
  });

  test.skipIf(!isReady)(`lists pending approvals and decides one${why}`, async () => {
    const runId = await startedRun();
    const { approvals } = deployment.reeve;
    const listed = async () => (await approvals.listApprovals({ runId })).approvals;
    // The list follows the log with a delay.
    await expect.poll(listed, { timeout: 20_000 }).toHaveLength(1);
    const [waiting] = await listed();
    const { result } = await client(["approve", runId]);
    expect(result.approved).toBe(waiting?.approvalId);
    await sequencesOf(runId);
    const { run } = await deployment.reeve.runs.getRun({ runId });
    expect(run?.status).toBe(RunStatus.COMPLETED);
  });

  // Requirement: CHAT-8
  test.skipIf(!isReady)(
    `executes the call of its tool once over broken connections${why}`,
    async () => {
      const inputSchema = { type: "object", properties: { text: { type: "string" } } };
      const tools = [{ name: "echo", description: "Repeats a text.", inputSchema }];
      const { run } = await deployment.reeve.runs.startRun({
        agentId: "tools",
        input: "go",
        clientTools: { clientId: "driver", tools },
      });
      const runId = run?.runId ?? "";
      const trouble = { afterBytes: 500, times: 3, kind: "cut" } as const;
      await using proxy = await UnreliableProxy.open(deployment.url, { trouble });
      const { result } = await client(["tools", runId], { url: `http://${proxy.address}` });
      expect(result).toMatchObject({ served: expect.any(String), left: true, calls: 1 });
      const { run: ended } = await deployment.reeve.runs.getRun({ runId });
      expect(ended?.output).toBe("The client says: echo hello");
    },
  );

  test.skipIf(!isReady)(`cancels a run${why}`, async () => {
    const runId = await startedRun();
    const { result } = await client(["cancel", runId]);
    expect(result.status).toBe(RunStatus.CANCELLED);
  });

  test.skipIf(!isReady)(`stores a file and reads it back${why}`, async () => {
    const path = join(folder, `${randomUUID()}.txt`);
    const content = randomBytes(3_000_000);
    writeFileSync(path, content);
    const { result } = await client(["files", path]);
    const sha256 = createHash("sha256").update(content).digest("hex");
    expect(result).toMatchObject({ size: content.length, sha256 });
  });

  // Only this client's library limits just the time until the head of a response.
  test.skipIf(!isReady || language !== "rust").for(["upload", "download"] as const)(
    `aborts a file transfer when the server stalls in the %s${why}`,
    async (at) => {
      const path = join(folder, `${randomUUID()}.txt`);
      writeFileSync(path, "content");
      await using server = await startStallingServer(at);
      const { result } = await client(["files", path], { url: server.url, transferMs: 1_500 });
      expect(result.error).toMatchObject(lost);
    },
  );

  test.skipIf(!isReady)(`reports a refusal with its reason${why}`, async () => {
    const watch = (setting: Partial<Setting>, runId: string) =>
      client(["watch", runId, "0"], setting).then(({ result }) => result.error);
    expect(await watch({ token: "" }, "run_x")).toMatchObject(unauthenticated);
    expect(await watch({ token: "nobody's" }, "run_x")).toMatchObject(unauthenticated);
    const unknown = { code: "NOT_FOUND", reason: "RUN_NOT_FOUND" };
    expect(await watch({}, "run_x")).toMatchObject(unknown);
    const { result } = await client(["start", "NO AGENT", "go", randomUUID()]);
    expect(result.error).toMatchObject({ ...invalid, fields: ["agent_id"] });
  });

  test.skipIf(!isReady)(`gives up on an address without a server${why}`, async () => {
    const setting = { url: "http://127.0.0.1:1", reconnectTimeoutMs: 1_500, requestMs: 1_500 };
    const watched = await client(["watch", "run_x", "0"], setting);
    expect(watched.result.error).toMatchObject(lost);
    const started = await client(["start", agent, "go", "x"], setting);
    expect(started.result.error).toMatchObject(lost);
  });

  test.skipIf(!isReady)(`gives up on a server that never answers${why}`, async () => {
    const trouble = { afterBytes: -1, times: 1_000, kind: "stall" } as const;
    await using proxy = await UnreliableProxy.open(deployment.url, { trouble });
    const url = `http://${proxy.address}`;
    const setting = { url, reconnectTimeoutMs: 2_500, idleTimeoutMs: 1_000, requestMs: 1_500 };
    const watched = await client(["watch", "run_x", "0"], setting);
    expect(watched.result.error).toMatchObject(lost);
    const started = await client(["start", agent, "go", "x"], setting);
    expect(started.result.error).toMatchObject(lost);
  });

  const noTls = certificate === undefined ? " (skipped: openssl is not installed)" : why;
  test.skipIf(!isReady || certificate === undefined)(
    `connects over TLS only to a server that it trusts${noTls}`,
    async () => {
      if (certificate === undefined) return;
      await using proxy = await UnreliableProxy.open(deployment.url, { tls: certificate });
      const secure = `https://${proxy.address}`;
      const brief = { reconnectTimeoutMs: 1_500, requestMs: 1_500 };
      const runId = await startedRun();
      const said = await client(["watch", runId, "0"], { url: secure, ca: certificate.authority });
      await expectWhole(runId, said);
      const watch = async (setting: Partial<Setting>) =>
        (await client(["watch", runId, "0"], { ...brief, ...setting })).result.error;
      expect(await watch({ url: secure })).toMatchObject(lost);
      expect(await watch({ url: `http://${proxy.address}` })).toMatchObject(lost);
      const mismatched = {
        url: deployment.url.replace("http", "https"),
        ca: certificate.authority,
      };
      expect(await watch(mismatched)).toMatchObject(lost);
    },
  );

  // Requirement: EVT-7
  test.skipIf(!isReady)(`works with a server of newer contracts${why}`, async () => {
    await using server = await startNewerServer();
    const { result } = await client(["start", agent, "go", randomUUID()], { url: server.url });
    expect(result.run).toBe("run_newer");
    const said = await client(["watch", "run_newer", "0"], { url: server.url });
    expect(said).toEqual({
      events: [1, 2, 3, 4],
      result: { ended: RunStatus.COMPLETED, through: 4 },
    });
  });
});

const lost = { code: "UNAVAILABLE", reason: "CONNECTION_LOST" };
const unauthenticated = { code: "UNAUTHENTICATED", reason: "UNAUTHENTICATED" };
const invalid = { code: "INVALID_ARGUMENT", reason: "INVALID_REQUEST" };

test("clients in all languages see each event once while the gateway is killed and restarted", async () => {
  const ready = languages.flatMap(([, toolchain]) =>
    toolchain.kind === "ready" ? [toolchain.client.driver] : [],
  );
  const { url, token } = deployment;
  let seen = 0;
  const allAreWatching = Promise.withResolvers<void>();
  const watching = ready.map(async (driver) => {
    const runId = await startedRun();
    let isSeen = false;
    // No timeout: a busy machine may need long to start a gateway.
    const setting = { url, token, reconnectTimeoutMs: 60_000, requestMs: 60_000 };
    const said = await perform(driver, ["watch", runId, "0"], setting, () => {
      if (isSeen) return;
      isSeen = true;
      if (++seen === ready.length) allAreWatching.resolve();
    });
    return { runId, said };
  });
  await Promise.race([allAreWatching.promise, Promise.all(watching)]);
  await deployment.kill("gateway");
  await deployment.start("gateway");
  for (const { runId, said } of await Promise.all(watching)) await expectWhole(runId, said);
});
