import { Routes } from "../../../test/cluster/support/routes.ts";
import { NatsCluster } from "../../../test/support/nats-cluster.ts";
import { whyNoReplicas } from "../../../test/support/nats-program.ts";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { confirmAbsence } from "../src/log/confirm-absence.ts";
import { openRunLog } from "../src/log/open.ts";
import { emptyTail } from "../src/log/port.ts";
import { provisionStreams } from "../src/streams/provision-streams.ts";
import { appendEvents, freshRun, texts } from "./support/facts.ts";

const never = new AbortController().signal;
const reason = whyNoReplicas();

/** A cluster whose servers can be cut off from each other. */
async function startCluster() {
  await using starting = new AsyncDisposableStack();
  const routes = starting.use(new Routes());
  const cluster = starting.use(
    await NatsCluster.start({ routeVia: (from, to) => routes.via(from, to) }),
  );
  const nats = await cluster.connect();
  await provisionStreams(nats, { pools: ["default"], ackWaitMs: 1_000, replicas: 3 }, never);
  await cluster.whole("RUNS");
  const resources = starting.move();
  return { cluster, routes, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

// Requirement: DUR-4
test.skipIf(reason !== "")(
  `a leader that is cut off from the other servers never says that a run does not exist${reason}`,
  async () => {
    await using bench = await startCluster();
    const { cluster, routes } = bench;
    const leader = await cluster.leaderOf("RUNS");
    const other = cluster.servers.find(({ name }) => name !== leader)?.name ?? "";
    const cutOff = await openRunLog(await cluster.connect(leader), { maxRetryMs: 500 });
    const log = await openRunLog(await cluster.connect(other), { maxRetryMs: 60_000 });
    const readers = confirmAbsence(cutOff);
    const key = freshRun();

    routes.isolate(leader);
    const tail = await appendEvents(log, key, emptyTail, texts(emptyTail, "a"), never);
    const answer = await readers.read(key, emptyTail, never).catch((error: unknown) => error);
    expect(answer).toBeInstanceOf(Failure);
    expect(answer).toMatchObject({ kind: "unavailable" });

    routes.heal(leader);
    await cluster.whole("RUNS");
    const found = () => readers.last(key, never).then((end) => end.tail);
    await expect.poll(() => found().catch(() => undefined), { timeout: 60_000 }).toEqual(tail);
  },
);

test.skipIf(reason !== "")(
  `a confirmation that a log does not exist removes no message${reason}`,
  async () => {
    await using bench = await startCluster();
    const log = await openRunLog(await bench.cluster.connect());
    const keys = [freshRun(), freshRun(), freshRun()];
    for (const key of keys) {
      let tail = emptyTail;
      for (const word of ["a", "b", "c"]) {
        tail = await appendEvents(log, key, tail, texts(tail, word), never);
      }
    }
    const readers = confirmAbsence(log);
    const absent = await Promise.all(
      Array.from({ length: 50 }, () => readers.read(freshRun(), emptyTail, never)),
    );
    expect(absent.every(({ events }) => events.length === 0)).toBe(true);
    for (const key of keys) {
      expect((await log.read(key, emptyTail, never)).batchTails).toHaveLength(3);
    }
  },
);
