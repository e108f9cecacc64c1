import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, onTestFinished, test, vi } from "vitest";
import type { WatchRunResponseSchema } from "#contracts/run";
import { RunService, RunStatus } from "#contracts/run";
import { Watch } from "./watch.ts";

type Response = MessageInitShape<typeof WatchRunResponseSchema>;
type WatchRun = ServiceImpl<typeof RunService>["watchRun"];

const text = (sequence: number) => ({ sequence, event: { case: "text", value: {} } }) as const;
const end = (sequence: number) => ({
  events: [
    { sequence, event: { case: "status", value: { status: RunStatus.COMPLETED } } } as const,
  ],
  throughSequence: sequence,
  endStatus: RunStatus.COMPLETED,
});

interface Options {
  readonly reconnectTimeoutMs?: number;
  readonly token?: () => string;
  /** How each stream ends. */
  readonly breaks?: Code;
  readonly onConnect?: () => void;
}

/** Watches a server that sends one list of responses per connection, and then breaks the connection. */
async function watched(
  connections: readonly (readonly Response[] | ConnectError)[],
  { reconnectTimeoutMs = 30_000, token, breaks = Code.Unavailable, onConnect }: Options = {},
) {
  const requested: number[] = [];
  const tokens: string[] = [];
  const watchRun: WatchRun = async function* ({ afterSequence, resumeToken }) {
    onConnect?.();
    const responses = connections[requested.length];
    requested.push(afterSequence);
    tokens.push(resumeToken);
    if (responses instanceof ConnectError) throw responses;
    yield* responses ?? [];
    throw new ConnectError("connection lost", breaks);
  };
  const transport = createRouterTransport((router) =>
    router.rpc(RunService.method.watchRun, watchRun),
  );
  const current = { runs: createClient(RunService, transport) };
  const seen: (number | string)[] = [];
  const source = { current, replace: () => undefined };
  const limits = { idleTimeoutMs: 15_000, reconnectTimeoutMs, token };
  const watch = new Watch(source, limits, "run_1", {
    onConnectionLost: () => seen.push(`lost after ${watch.throughSequence}`),
  });
  let error: unknown;
  try {
    for await (const { sequence } of watch) seen.push(sequence);
  } catch (thrown) {
    error = thrown;
  }
  return { seen, requested, tokens, error, endStatus: watch.endStatus };
}

test("yields every event once over lost connections", async () => {
  const { seen, requested, error, endStatus } = await watched([
    [{ events: [text(1), text(2)], throughSequence: 2 }],
    [{ events: [text(2), text(3)], throughSequence: 3 }],
    [end(4)],
  ]);
  expect(seen).toEqual([1, 2, "lost after 2", 3, "lost after 3", 4]);
  expect(requested).toEqual([0, 2, 3]);
  expect(endStatus).toBe(RunStatus.COMPLETED);
  expect(error).toBeUndefined();
});

test("continues after the last sequence that the server has covered, even without events", async () => {
  const { requested } = await watched([[{ throughSequence: 7 }], [end(8)]]);
  expect(requested).toEqual([0, 7]);
});

test("ends at once if the caller has seen the last event of the run", async () => {
  const { seen, requested, error, endStatus } = await watched([
    [{ throughSequence: 9, endStatus: RunStatus.CANCELLED }],
  ]);
  expect(seen).toEqual([]);
  expect(requested).toHaveLength(1);
  expect(endStatus).toBe(RunStatus.CANCELLED);
  expect(error).toBeUndefined();
});

test("gives up if nothing is received before the reconnect timeout", async () => {
  const { seen, requested, error } = await watched([], { reconnectTimeoutMs: 200 });
  expect(requested.length).toBeGreaterThan(1);
  // Reports each reconnection, and throws the last error instead of reporting it.
  expect(seen).toHaveLength(requested.length - 1);
  expect(error).toMatchObject({ reason: "CONNECTION_LOST" });
});

test("starts the reconnect timeout again after each message", async () => {
  let nowMs = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const heartbeat = [{ throughSequence: 0 }];
  const { requested, error } = await watched([heartbeat, heartbeat, heartbeat, [end(1)]], {
    reconnectTimeoutMs: 1_000,
    onConnect: () => void (nowMs += 800),
  });
  expect(requested).toHaveLength(4);
  expect(error).toBeUndefined();
});

test("a watch whose token expires continues with the next token", async () => {
  const first = [{ events: [text(1)], throughSequence: 1 }];
  const expiring = { breaks: Code.Unauthenticated, token: () => "a-token" };
  const { seen, requested, error } = await watched([first, [end(2)]], expiring);
  expect(seen).toEqual([1, 2]);
  expect(requested).toEqual([0, 1]);
  expect(error).toBeUndefined();
  // A token that was never accepted has not expired, and a fixed one stays what it is.
  const refused = new ConnectError("unknown bearer token", Code.Unauthenticated);
  const code = Code.Unauthenticated;
  expect((await watched([first, refused], expiring)).error).toMatchObject({ code });
  expect((await watched([first], { breaks: code })).error).toMatchObject({ code });
});

test("throws an error of the server at once", async () => {
  const { seen, requested, error } = await watched([
    new ConnectError("no such run", Code.NotFound),
  ]);
  expect(seen).toEqual([]);
  expect(requested).toHaveLength(1);
  expect(error).toMatchObject({ code: Code.NotFound });
});

test("resumes with the token of the last message, and throws if the server has lost that history", async () => {
  const { seen, requested, tokens, error } = await watched([
    [{ events: [text(1), text(2)], throughSequence: 2, resumeToken: "two" }],
    [{ throughSequence: 3, resumeToken: "three" }],
    new ConnectError("the store has lost events", Code.DataLoss),
  ]);
  expect(requested).toEqual([0, 2, 3]);
  expect(tokens).toEqual(["", "two", "three"]);
  expect(seen).toEqual([1, 2, "lost after 2", "lost after 3"]);
  expect(error).toMatchObject({ code: Code.DataLoss });
});
