import type { MessageInitShape } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import type { RunEvent } from "@reeve/contracts/run";
import type { Asked, Played } from "../../support/playing-server.ts";

/** One thing that runs do, the same on every backend. */
export interface Scenario {
  readonly name: string;
  readonly spec?: MessageInitShape<typeof AgentSpecSchema>;
  /** What the models answer, to what the same run has asked `before` times already. */
  play(asked: Asked, before: number): Played;
  /** What people do when they see an event, once for each event. */
  act?(event: RunEvent, people: People): Promise<void> | undefined;
}

/** What people can do with a run. */
export interface People {
  /** Decides the approval that the event asks for. */
  decide(event: RunEvent, approved: boolean): Promise<void>;
  cancel(): Promise<void>;
  send(text: string): Promise<void>;
}

/** Something that carries out runs. */
export interface Backend extends AsyncDisposable {
  /** The events that a client sees, from the first to the last. */
  run(scenario: Scenario): Promise<readonly RunEvent[]>;
}

/** The tools that every backend has; those of a sandbox are not among them. */
export const commonTools = fromJson(ListValueSchema, [
  "*todo*",
  "memory_*",
  "run_*",
  "mcp__srv__*",
]);

/** The models of one run of a scenario. */
export function playing({ play }: Scenario): (asked: Asked) => Played {
  const times = new Map<string, number>();
  return (asked) => {
    const name = JSON.stringify(asked);
    const before = times.get(name) ?? 0;
    times.set(name, before + 1);
    return play(asked, before);
  };
}

/** What models answer that nobody plays. */
export function silent(): Played {
  return {};
}
