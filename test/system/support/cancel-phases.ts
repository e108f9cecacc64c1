import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import type { RunEvent } from "@reeve/contracts/run";
import { ModelCallPurpose } from "@reeve/contracts/run";
import type { Asked, Played } from "../../support/playing-server.ts";
import type { Deployment } from "./deployment.ts";

/** A phase in which a run can be cancelled. */
export interface CancelPhase {
  readonly name: string;
  readonly agent: keyof typeof phaseAgents;
  play(asked: Asked): Played;
  /** Whether the event shows that the run is in the phase. It must happen `times` times (default 1). */
  isThere(event: RunEvent): boolean;
  readonly times?: number;
  /** The minimum number of the run's sandbox processes on the host. */
  readonly processes?: number;
  /** Changes the deployment before the start or the cancellation, and repairs it afterwards. */
  readonly setUp?: (deployment: Deployment) => Promise<void>;
  readonly breakDown?: (deployment: Deployment) => Promise<void>;
  readonly mend?: (deployment: Deployment) => Promise<void>;
  /** How the run is cancelled. Default: once at the first gateway. */
  readonly cancel?: (deployment: Deployment, runId: string) => Promise<unknown>;
}

/** The agents of the phases, by name. */
export const phaseAgents = {
  works: { permissionClasses: ["execute"], mcpServers: ["srv"] },
  asks: { permissionClasses: ["execute"], hitlTools: ["run_command"] },
  plans: { permissionClasses: ["execute"], planningEnabled: true },
  compacts: { contextPolicy: { compactAtTokens: 8_000 } },
} satisfies Record<string, MessageInitShape<typeof AgentSpecSchema>>;

/** Ignores SIGTERM, and starts daemons in their own sessions and groups without the parent's pipes. */
const stubborn = `
import os, signal, time
for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
    signal.signal(each, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setpgid(0, 0)
            os.closerange(0, 64)
            time.sleep(3600)
        os._exit(0)
    os.wait()
print("ready", flush=True)
time.sleep(3600)
`;
const command = { name: "run_command", args: { command: ["python3", "-c", stubborn] } };
/** Two bwrap processes, the program, and its daemons. */
const processes = 6;

const call = (...calls: NonNullable<Played["calls"]>): Played => ({ calls });
const hang = { name: "mcp__srv__hang", args: {} };
const subtask = (instructions: string) => ({
  name: "run_subtask",
  args: { title: "part", instructions },
});
const isPart = ({ messages }: Asked) => messages[0]?.text.startsWith("part") === true;
const isPlanner = ({ system }: Asked) => system.includes("Before the work");
const isSummary = ({ system }: Asked) => system.includes("older part of a conversation");

const kind =
  (name: RunEvent["event"]["case"]) =>
  ({ event }: RunEvent): boolean =>
    event.case === name;
const isReady = ({ event }: RunEvent) =>
  event.case === "mcpProgress" && event.value.message.includes("ready");
const isSummarizing = ({ event }: RunEvent) =>
  event.case === "modelCallStarted" && event.value.purpose === ModelCallPurpose.SUMMARY;

/** The phases in which runs are cancelled. */
export const cancelPhases: readonly CancelPhase[] = [
  {
    name: "before a worker claims it",
    agent: "works",
    play: () => ({ text: "Never asked." }),
    isThere: kind("runCreated"),
    setUp: (deployment) => deployment.kill("runtime"),
    mend: (deployment) => deployment.start("runtime"),
  },
  {
    name: "before the first token of its model",
    agent: "works",
    play: () => ({ hangs: true }),
    isThere: kind("modelCallStarted"),
  },
  {
    name: "while its model streams text",
    agent: "works",
    play: () => ({ text: "I continue", hangs: true }),
    isThere: kind("text"),
  },
  {
    name: "while its model streams reasoning",
    agent: "works",
    play: () => ({ reasoning: "I wonder", hangs: true }),
    isThere: kind("reasoning"),
  },
  {
    name: "while it waits to retry a model call",
    agent: "works",
    play: () => ({ fails: { status: 503, message: "later", retryAfterMs: 60_000 } }),
    isThere: kind("modelCallFailed"),
  },
  {
    name: "during a command that only SIGKILL can end",
    agent: "works",
    play: () => call(command),
    isThere: isReady,
    processes,
  },
  {
    name: "during more parallel calls than the toolhost has slots",
    agent: "works",
    play: () => call(...Array.from({ length: 10 }, () => command)),
    isThere: isReady,
    // The toolhost executes four; four more wait there, and two in the runtime.
    times: 4,
    processes: 4 * processes,
  },
  {
    name: "during an MCP call",
    agent: "works",
    play: () => call(hang, hang),
    isThere: kind("mcpProgress"),
    times: 2,
  },
  {
    name: "while its subtask's model streams text",
    agent: "works",
    play: (asked) =>
      isPart(asked) ? { text: "I continue", hangs: true } : call(subtask("part"), subtask("part")),
    isThere: kind("text"),
    times: 2,
  },
  {
    name: "during a command of a subtask",
    agent: "works",
    play: (asked) => (isPart(asked) ? call(command) : call(subtask("part"))),
    isThere: isReady,
    processes,
  },
  {
    name: "while its planner streams text",
    agent: "plans",
    play: () => ({ text: "1. First", hangs: true }),
    isThere: ({ event }) => event.case === "modelCallStarted",
  },
  {
    name: "during a command of the planner",
    agent: "plans",
    play: (asked) => (isPlanner(asked) ? call(command) : { text: "Never asked." }),
    isThere: isReady,
    processes,
  },
  {
    name: "during a compaction",
    agent: "compacts",
    play: (asked) =>
      isSummary(asked)
        ? { text: "It was long", hangs: true }
        : { ...call({ name: "add_todo", args: { text: "more" } }), inputTokens: 9_000 },
    isThere: isSummarizing,
  },
  {
    name: "while it waits for an approval",
    agent: "asks",
    play: () => call(command, command),
    isThere: kind("runParked"),
  },
  {
    name: "during a command, after the last worker died",
    agent: "works",
    play: () => call(command),
    isThere: isReady,
    processes,
    breakDown: (deployment) => deployment.kill("runtime"),
    mend: (deployment) => deployment.start("runtime"),
  },
  {
    name: "during a command, after the last toolhost died",
    agent: "works",
    play: () => call(command),
    isThere: isReady,
    processes,
    breakDown: (deployment) => deployment.kill("toolhost"),
    mend: (deployment) => deployment.start("toolhost"),
  },
  {
    name: "during a command, with concurrent requests at two gateways",
    agent: "works",
    play: () => call(command),
    isThere: isReady,
    processes,
    cancel: ({ reeve, second }, runId) =>
      Promise.all([reeve, second, reeve, second].map(({ runs }) => runs.cancelRun({ runId }))),
  },
];
