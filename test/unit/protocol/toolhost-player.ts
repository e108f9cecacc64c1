import type { ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import type { Clock } from "@reeve/platform/async/clock";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { adoptEach } from "@reeve/calls/queue/adopt-calls";
import { forwardedCalls } from "@reeve/calls/queue/forwarded-calls";
import { Slots } from "@reeve/calls/queue/slots";
import { workCalls } from "@reeve/calls/queue/work-calls";
import type { Tool } from "@reeve/calls/ports/tool";
import type { CallPorts } from "@reeve/calls/ports/call-ports";
import type { ExecutionModel } from "./execution-model.ts";
import type { LogModel } from "./log-model.ts";
import type { Breakage } from "./play.ts";
import { never } from "./play.ts";
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
  readonly breakage: Breakage;
}

/** A toolhost that takes calls, and adopts the calls of toolhosts that are gone. */
export function playToolhost(actor: Actor, setup: ToolhostSetup): void {
  const { tool, clock, journal, calls, executions, routing: model, hosts, breakage } = setup;
  const slots = new Slots(4);
  const routing = model?.of(actor);
  model?.join(actor);
  const ports: CallPorts = {
    journal: journal.of(actor),
    isRunOver: () => Promise.resolve(false),
    requests: routing?.requests ?? calls.of(actor),
    executions: executions.of(actor, slots),
    ...(routing && { routing }),
    toolbox: { find: () => tool, list: () => [tool], isComplete: () => true },
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
  const signals = { taking: never(), running: never() };
  void workCalls(calls.of(actor), broken, slots, signals).catch(() => undefined);
  if (broken.routing === undefined || model === undefined) return;
  const adopter = { ports: { ...broken, routing: broken.routing }, slots };
  for (const other of hosts) {
    if (other === actor.name) continue;
    const take = () => model.adopt(actor, other, never());
    adoptEach(forwardedCalls({ take }, 4, never()), adopter, never()).catch(() => undefined);
  }
}
