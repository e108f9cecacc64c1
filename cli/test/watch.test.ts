import { RunStatus } from "@reeve/contracts/run";
import { afterEach, expect, test } from "vitest";
import { shortRun, smallServer } from "./support/small-server.ts";
import { startReeve } from "./support/reeve-process.ts";

let end = new AbortController();

afterEach(() => {
  end.abort();
  end = new AbortController();
});

/** Resolves when the client goes away or the server ends. */
async function untilGone(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
}

test("shows a run until it ends, and ends as the run did", async () => {
  await using server = await smallServer(
    async function* () {
      yield { events: [...shortRun(2)] };
    },
    0,
    end.signal,
  );
  const reeve = startReeve(["--url", server.url, "run", "writer", "hello", "--watch"]);
  expect(await reeve.code).toBe(0);
  expect(reeve.said()).toMatch(/^run run_1 · agent writer · scripted answers "x"/);
  expect(reeve.said()).toContain("    word1\n    word2\n✓ completed");
  // Nothing of Node's own about experiments.
  expect(reeve.noted()).toBe("");
});

test("writes one event a line for programs", async () => {
  await using server = await smallServer(
    async function* () {
      yield { events: [...shortRun(1)] };
    },
    0,
    end.signal,
  );
  const reeve = startReeve(["--url", server.url, "watch", "run_1", "--json"]);
  expect(await reeve.code).toBe(0);
  const events = reeve
    .said()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly sequence: number });
  expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
  expect(events.at(-1)).toMatchObject({ status: { status: "RUN_STATUS_COMPLETED" } });
});

test("goes on from where it was when the server comes back", async () => {
  const events = shortRun(4);
  const asked: number[] = [];
  const play = async function* (from: number, to: number, signal: AbortSignal) {
    yield { events: events.slice(from, to), throughSequence: to };
    if (to < events.length) await untilGone(signal);
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
  const words = reeve.said().match(/word\d/g);
  expect(words).toEqual(["word1", "word2", "word3", "word4"]);
});

test("has nothing to show of a run whose last event was seen, and ends as the run did", async () => {
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
  expect(reeve.said()).toBe("");
  expect(reeve.noted()).toBe("the run ended before: completed\n");
  expect(asked).toEqual([4]);
});

test("says on Ctrl-C how to watch on", async () => {
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
  expect(reeve.noted()).toContain("reeve watch run_1 --after 3");
});

test("ends without a word when its reader goes away", async () => {
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
  expect(reeve.noted()).toBe("");
});

test("says in a sentence that no server answers", async () => {
  const reeve = startReeve(["--url", "http://127.0.0.1:1", "runs"]);
  expect(await reeve.code).toBe(4);
  expect(reeve.noted()).toMatch(
    /^error: no Reeve answers at http:\/\/127\.0\.0\.1:1: start one with .*\n$/,
  );
});
