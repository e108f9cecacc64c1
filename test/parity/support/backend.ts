import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import type { ErrorReason } from "@reeve/contracts/error";
import type { RunEvent, StartRunRequestSchema } from "@reeve/contracts/run";
import type { Asked, Played } from "../../support/playing-server.ts";

/** A run that every backend must execute with the same visible events. */
export interface Scenario {
  readonly name: string;
  readonly spec?: MessageInitShape<typeof AgentSpecSchema>;
  /** The agents that `delegates` of the spec name. */
  readonly agents?: readonly (Pick<MessageInitShape<typeof AgentSpecSchema>, "workflow"> & {
    readonly id: string;
    readonly instructions?: string;
  })[];
  /** The models' answers. `before` is the number of earlier requests with the same content in this run. */
  play(asked: Asked, before: number): Played;
  /** The reactions of people, called once for each event. */
  act?(event: RunEvent, people: People): Promise<void> | undefined;
}

/** A run that every backend must refuse with the same violations. */
export interface RefusedStart {
  readonly name: string;
  readonly spec?: MessageInitShape<typeof AgentSpecSchema>;
  readonly input?: string;
  readonly created?: Pick<
    MessageInitShape<typeof StartRunRequestSchema>,
    "messages" | "labels" | "files" | "onBusy" | "executor" | "workflowTarget" | "mediaGeneration"
  >;
  readonly reason: ErrorReason;
  /** The path and the reason of each violation. */
  readonly violations: readonly string[];
}

/** A decision of a person. */
export interface Decided {
  readonly approved: boolean;
  readonly editedArguments?: JsonObject;
  readonly answer?: JsonObject;
}

/** The actions of people on a run. */
export interface People {
  /** Decides the approval that the event requests. The decision has the reason "because". */
  decide(event: RunEvent, decision: Decided): Promise<void>;
  cancel(): Promise<void>;
  send(text: string): Promise<void>;
}

/** A backend that executes runs. */
export interface Backend extends AsyncDisposable {
  /** Executes a scenario and returns the events that a client sees, in order. */
  run(scenario: Scenario): Promise<readonly RunEvent[]>;
  /** Tries to start a run, and returns the error with which it is refused. */
  refuse(start: RefusedStart): Promise<unknown>;
}

/** The tools that every backend has, without those that need a sandbox. */
export const commonTools = fromJson(ListValueSchema, [
  "*todo*",
  "ask_user",
  "memory_*",
  "run_*",
  "mcp__srv__*",
  "mcp__ask__*",
  "mcp__rush__*",
]);

const serversFolder = join(import.meta.dirname, "../../../services/toolhost/test/support");

const mcpServer = (program: string, elicitation: boolean, ...args: readonly string[]) => ({
  command: process.execPath,
  args: [join(serversFolder, program), ...args],
  sandbox: false,
  elicitation,
});

/** The file at which the server `rush` stops waiting for an answer. It removes the file. */
export const patienceEnds = join(mkdtempSync(join(tmpdir(), "reeve-rush-")), "now");

/** The MCP servers that every backend has, by name. */
export const mcpServers = {
  srv: mcpServer("progress-server.ts", false),
  ask: mcpServer("asking-server.ts", true),
  rush: mcpServer("impatient-server.ts", true, patienceEnds),
};

/** Returns the models of one run of a scenario. */
export function playing({ play }: Scenario): (asked: Asked) => Played {
  const times = new Map<string, number>();
  return (asked) => {
    const name = JSON.stringify(asked);
    const before = times.get(name) ?? 0;
    times.set(name, before + 1);
    return play(asked, before);
  };
}

/** The answer of models that no scenario plays. */
export function silent(): Played {
  return {};
}
