import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { delegateTool } from "@reeve/agent/delegates/delegate-tool";
import type { AgentSpecSchema, BudgetsSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import type { ResultExtent, ToolDescriptorSchema } from "@reeve/contracts/tool";
import { ToolResultSchema } from "@reeve/contracts/tool";
import { outputOf } from "@reeve/run/head/run-of";
import { toolResultFact } from "../../../src/domain/calls/tool-result.ts";
import type { Effect } from "../../../src/domain/next-effects.ts";
import { nextEffects, openWaits } from "../../../src/domain/next-effects.ts";
import { scopeOf } from "../../../src/domain/state/frame.ts";
import { frameOf } from "../../../src/domain/state/run-state.ts";
import { unitsOf } from "../../../src/domain/state/units.ts";
import type { Setting } from "../played-log.ts";
import { PlayedRun } from "../run-player.ts";

type SpecInit = Omit<MessageInitShape<typeof AgentSpecSchema>, "$typeName" | "$unknown">;

const lookupTool: MessageInitShape<typeof ToolDescriptorSchema> = {
  name: "search",
  source: "builtin",
  inputSchema: { type: "object", properties: { q: {} } },
};
const codeTool: MessageInitShape<typeof ToolDescriptorSchema> = {
  name: "execute_code",
  source: "builtin",
  inputSchema: { type: "object", properties: { code: { type: "string" } } },
};

interface InnerSetting {
  readonly inner?: SpecInit["workflow"];
  readonly innerBudgets?: MessageInitShape<typeof BudgetsSchema>;
}

/** Plays a run of a workflow that may call the tools `search` and `execute_code`, and the delegates `finder` and `inner`. */
export function workflowRun(
  workflow: SpecInit["workflow"],
  { inner, innerBudgets, ...spec }: SpecInit & InnerSetting = {},
  input = "go",
  plugins: Setting["plugins"] = [],
): PlayedRun {
  const delegates = [
    { agentId: "finder", spec: { id: "finder", model: "f" } },
    { agentId: "inner", spec: { id: "inner", model: "i", ...(inner && { workflow: inner }) } },
  ];
  const tools = [
    lookupTool,
    codeTool,
    ...delegates.map(({ spec: { id } }) => delegateTool({ id })),
  ];
  return new PlayedRun(
    { delegates: ["finder", "inner"], ...(workflow && { workflow }), ...spec },
    {
      tools,
      plugins,
      created: { input, delegates },
      prepared: {
        delegates: [
          { agentId: "finder", model: { id: "f" } },
          {
            agentId: "inner",
            model: { id: "i" },
            tools: [lookupTool, codeTool],
            ...(innerBudgets && { limits: { budgets: innerBudgets } }),
          },
        ],
      },
    },
  );
}

/** Returns the ids of the nodes of the root whose calls have no result, in the order of their start. */
export function openNodes(run: PlayedRun, id = ""): readonly string[] {
  return run
    .frame(id)
    .calls.filter(({ result }) => result === undefined)
    .map(({ call }) => nameOf(call));
}

function nameOf({ nodeId, itemIndex }: { readonly nodeId: string; readonly itemIndex: number }) {
  return itemIndex === 0 ? nodeId : `${nodeId} ${itemIndex}`;
}

/** The call of a node gets its result. */
export function ends(
  run: PlayedRun,
  node: string,
  { content = "", structured, isError = false, artifact = "", extent }: PlayedResult,
): PlayedRun {
  for (const frame of run.state.frames.values()) {
    const call = frame.calls.find((each) => nameOf(each.call) === node && !each.result);
    if (call === undefined) continue;
    const { callId, name } = call.call;
    const metadata = { offloadedArtifactId: artifact, ...(extent && { extent }) };
    const result = create(ToolResultSchema, {
      callId,
      name,
      content,
      isError,
      ...(structured && { structured }),
      ...((artifact !== "" || extent !== undefined) && { metadata }),
    });
    return run.append([toolResultFact(call, scopeOf(frame), result, run.nowMs)]);
  }
  throw new Error(`no call of the node ${node} is open`);
}

export interface PlayedResult {
  readonly content?: string;
  readonly structured?: JsonObject;
  readonly isError?: boolean;
  readonly artifact?: string;
  readonly extent?: ResultExtent;
}

/** Returns the answer of the run as a client sees it. */
export function answerOf(run: PlayedRun): string {
  return outputOf(run.state.head);
}

/** Returns the message of the error that ended the run. */
export function errorOf(run: PlayedRun): string | undefined {
  return run.all("error")[0]?.message;
}

/** Ends one effect, as tools, models, and people of a test do: always in the same way. */
export function acts(run: PlayedRun): boolean {
  const [effect] = nextEffects(run.state);
  if (effect !== undefined) {
    performed(run, effect);
    return true;
  }
  const [callId] = openWaits(run.state);
  if (callId === undefined) return false;
  run.parks().decides(ApprovalState.APPROVED, { callId, reason: "fine" }).claimedAnew();
  return true;
}

function performed(run: PlayedRun, effect: Effect): void {
  switch (effect.kind) {
    case "call_model": {
      const frame = frameOf(run.state, effect.frame);
      const text = unitsOf(frame).flatMap((unit) => (unit.kind === "user" ? [unit.text] : []));
      const answer = `answer to ${text.join(" ")}`;
      const isLong = frame.delegate?.agentId === "finder";
      run.says(isLong ? answer.repeat(100) : answer, effect.frame).turnIn(effect.frame);
      return;
    }
    case "call_tool": {
      const args = JSON.stringify(effect.call.call.arguments);
      const isCode = effect.call.call.name === "execute_code";
      const result = isCode ? { structured: { result: 7 } } : { content: `result of ${args}` };
      ends(run, nameOf(effect.call.call), result);
      return;
    }
    case "wait_for_delay":
      run.nowMs = effect.dueAtMs;
      ends(run, nameOf(effect.call.call), { content: "over" });
      return;
    default:
      throw new Error(`a workflow of a test needs no ${effect.kind}`);
  }
}

/** Plays a run to its end. */
export function playToEnd(run: PlayedRun): PlayedRun {
  while (run.end === undefined) {
    if (!acts(run)) throw new Error(`the run stands still: ${run.trace.slice(-10).join()}`);
  }
  return run;
}

/** Returns what a run did, without what differs between workers: ids, attempts, claims, and the parts of a text. */
export function historyOf(events: readonly RunEvent[]): readonly string[] {
  const nodes = new Map<string, string>();
  const texts = new Map<string, string>();
  const lines = events.flatMap((envelope) => {
    const { event, parentId } = envelope;
    const place = nodes.get(parentId) ?? "";
    switch (event.case) {
      case "toolCall": {
        const name = `${place}/${nameOf(event.value)}`;
        nodes.set(event.value.callId, name);
        return [`${name} ${event.value.name} ${JSON.stringify(event.value.arguments)}`];
      }
      case "toolResult": {
        const { callId = "", content = "" } = event.value.result ?? {};
        return [`${nodes.get(callId)} = ${content.replace(/task:\S+/, "task")}`];
      }
      case "text":
        if (isVoided(events, envelope)) return [];
        texts.set(place, (texts.get(place) ?? "") + event.value.text);
        return [];
      case "status":
        // A worker that takes a run over before it is prepared starts it again.
        return event.value.status === RunStatus.STARTING ? [] : [`status ${event.value.status}`];
      default:
        return [];
    }
  });
  const said = [...texts].map(([place, text]) => `${place} says ${text}`);
  return [...lines, ...said].toSorted();
}

function isVoided(events: readonly RunEvent[], { parentId, sequence }: RunEvent): boolean {
  return events.some(
    (other) =>
      other.event.case === "textVoided" &&
      other.parentId === parentId &&
      other.sequence > sequence &&
      other.event.value.firstSequence <= sequence,
  );
}
