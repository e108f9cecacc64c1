import { once } from "node:events";
import { join } from "node:path";

import type { ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import type { ToolhostPresence } from "@reeve/contracts/toolhost";
import { ToolhostPresenceSchema } from "@reeve/contracts/toolhost";
import type { CallJournal } from "@reeve/jetstream/log/call-journal";
import { emptyTail } from "@reeve/jetstream/log/port";
import { openCallJournal } from "@reeve/jetstream/log/open";
import { openCallRequests } from "./call-requests.ts";
import { toolQueueDepth } from "@reeve/jetstream/queue/queue-depth";
import { openJetStreamManager } from "@reeve/jetstream/streams/ensure-stream";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import type { Table } from "@reeve/jetstream/table/port";
import { openTable } from "@reeve/jetstream/table/nats";
import type { RequestOptions } from "./toolhost.ts";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";
import { factsUntilEnd, keyOf, requestOf, resultOf } from "./toolhost.ts";
import type { ToolhostProcess } from "./toolhost-process.ts";
import { startToolhostProcess } from "./toolhost-process.ts";

const log = createLogger("test", "silent");

type Settings = Readonly<Record<string, string>>;

/** A NATS server, and toolhost processes with one data folder. */
export class PoolBench implements AsyncDisposable {
  readonly nats: Nats;
  readonly journal: CallJournal;
  readonly presence: Table<ToolhostPresence>;
  readonly #natsUrl: string;
  readonly folder: string;
  readonly #resources: AsyncDisposableStack;
  readonly #signal: AbortSignal;

  private constructor(
    { nats, journal, presence }: Pick<PoolBench, "nats" | "journal" | "presence">,
    { natsUrl, folder }: { readonly natsUrl: string; readonly folder: string },
    resources: AsyncDisposableStack,
    signal: AbortSignal,
  ) {
    this.nats = nats;
    this.journal = journal;
    this.presence = presence;
    this.#natsUrl = natsUrl;
    this.folder = folder;
    this.#resources = resources;
    this.#signal = signal;
  }

  static async open(signal: AbortSignal): Promise<PoolBench> {
    await using opening = new AsyncDisposableStack();
    const folder = opening.use(await temporaryFolder()).path;
    const storeDir = join(folder, "nats");
    const { url: natsUrl } = opening.use(await startNatsServer({ storeDir, log }, signal));
    const nats = opening.use(await connectNats(natsUrl, { name: "test", log }, signal));
    const journal = await openCallJournal(nats);
    const presence = await openTable(nats, ToolhostPresenceSchema);
    const parts = { nats, journal, presence };
    return new PoolBench(parts, { natsUrl, folder }, opening.move(), signal);
  }

  /** Starts a toolhost. Resolves when it is ready. */
  async start(settings: Settings = {}): Promise<ToolhostProcess> {
    const where = { natsUrl: this.#natsUrl, folder: this.folder };
    return await startToolhostProcess({ ...where, settings }, this.#resources);
  }

  /** Ends a toolhost gracefully, and returns its exit code. */
  async end(host: ToolhostProcess): Promise<number | null> {
    const ended = once(host, "exit");
    host.kill("SIGTERM");
    await ended;
    return host.exitCode;
  }

  /** Kills a toolhost, as a power failure would. */
  async kill(host: ToolhostProcess): Promise<void> {
    const ended = once(host, "exit");
    host.kill("SIGKILL");
    await ended;
  }

  /** Requests a call as a runtime does. Default pool: `default`. */
  async ask(options: RequestOptions, pool = "default"): Promise<ToolCallRequest> {
    const requests = await openCallRequests(this.nats, pool);
    const request = requestOf(options);
    await requests.publish(request, this.#signal);
    return request;
  }

  /** Returns the facts of a call up to its end. */
  async facts(request: ToolCallRequest): Promise<readonly ToolCallFact[]> {
    return await factsUntilEnd(this.journal, keyOf(request), this.#signal);
  }

  /** Resolves when the call has started, or has reported progress, with the name of its host. */
  async reaches(request: ToolCallRequest, kind: "started" | "progress"): Promise<string> {
    const facts: ToolCallFact[] = [];
    for await (const { events } of this.journal.follow(keyOf(request), 0, this.#signal)) {
      facts.push(...events);
      if (events.some(({ fact }) => fact.case === kind)) break;
    }
    return hostsIn(facts).at(-1) ?? "";
  }

  /** Returns the result of a call, and the hosts that started it. */
  async outcome(request: ToolCallRequest) {
    const facts = await this.facts(request);
    const { content, isError } = resultOf(facts);
    return { content, isError, hosts: hostsIn(facts) };
  }

  /** Returns the results of several calls, in their order. */
  async outcomes(requests: readonly ToolCallRequest[]) {
    return await Promise.all(requests.map((request) => this.outcome(request)));
  }

  /** Requests calls of one run. Each takes the given time, and appends a line to the workspace each time it is executed. */
  async calls(
    runId: string,
    count: number,
    seconds: number,
    first = 0,
  ): Promise<readonly [ToolCallRequest, ...ToolCallRequest[]]> {
    const requests: ToolCallRequest[] = [];
    for (let index = first; index < first + count; index++) {
      const callId = `${runId}-2-${index}`;
      const script = `echo ${callId} >> made; echo ready; sleep ${seconds}`;
      const args = { command: ["sh", "-c", script] };
      requests.push(await this.ask({ name: "run_command", runId, callId, args }));
    }
    const [only, ...others] = requests;
    if (only === undefined) throw new Error("no call was wanted");
    return [only, ...others];
  }

  /** Returns the calls that were executed in the workspace of a run, one line for each time, sorted. */
  async madeIn(runId: string): Promise<readonly string[]> {
    const call = { name: "read_file", runId, callId: `${runId}-9-0`, args: { path: "made" } };
    const { content } = await this.outcome(await this.ask(call));
    return content.trim().split("\n").toSorted();
  }

  /** Returns which of the hosts has the files of a run. */
  async holderOf(runId: string, hosts: readonly ToolhostProcess[]): Promise<ToolhostProcess> {
    const args = { path: "first", content: "1" };
    const call = { name: "write_file", runId, callId: `${runId}-1-0`, args };
    const { hosts: by } = await this.outcome(await this.ask(call));
    const holder = hosts.find(({ host }) => by.includes(host));
    if (holder === undefined) throw new Error(`no toolhost is named ${by.join()}`);
    return holder;
  }

  /** Returns the names of the consumers of call queues. */
  async queues(): Promise<readonly string[]> {
    const manager = await openJetStreamManager(this.nats.connection);
    const found = await Array.fromAsync(manager.consumers.list("TOOL_CALLS"));
    return found.map(({ name }) => name);
  }

  /** Returns how many calls of the pool are held by a host that was not the first one to get them. */
  async redelivered(): Promise<number> {
    const manager = await openJetStreamManager(this.nats.connection);
    const info = await manager.consumers.info("TOOL_CALLS", "default");
    return info.num_redelivered;
  }

  /** Returns how many calls wait for a host. */
  async sentTo(host: string): Promise<number> {
    const manager = await openJetStreamManager(this.nats.connection);
    const info = await manager.consumers.info("TOOL_CALLS", `default=${host}`);
    return info.num_pending;
  }

  /** Returns the queue depth of a pool, as an autoscaler sees it. */
  async depthOf(pool: string): Promise<number> {
    return await toolQueueDepth(this.nats, pool);
  }

  /** Whether a host has started the call. */
  async hasBegun(request: ToolCallRequest): Promise<boolean> {
    const { events } = await this.journal.read(keyOf(request), emptyTail, this.#signal);
    return events.length > 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}

/** Returns the ids of calls, sorted. */
export function idsOf(requests: readonly ToolCallRequest[]): readonly string[] {
  return requests.map(({ call }) => call?.callId ?? "").toSorted();
}

function hostsIn(facts: readonly ToolCallFact[]): readonly string[] {
  return facts.flatMap(({ fact }) => (fact.case === "started" ? [fact.value.host] : []));
}
