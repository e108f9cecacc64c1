import type { ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import type { Clock } from "@reeve/platform/async/clock";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { adoptEach } from "@reeve/calls/queue/adopt-calls";
import { forwardedCalls } from "@reeve/calls/queue/forwarded-calls";
import type { LocalCalls } from "@reeve/calls/queue/local-calls";
import { Slots } from "@reeve/calls/queue/slots";
import { workCalls } from "@reeve/calls/queue/work-calls";
import type { Tool } from "@reeve/calls/ports/tool";
import type { CallPorts } from "@reeve/calls/ports/call-ports";
import { EndingProcess } from "./ending-process.ts";
import type { ExecutionModel } from "./execution-model.ts";
import type { LogModel } from "./log-model.ts";
import type { Breakage, Play } from "./play.ts";
import type { QueueModel } from "./queue-model.ts";
import type { RoutingModel } from "./routing-model.ts";
import type { Actor } from "./scheduler.ts";

const log = createLogger("test", "silent");
/** Longer than any simulation. */
const heartbeatMs = 2 ** 31 - 1;

export interface ToolhostSetup {
  readonly tool: Tool;
  readonly clock: Clock;
  readonly journal: LogModel<CallKey, ToolCallFact>;
  readonly calls: QueueModel<ToolCallRequest>;
  readonly executions: ExecutionModel;
  /** Absent: the toolhost knows no other toolhost. */
  readonly routing: RoutingModel | undefined;
  /** The names of all toolhosts that may ever exist. */
  readonly hosts: readonly string[];
  /** The way of calls from a worker in the same process. Default: there is none. */
  readonly local?: LocalCalls | undefined;
  readonly breakage: Breakage;
}

/** A toolhost that takes calls, and adopts the calls of toolhosts that are gone, until it dies or has to end. */
export function playToolhost(actor: Actor, setup: ToolhostSetup): EndingProcess {
  const { tool, clock, journal, calls, executions, routing: model, hosts, local, breakage } = setup;
  const slots = new Slots(4);
  const routing = model?.of(actor);
  model?.join(actor);
  const ports: CallPorts = {
    journal: journal.of(actor),
    isRunOver: () => Promise.resolve(false),
    requests: routing?.requests ?? calls.of(actor),
    executions: executions.of(actor, slots),
    ...(routing && { routing }),
    ...(local && { local }),
    toolbox: { find: () => tool, list: () => [tool] },
    workspaces: { open: () => Promise.reject(new Error("the simulation has no workspaces")) },
    artifacts: new MemoryArtifactStore({ maxBytes: 1_000 }),
    storeTimeoutMs: 1_000,
    host: actor.name,
    heartbeatMs,
    clock,
    // The time at which the simulated runtimes start their calls.
    wallClock: { now: () => 0 },
    log,
  };
  const broken = breakage.toolhost?.(ports) ?? ports;
  return new EndingProcess(actor, async (taking, running) => {
    const work = workCalls(calls.of(actor), broken, slots, { taking, running });
    if (broken.routing === undefined || model === undefined) return await work;
    const adopter = { ports: { ...broken, routing: broken.routing }, slots };
    for (const other of hosts) {
      if (other === actor.name) continue;
      const take = () => model.adopt(actor, other, taking);
      adoptEach(forwardedCalls({ take }, 4, taking), adopter, running).catch(() => undefined);
    }
    return await work;
  });
}

/** Returns the names of the initial toolhosts and of their replacements in each round. */
export function toolhostNames(
  { tool, toolhosts = tool === undefined ? 0 : 1 }: Play,
  rounds: number,
): readonly string[] {
  return [...numbered(toolhosts, "toolhost"), ...numbered(rounds, "toolhost of round")];
}

function numbered(count: number, name: string): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name} ${index + 1}`);
}
