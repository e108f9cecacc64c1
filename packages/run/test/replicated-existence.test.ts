import { create } from "@bufbuild/protobuf";
import { RunEventSchema } from "@reeve/contracts/run";
import { confirmAbsence } from "@reeve/jetstream/log/confirm-absence";
import { openRunLog } from "@reeve/jetstream/log/open";
import { emptyTail } from "@reeve/jetstream/log/port";
import { provisionStreams } from "@reeve/jetstream/streams/provision-streams";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { Routes } from "../../../test/cluster/support/routes.ts";
import { NatsCluster } from "../../../test/support/nats-cluster.ts";
import { whyNoReplicas } from "../../../test/support/nats-program.ts";
import { answerExistence } from "../src/existence/answer-existence.ts";
import { askedExistence } from "../src/existence/asked-existence.ts";
import { confirmedEnds } from "../src/existence/confirmed-ends.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
const reason = whyNoReplicas();

// Requirement: DUR-4
test.skipIf(reason !== "")(
  `a runtime at a leader that is cut off never finds that a run does not exist, also if a gateway is there${reason}`,
  async () => {
    await using resources = new AsyncDisposableStack();
    const routes = resources.use(new Routes());
    const cluster = resources.use(
      await NatsCluster.start({ routeVia: (from, to) => routes.via(from, to) }),
    );
    const options = { pools: ["default"], ackWaitMs: 1_000, replicas: 3 };
    await provisionStreams(await cluster.connect(), options, never);
    await cluster.whole("RUNS");
    const leader = await cluster.leaderOf("RUNS");
    const other = cluster.servers.find(({ name }) => name !== leader)?.name ?? "";
    const gateway = await cluster.connect(leader);
    const confirmed = confirmAbsence(await openRunLog(gateway, { maxRetryMs: 500 }));
    resources.use(answerExistence(gateway, confirmed, log, never));
    await gateway.connection.flush();
    const runtime = await cluster.connect(leader);
    const raw = await openRunLog(runtime, { maxRetryMs: 500 });
    const ends = confirmedEnds(raw, askedExistence(runtime, { maxRetryMs: 0 }));
    const writer = await openRunLog(await cluster.connect(other), { maxRetryMs: 60_000 });
    const key = { tenant: "acme", run: "run_1" };
    const absent = { ...key, run: "run_2" };
    expect((await ends.last(absent, never)).tail).toEqual(emptyTail);

    routes.isolate(leader);
    await writer.append(key, emptyTail, [create(RunEventSchema, { sequence: 1 })], never);
    await expect(ends.last(key, never)).rejects.toMatchObject({ kind: "unavailable" });

    routes.heal(leader);
    await cluster.whole("RUNS");
    const found = () => ends.last(key, never).then(({ tail }) => tail.sequence);
    await expect.poll(() => found().catch(() => undefined), { timeout: 60_000 }).toBe(1);
  },
);
