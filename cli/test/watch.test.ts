import type { ConnectRouter } from "@connectrpc/connect";
import { ApprovalService } from "@reeve/contracts/approval";
import { RunService, RunStatus } from "@reeve/contracts/run";
import { afterEach, expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";
import { serveRoutes, shortRun, smallServer } from "./support/small-server.ts";
import { startReeve } from "./support/reeve-process.ts";

let end = new AbortController();

afterEach(() => {
  end.abort();
  end = new AbortController();
});

/** Resolves when the client disconnects or the server stops. */
async function untilGone(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
}

test("shows a run until it ends, and exits with its result", async () => {
  await using server = await smallServer(
    async function* () {
      yield { events: [...shortRun(2)], endStatus: RunStatus.COMPLETED };
    },
    0,
    end.signal,
  );
  const reeve = startReeve(["--url", server.url, "run", "writer", "hello", "--watch"]);
  expect(await reeve.code).toBe(0);
  expect(reeve.stdout()).toMatch(/^run run_1 · agent writer · scripted answers "x"/);
  expect(reeve.stdout()).toContain("    word1\n    word2\n✓ completed");
  // No warning of Node about experimental features.
  expect(reeve.stderr()).toBe("");
});

test("prints one event per line for programs", async () => {
  await using server = await smallServer(
    async function* () {
      yield { events: [...shortRun(1)], endStatus: RunStatus.COMPLETED };
    },
    0,
    end.signal,
  );
  const reeve = startReeve(["--url", server.url, "watch", "run_1", "--json"]);
  expect(await reeve.code).toBe(0);
  const events = reeve
    .stdout()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly sequence: number });
  expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
  expect(events.at(-1)).toMatchObject({ status: { status: "RUN_STATUS_COMPLETED" } });
});

test("continues after the last event when the server is back", async () => {
  const events = shortRun(4);
  const asked: number[] = [];
  const play = async function* (from: number, to: number, signal: AbortSignal) {
    const isWhole = to === events.length;
    const endStatus = isWhole ? RunStatus.COMPLETED : RunStatus.UNSPECIFIED;
    yield { events: events.slice(from, to), throughSequence: to, endStatus };
    if (!isWhole) await untilGone(signal);
  };
  const first = await smallServer((_, { signal }) => play(0, 4, signal), 0, end.signal);
  const reeve = startReeve(["--url", first.url, "watch", "run_1"]);
  await reeve.until("word2");
  await first[Symbol.asyncDispose]();
  await reeve.until("connection lost");
  await using _ = await smallServer(
    ({ afterSequence }, { signal }) => {
      asked.push(afterSequence);
      return play(afterSequence, events.length, signal);
    },
    first.port,
    end.signal,
  );
  expect(await reeve.code).toBe(0);
  expect(asked).toEqual([4]);
  const words = reeve.stdout().match(/word\d/g);
  expect(words).toEqual(["word1", "word2", "word3", "word4"]);
});

test("shows nothing more of a run whose last event the user has seen, and exits with its result", async () => {
  const asked: number[] = [];
  await using server = await smallServer(
    async function* ({ afterSequence: throughSequence }) {
      asked.push(throughSequence);
      yield { throughSequence, endStatus: RunStatus.COMPLETED };
    },
    0,
    end.signal,
  );
  const reeve = startReeve(["--url", server.url, "watch", "run_1", "--after", "4"]);
  expect(await reeve.code).toBe(0);
  expect(reeve.stdout()).toBe("");
  expect(reeve.stderr()).toBe("run run_1 has ended: completed\n");
  expect(asked).toEqual([4]);
});

test("the time of a run counts from its start, also for a user who has seen its start", async () => {
  const createdAt = { seconds: 1_700_000_000n };
  const time = { seconds: 1_700_000_077n };
  const status = RunStatus.COMPLETED;
  const last = {
    runId: "run_1",
    sequence: 9,
    event: { case: "status", value: { status } },
  } as const;
  const routes = (router: ConnectRouter) => {
    router.service(RunService, {
      getRun: ({ runId }) => ({ run: { runId, agentId: "writer", createdAt } }),
      watchRun: async function* () {
        yield { events: [{ ...last, time }], endStatus: status };
      },
    });
    router.service(ApprovalService, { listApprovals: () => ({}) });
  };
  await using server = await serveRoutes(routes, 0, end.signal);
  const terminal = new MemoryTerminal();
  const args = ["--url", server.url, "watch", "run_1", "--after", "8"];
  const code = await runCli(args, { terminal, environment: {}, signal: end.signal });
  expect({ code, stderr: terminal.stderr }).toMatchObject({ code: 0 });
  expect(terminal.stdout).toContain("✓ completed in 1 min 17 s");
});

test("prints on Ctrl-C how to continue", async () => {
  await using server = await smallServer(
    async function* (_, { signal }) {
      yield { events: shortRun(4).slice(0, 3) };
      await untilGone(signal);
    },
    0,
    end.signal,
  );
  const reeve = startReeve(["--url", server.url, "watch", "run_1"]);
  await reeve.until("word1");
  reeve.child.kill("SIGINT");
  expect(await reeve.code).toBe(130);
  expect(reeve.stderr()).toMatch(/(?:reeve|@reeve\/cli) --url http:\S+ watch run_1 --after 3\n/);
});

test("exits silently when its reader is gone", async () => {
  await using server = await smallServer(
    async function* (_, { signal }) {
      for (let sequence = 1; !signal.aborted; sequence++) {
        yield { events: [{ sequence, event: { case: "text", value: { text: "on\n" } } }] };
      }
    },
    0,
    end.signal,
  );
  const reeve = startReeve(["--url", server.url, "watch", "run_1", "--json"]);
  await reeve.until('"sequence":2');
  reeve.child.stdout?.destroy();
  expect(await reeve.code).toBe(0);
  expect(reeve.stderr()).toBe("");
});

test("reports in one sentence that there is no server", async () => {
  const reeve = startReeve(["--url", "http://127.0.0.1:1", "runs"]);
  expect(await reeve.code).toBe(4);
  expect(reeve.stderr()).toMatch(
    /^error: no Reeve server at http:\/\/127\.0\.0\.1:1; start one with .*\n$/,
  );
});
