import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { approvalsConfig } from "@reeve/approvals/config";
import { startApprovals } from "@reeve/approvals/serve";
import { AgentService } from "@reeve/contracts/agent";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import { ArtifactService } from "@reeve/contracts/artifact";
import { MemoryService } from "@reeve/contracts/memory";
import { RunEventSchema, RunService } from "@reeve/contracts/run";
import { gatewayConfig } from "@reeve/gateway/config";
import { startGateway } from "@reeve/gateway/serve";
import { openRunLog } from "@reeve/jetstream/log/open";
import { reserveState } from "@reeve/jetstream/reserve/reserve-state";
import { watchReserve } from "@reeve/jetstream/reserve/watch-reserve";
import { openJetStreamManager } from "@reeve/jetstream/streams/ensure-stream";
import { Background } from "@reeve/platform/async/background";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { runtimeConfig } from "@reeve/runtime/config";
import { startRuntime } from "@reeve/runtime/serve";
import { vi } from "vitest";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const internal = { REEVE_INTERNAL_TOKEN: "internal-token-of-a-test" };

/** Streams 480 kB in 24 seconds: no run ends before a slow machine has filled the store. */
const talk = { name: "talk", paceMs: 400, word: "x".repeat(8_000), words: 60 };
export const wholeTalk = Array.from({ length: talk.words }, () => talk.word).join(" ");

interface OpenStore {
  readonly url: string;
  readonly api: string;
  readonly nats: Nats;
  readonly reserveBytes: number;
}

/** Services over a store that can be filled, and clients for them. */
export class FullStore implements AsyncDisposable {
  readonly #url: string;
  readonly #resources: AsyncDisposableStack;
  readonly #nats: Nats;
  readonly reserveBytes: number;
  readonly runs;
  readonly agents;
  readonly approvals;
  readonly artifacts;
  readonly memories;

  private constructor(
    { url, api, nats, reserveBytes }: OpenStore,
    resources: AsyncDisposableStack,
  ) {
    this.#url = url;
    this.#nats = nats;
    this.reserveBytes = reserveBytes;
    this.#resources = resources;
    const transport = createGrpcTransport({
      baseUrl: api,
      interceptors: [
        (next) => (request) => {
          request.header.set("authorization", "Bearer token-of-ann");
          return next(request);
        },
      ],
    });
    this.runs = createClient(RunService, transport);
    this.agents = createClient(AgentService, transport);
    this.approvals = createClient(ApprovalService, transport);
    this.artifacts = createClient(ArtifactService, transport);
    this.memories = createClient(MemoryService, transport);
  }

  /** Starts approvals and a gateway with a reserve on the store at `url`, which has the agents `talker` and `spare`. No worker takes runs yet. */
  static async open(url: string, reserveBytes: number): Promise<FullStore> {
    await using starting = new AsyncDisposableStack();
    const connect = async (name: string) =>
      starting.use(await connectNats(url, { name, log }, never));
    const approvals = starting.use(
      await startApprovals(
        approvalsConfig.parse({ ...internal, REEVE_APPROVALS_LISTEN: "127.0.0.1:0" }),
        { nats: await connect("approvals"), log },
        never,
      ),
    );
    const gateway = starting.use(
      await startGateway(
        gatewayConfig.parse({
          ...internal,
          REEVE_LISTEN: "127.0.0.1:0",
          REEVE_TOKENS: "token-of-ann=acme/ann",
          REEVE_APPROVALS_URL: approvals.url,
          REEVE_STORE_RESERVE_BYTES: String(reserveBytes),
        }),
        { nats: await connect("gateway"), log },
        never,
      ),
    );
    const nats = await connect("test");
    await (await startWorker(url))[Symbol.asyncDispose]();
    const watching = starting.use(new Background(log, never));
    watching.run((signal) => watchReserve(nats, { log }, signal));
    const store = new FullStore({ url, api: gateway.url, nats, reserveBytes }, starting.move());
    for (const id of ["talker", "spare"]) {
      await store.agents.createAgent({ spec: { id, name: id, model: "scripted:talk" } });
    }
    return store;
  }

  /** Starts a worker, which drives the runs from now on. */
  async work(): Promise<void> {
    this.#resources.use(await startWorker(this.#url));
  }

  async start(input: string): Promise<string> {
    const { run } = await this.runs.startRun({ agentId: "talker", input });
    return run?.runId ?? "";
  }

  /** Starts a run that waits for an approval. */
  async waiting(input: string): Promise<{ readonly runId: string; readonly approvalId: string }> {
    const runId = await this.start(input);
    const key = { tenant: "acme", run: runId };
    const approvalId = `${runId}-2-0`;
    const approval = { approvalId, runId, state: ApprovalState.PENDING };
    const facts: readonly ExternalFact[] = [
      { case: "approval", value: { approval } },
      { case: "runParked", value: { waitingFor: [approvalId] } },
    ];
    const runLog = await openRunLog(this.#nats);
    const { tail } = await runLog.read(key, emptyTail, never);
    const events = facts.map((event, index) =>
      create(RunEventSchema, { runId, sequence: tail.sequence + 1 + index, event }),
    );
    await runLog.append(key, tail, events, never);
    return { runId, approvalId };
  }

  /** How many chunks the reserve has. */
  async reserved(): Promise<number> {
    return (await this.#streams()).info("RESERVE").then(
      ({ state }) => state.messages,
      () => 0,
    );
  }

  /** How many bytes the logs of all runs have. */
  async logBytes(): Promise<number> {
    return (await (await this.#streams()).info("RUNS")).state.bytes;
  }

  /** How many bytes of text a run has in its log. */
  async textBytes(run: string): Promise<number> {
    const runLog = await openRunLog(this.#nats);
    const { events } = await runLog.read({ tenant: "acme", run }, emptyTail, never);
    const sizes = events.map(({ event }) => (event.case === "text" ? event.value.text.length : 0));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Fills the store with something else, which leaves the reserve alone. Returns what removes it again. */
  async fill(): Promise<() => Promise<void>> {
    const streams = await this.#streams();
    const { config } = await streams.info("RUNS");
    await streams.add({ name: "OTHER", subjects: ["other"], num_replicas: config.num_replicas });
    const { connection } = this.#nats;
    await vi.waitFor(() => {
      if (reserveState(connection).isSpent) throw new Error("the reserve is in use");
    }, 30_000);
    for (const bytes of [256 * 1024, 16 * 1024, 256]) {
      for (let isFull = false; !isFull && !reserveState(connection).isSpent;) {
        const reply = await connection.request("other", new Uint8Array(bytes));
        isFull = reply.json<{ readonly error?: unknown }>().error !== undefined;
      }
    }
    return async () => void (await streams.purge("OTHER"));
  }

  async #streams() {
    return (await openJetStreamManager(this.#nats.connection)).streams;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}

/** Starts a runtime whose model answers from a script. */
async function startWorker(url: string): Promise<AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const scripts = mkdtempSync(join(tmpdir(), "reeve-talk-"));
  starting.defer(() => rmSync(scripts, { recursive: true }));
  const script = `name: ${talk.name}\npace_ms: ${talk.paceMs}\nturns:\n  - text: ${wholeTalk}\n`;
  writeFileSync(join(scripts, "talk.yaml"), script);
  const nats = starting.use(await connectNats(url, { name: "runtime", log }, never));
  const settings = { REEVE_SCRIPTS: scripts, REEVE_DRAIN_MS: "0" };
  starting.use(await startRuntime(runtimeConfig.parse(settings), { nats, log }, never));
  return starting.move();
}

/** Resolves when the reserve is whole. */
export async function wholeReserve(store: FullStore): Promise<void> {
  await vi.waitFor(
    async () => {
      const chunks = await store.reserved();
      if (chunks * 128 * 1024 !== store.reserveBytes)
        throw new Error(`the reserve has ${chunks} chunks`);
    },
    { timeout: 60_000, interval: 200 },
  );
}
