import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import type { WatchRunResponseSchema } from "@reeve/contracts/run";
import { RunService, RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import type { BackOff } from "./back-off.ts";
import { delayAfter, patient, persistently } from "./back-off.ts";
import { followRun } from "./follow-run.ts";

type Response = MessageInitShape<typeof WatchRunResponseSchema>;
type WatchRun = ServiceImpl<typeof RunService>["watchRun"];

const signal = new AbortController().signal;
const atOnce: BackOff = { ...patient, attempts: 3, sleep: () => Promise.resolve() };

const text = (sequence: number) => ({ sequence, event: { case: "text", value: {} } }) as const;
const end = (sequence: number) =>
  ({ sequence, event: { case: "status", value: { status: RunStatus.COMPLETED } } }) as const;

/** What a client sees of a server that plays one list of responses per connection, and then breaks it. */
async function followed(...connections: readonly (readonly Response[] | ConnectError)[]) {
  const asked: number[] = [];
  const watchRun: WatchRun = async function* ({ afterSequence }) {
    const played = connections[asked.length];
    asked.push(afterSequence);
    if (played instanceof ConnectError) throw played;
    yield* played ?? [];
    throw new ConnectError("connection lost", Code.Unavailable);
  };
  const transport = createRouterTransport((router) =>
    router.rpc(RunService.method.watchRun, watchRun),
  );
  const runs = createClient(RunService, transport);
  const seen: (number | string)[] = [];
  const options = { runId: "run_1", after: 0, records: true, backOff: atOnce };
  let error: unknown;
  try {
    for await (const item of followRun(runs, options, signal)) {
      switch (item.kind) {
        case "event":
          seen.push(item.event.sequence);
          break;
        case "lost":
          seen.push(`lost after ${item.after}`);
          break;
        case "ended":
          seen.push(`ended as ${item.status}`);
      }
    }
  } catch (caught) {
    error = caught;
  }
  return { seen, asked, error };
}

test("sees every event once over lost connections", async () => {
  const { seen, asked, error } = await followed(
    [{ events: [text(1), text(2)], throughSequence: 2 }],
    [{ events: [text(2), text(3)], throughSequence: 3 }],
    [{ events: [end(4)], throughSequence: 4 }],
  );
  expect(seen).toEqual([1, 2, "lost after 2", 3, "lost after 3", 4]);
  expect(asked).toEqual([0, 2, 3]);
  expect(error).toBeUndefined();
});

test("goes on from where nothing is missing, even if nothing was shown", async () => {
  const { asked } = await followed([{ throughSequence: 7 }], [{ events: [end(8)] }]);
  expect(asked).toEqual([0, 7]);
});

test("ends at once with a run whose last event was seen before", async () => {
  const nothing = [{ throughSequence: 9, endStatus: RunStatus.CANCELLED }];
  const { seen, asked, error } = await followed(nothing);
  expect(seen).toEqual([`ended as ${RunStatus.CANCELLED}`]);
  expect(asked).toHaveLength(1);
  expect(error).toBeUndefined();
});

test("gives up after as many failures in a row as it bears", async () => {
  const { asked, error } = await followed();
  expect(asked).toHaveLength(3);
  expect(error).toMatchObject({ kind: "unavailable" });
});

test("counts failures anew after a message", async () => {
  const heartbeat = [{ throughSequence: 0 }];
  const { asked, error } = await followed(heartbeat, heartbeat, heartbeat, [{ events: [end(1)] }]);
  expect(asked).toHaveLength(4);
  expect(error).toBeUndefined();
});

test("takes a refusal for an answer", async () => {
  const { asked, error } = await followed(new ConnectError("no such run", Code.NotFound));
  expect(asked).toHaveLength(1);
  expect(error).toMatchObject({ kind: "not_found" });
});

test("waits twice as long after each failure, up to a limit", () => {
  expect([1, 2, 3, 20].map((failures) => delayAfter(failures, patient))).toEqual([
    100, 200, 400, 5_000,
  ]);
});

test("repeats a request only while the server cannot be reached", async () => {
  const failures = [Code.Unavailable, Code.Unavailable, Code.InvalidArgument];
  const request = () => Promise.reject(new ConnectError("no", failures.shift()));
  await expect(persistently(request, { ...atOnce, attempts: 9 }, signal)).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
  expect(failures).toEqual([]);
});
