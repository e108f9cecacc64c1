import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { mergeCatalogs } from "@reeve/agent/tools/merge-catalogs";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { openTable } from "@reeve/jetstream/table/nats";
import { test } from "vitest";
import { PoolBench } from "./support/pool-bench.ts";

const patienceMs = 240_000;
const signal = new AbortController().signal;

function openBench(): Promise<PoolBench> {
  return PoolBench.open(AbortSignal.timeout(patienceMs));
}

/** The settings of a host with the MCP server `demo`, and others. */
async function withServer(
  bench: PoolBench,
  others: Readonly<Record<string, object>> = {},
): Promise<Readonly<Record<string, string>>> {
  const path = join(bench.folder, "mcp.json");
  const args = [join(import.meta.dirname, "support/progress-server.ts")];
  const demo = { command: process.execPath, args, sandbox: false };
  await writeFile(path, JSON.stringify({ servers: { demo, ...others } }));
  return { REEVE_MCP_CONFIG: path };
}

/** Returns the tools that readers of the catalogs see, as `pool/tool`, and how often each. */
async function offered(bench: PoolBench): Promise<readonly string[]> {
  const table = await openTable(bench.nats, ToolCatalogSchema);
  const rows = await table.list("", signal);
  return mergeCatalogs(rows.map(({ record }) => record))
    .flatMap(({ pool, tools }) => tools.map(({ name }) => `${pool}/${name}`))
    .toSorted();
}

/** Returns the hosts that have announced a catalog. */
async function announced(bench: PoolBench): Promise<readonly string[]> {
  const table = await openTable(bench.nats, ToolCatalogSchema);
  return (await table.list("default", signal)).map(({ record }) => record.host).toSorted();
}

test.concurrent(
  "a pool has the tools of all its hosts, and keeps those of the last ones",
  async ({ expect }) => {
    await using bench = await openBench();
    const rich = await bench.start(await withServer(bench));
    const poor = await bench.start();
    expect(await announced(bench)).toEqual([rich.host, poor.host].toSorted());
    const all = await offered(bench);
    expect(all).toContain("default/mcp__demo__search");
    expect(all.filter((name) => name === "default/run_command")).toHaveLength(1);
    // A call that the host without the tool takes is executed by the other one.
    const searches = Array.from({ length: 8 }, async (_, index) => {
      const callId = `run_1-3-${index}`;
      const args = { q: `${index}` };
      return await bench.outcome(await bench.ask({ name: "mcp__demo__search", callId, args }));
    });
    for (const { isError, hosts } of await Promise.all(searches)) {
      expect({ isError, hosts }).toEqual({ isError: false, hosts: [rich.host] });
    }
    expect(await bench.end(rich)).toBe(0);
    await expect.poll(() => announced(bench), { timeout: 120_000 }).toEqual([poor.host]);
    expect(await offered(bench)).not.toContain("default/mcp__demo__search");
    const last = await offered(bench);
    expect(await bench.end(poor)).toBe(0);
    expect(await offered(bench)).toEqual(last);
    expect(last).toContain("default/run_command");
  },
  patienceMs,
);

test.concurrent(
  "a server that does not answer delays no call of another tool",
  async ({ expect }) => {
    await using bench = await openBench();
    const silent = { command: "sleep", args: ["600"], sandbox: false };
    const started = bench.start(await withServer(bench, { silent })).then(() => "started");
    const made = async () => {
      const files = await bench.ask({ name: "list_files", args: {}, callId: "run_1-5-0" });
      const search = { name: "mcp__demo__search", args: { q: "x" }, callId: "run_1-5-1" };
      const outcomes = await bench.outcomes([files, await bench.ask(search)]);
      return outcomes.map(({ isError }) => isError);
    };
    // A host has started when each of its servers was tried, at most 15 s for one.
    expect(await Promise.race([started, made()])).toEqual([false, false]);
  },
  patienceMs,
);

test.concurrent(
  "the catalog of a version without hosts is deleted when a host of its pool starts",
  async ({ expect }) => {
    await using bench = await openBench();
    const table = await openTable(bench.nats, ToolCatalogSchema);
    const tools = [{ name: "old", pool: "default" }];
    const old = create(ToolCatalogSchema, { pool: "default", isolation: "none", tools });
    await table.put("default", old, signal);
    expect(await offered(bench)).toEqual(["default/old"]);
    await bench.start();
    await expect.poll(() => offered(bench), { timeout: 60_000 }).not.toContain("default/old");
  },
  patienceMs,
);

test.concurrent(
  "pools do not take each other's calls, and the calls of a pool without hosts wait",
  async ({ expect }) => {
    await using bench = await openBench();
    const host = await bench.start();
    const call = { name: "list_files", args: {} };
    const apart = await bench.ask({ ...call, callId: "run_1-4-0" }, "gpu");
    const beside = await bench.ask({ ...call, callId: "run_1-4-1" });
    expect(await bench.outcome(beside)).toMatchObject({ isError: false, hosts: [host.host] });
    expect(await bench.hasBegun(apart)).toBe(false);
    await expect.poll(() => bench.depthOf("gpu")).toBe(1);
    const gpu = await bench.start({ REEVE_POOL: "gpu", ...(await withServer(bench)) });
    expect(await bench.outcome(apart)).toMatchObject({ isError: false, hosts: [gpu.host] });
    const search = { name: "mcp__demo__search", args: { q: "x" }, callId: "run_1-4-2" };
    expect(await bench.outcome(await bench.ask(search, "gpu"))).toMatchObject({
      isError: false,
      hosts: [gpu.host],
    });
    const missing = await bench.ask({ ...search, callId: "run_1-4-3" });
    await expect.poll(() => bench.redelivered(), { timeout: 60_000 }).toBeGreaterThan(0);
    expect(await bench.hasBegun(missing)).toBe(false);
  },
  patienceMs,
);

test.concurrent(
  "a host exposes its slots and the depth of its queue as metrics",
  async ({ expect }) => {
    await using bench = await openBench();
    const one = { REEVE_TOOLHOST_CONCURRENCY: "1", REEVE_TOOLHOST_LISTEN: "127.0.0.1:0" };
    const host = await bench.start(one);
    const [busy] = await bench.calls("run_m", 3, 5);
    await bench.reaches(busy, "progress");
    const metrics = async () => await (await fetch(`${host.url}/metrics`)).text();
    // A consumer counts what waits for it after the stream has acknowledged the messages.
    await expect.poll(metrics).toContain('reeve_tool_queue_depth{pool="default"} 3');
    const text = await metrics();
    expect(text).toContain('reeve_toolhost_slots{pool="default"} 1');
    expect(text).toContain('reeve_toolhost_busy_slots{pool="default"} 1');
  },
  patienceMs,
);
