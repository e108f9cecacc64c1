import { AgentSchema } from "@reeve/contracts/agent";
import type { Agent } from "@reeve/contracts/agent";
import { afterAll, beforeAll, describe } from "vitest";
import { whyNoReplicas } from "../../../test/support/nats-program.ts";
import { openAuditTrail } from "../src/audit/nats.ts";
import { openRunFeed } from "../src/feed/nats.ts";
import { openPositionedRunFeed } from "../src/feed/positioned/nats.ts";
import { openRunLog } from "../src/log/open.ts";
import type { ArtifactStore } from "../src/objects/artifact-store.ts";
import { openArtifactStore } from "../src/objects/nats-artifact-store.ts";
import { openObjects } from "../src/objects/nats.ts";
import type { Objects } from "../src/objects/port.ts";
import { openRunCatalog } from "../src/projection/nats-catalog.ts";
import { openDispatchQueue } from "../src/queue/lanes/dispatch-queue.ts";
import { openTable } from "../src/table/nats.ts";
import type { Table } from "../src/table/port.ts";
import { artifactContract, maxBytes } from "./support/artifact-contract.ts";
import { auditContract } from "./support/audit-contract.ts";
import { catalogContract } from "./support/catalog-contract.ts";
import { externalAppendContract } from "./support/external-append-contract.ts";
import { runLogKind } from "./support/facts.ts";
import { feedContract } from "./support/feed-contract.ts";
import { listContract } from "./support/list-contract.ts";
import { logContract } from "./support/log-contract.ts";
import { objectsContract } from "./support/objects-contract.ts";
import { queueContract } from "./support/queue-contract.ts";
import type { ReplicatedStreams } from "./support/replicated-streams.ts";
import { startReplicatedStreams } from "./support/replicated-streams.ts";
import { tableContract } from "./support/table-contract.ts";

const reason = whyNoReplicas();
const ackWaitMs = 800;

describe.skipIf(reason !== "")(`on three servers${reason}`, () => {
  let streams: ReplicatedStreams;
  let runs: readonly [
    Awaited<ReturnType<typeof openRunLog>>,
    Awaited<ReturnType<typeof openRunLog>>,
  ];
  let table: Table<Agent>;
  let artifacts: ArtifactStore;
  let objects: Objects;

  beforeAll(async () => {
    streams = await startReplicatedStreams();
    const [first, second, third] = streams.connections;
    runs = await Promise.all([openRunLog(first), openRunLog(second)]);
    table = await openTable(third, AgentSchema);
    artifacts = await openArtifactStore(second, { maxBytes, maxStaleMs: 3_000 });
    objects = await openObjects(third, { bucket: "test", maxBytes });
  });
  afterAll(() => streams[Symbol.asyncDispose]());

  logContract("of a run, replicated", runLogKind, () => runs, 600);
  externalAppendContract("on three servers", () => runs);
  tableContract("replicated", () => table);
  listContract("replicated", () => table);
  artifactContract("replicated", () => artifacts);
  objectsContract("replicated", () => objects);

  queueContract("replicated", ackWaitMs / 5, async () => {
    await streams.replace("DISPATCH");
    const [first, second] = streams.connections;
    return [
      await openDispatchQueue(first, { ackWaitMs }),
      await openDispatchQueue(second, { ackWaitMs }),
    ];
  });

  catalogContract("replicated", async () => {
    await streams.replace("RUNS");
    const [first, second] = streams.connections;
    return { log: await openRunLog(first), catalog: await openRunCatalog(second) };
  });

  describe("an audit trail", () => {
    auditContract(async () => {
      await streams.replace("AUDIT");
      return await openAuditTrail(streams.connections[0]);
    });
  });

  feedContract("replicated", async () => {
    await streams.replace("RUNS");
    const [first, second] = streams.connections;
    return { log: await openRunLog(first), feed: await openRunFeed(second, { ackWaitMs: 300 }) };
  });

  feedContract("with a stored position, replicated", async () => {
    await streams.replace("RUNS");
    const [first, second] = streams.connections;
    const log = await openRunLog(first);
    return { log, feed: await openPositionedRunFeed(second, { ackWaitMs: 300 }) };
  });
});
