import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import type { RunEvent } from "@reeve/contracts/run";
import { ModelCallPurpose } from "@reeve/contracts/run";
import type { Asked, Played } from "../../support/playing-server.ts";
import type { Deployment } from "./deployment.ts";

/** Something that a run can be in the middle of. */
export interface CancelPhase {
  readonly name: string;
  readonly agent: keyof typeof phaseAgents;
  play(asked: Asked): Played;
  /** Whether the event says that the run is there; it has to happen `times` times, once unless something else is said. */
  isThere(event: RunEvent): boolean;
  readonly times?: number;
  /** Processes that the run at least has in sandboxes, as the host sees them. */
  readonly processes?: number;
  /** What happens to the deployment before the run is started, or cancelled, and how it is mended afterwards. */
  readonly setUp?: (deployment: Deployment) => Promise<void>;
  readonly breakDown?: (deployment: Deployment) => Promise<void>;
  readonly mend?: (deployment: Deployment) => Promise<void>;
  /** How it is cancelled, unless once at the first gateway. */
  readonly cancel?: (deployment: Deployment, runId: string) => Promise<unknown>;
}

/** The agents of the phases. */
export const phaseAgents = {
  works: { permissionClasses: ["execute"], mcpServers: ["srv"] },
  asks: { permissionClasses: ["execute"], hitlTools: ["run_command"] },
  plans: { permissionClasses: ["execute"], planningEnabled: true },
  compacts: { contextPolicy: { compactAtTokens: 8_000 } },
} satisfies Record<string, MessageInitShape<typeof AgentSpecSchema>>;

/** Ignores what asks it to end, and leaves daemons in sessions and groups of their own that hold none of its pipes. */
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
/** bwrap twice, the program, its daemons. */
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

/** Where a run can be when it is cancelled. */
export const cancelPhases: readonly CancelPhase[] = [
  {
    name: "before any worker has it",
    agent: "works",
    play: () => ({ text: "Never asked." }),
    isThere: kind("runCreated"),
    setUp: (deployment) => deployment.kill("runtime"),
    mend: (deployment) => deployment.start("runtime"),
  },
  {
    name: "before its model has said a word",
    agent: "works",
    play: () => ({ hangs: true }),
    isThere: kind("modelCallStarted"),
  },
  {
    name: "while its model speaks",
    agent: "works",
    play: () => ({ text: "I go on", hangs: true }),
    isThere: kind("text"),
  },
  {
    name: "while its model thinks",
    agent: "works",
    play: () => ({ reasoning: "I wonder", hangs: true }),
    isThere: kind("reasoning"),
  },
  {
    name: "while it waits to ask its model again",
    agent: "works",
    play: () => ({ fails: { status: 503, message: "later", retryAfterMs: 60_000 } }),
    isThere: kind("modelCallFailed"),
  },
  {
    name: "during a command that nothing but force can end",
    agent: "works",
    play: () => call(command),
    isThere: isReady,
    processes,
  },
  {
    name: "during more calls at once than there is room for",
    agent: "works",
    play: () => call(...Array.from({ length: 10 }, () => command)),
    isThere: isReady,
    // The toolhost takes four; four more wait for it, and two in the runtime.
    times: 4,
    processes: 4 * processes,
  },
  {
    name: "during a call of an MCP server",
    agent: "works",
    play: () => call(hang, hang),
    isThere: kind("mcpProgress"),
    times: 2,
  },
  {
    name: "while the model of its subtask speaks",
    agent: "works",
    play: (asked) =>
      isPart(asked) ? { text: "I go on", hangs: true } : call(subtask("part"), subtask("part")),
    isThere: kind("text"),
    times: 2,
  },
  {
    name: "during a command of its subtask",
    agent: "works",
    play: (asked) => (isPart(asked) ? call(command) : call(subtask("part"))),
    isThere: isReady,
    processes,
  },
  {
    name: "while its planner speaks",
    agent: "plans",
    play: () => ({ text: "1. First", hangs: true }),
    isThere: ({ event }) => event.case === "modelCallStarted",
  },
  {
    name: "during a command of its planner",
    agent: "plans",
    play: (asked) => (isPlanner(asked) ? call(command) : { text: "Never asked." }),
    isThere: isReady,
    processes,
  },
  {
    name: "while its conversation is summed up",
    agent: "compacts",
    play: (asked) =>
      isSummary(asked)
        ? { text: "It was long", hangs: true }
        : { ...call({ name: "add_todo", args: { text: "more" } }), inputTokens: 9_000 },
    isThere: isSummarizing,
  },
  {
    name: "while it waits for a person",
    agent: "asks",
    play: () => call(command, command),
    isThere: kind("runParked"),
  },
  {
    name: "during a command, when no worker is left",
    agent: "works",
    play: () => call(command),
    isThere: isReady,
    processes,
    breakDown: (deployment) => deployment.kill("runtime"),
    mend: (deployment) => deployment.start("runtime"),
  },
  {
    name: "during a command, when no toolhost is left",
    agent: "works",
    play: () => call(command),
    isThere: isReady,
    processes,
    breakDown: (deployment) => deployment.kill("toolhost"),
    mend: (deployment) => deployment.start("toolhost"),
  },
  {
    name: "during a command, several times at once, at two gateways",
    agent: "works",
    play: () => call(command),
    isThere: isReady,
    processes,
    cancel: ({ reeve, second }, runId) =>
      Promise.all([reeve, second, reeve, second].map(({ runs }) => runs.cancelRun({ runId }))),
  },
];
