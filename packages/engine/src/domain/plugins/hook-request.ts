import { create, fromJson } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import { nameOfClass } from "@reeve/agent/tools/permission-classes";
import type { RunHookRequest } from "@reeve/contracts/extensions/plugin";
import {
  CallDataSchema,
  HookPhase,
  RunHookRequestSchema,
} from "@reeve/contracts/extensions/plugin";
import type { PinnedPlugin } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { statusName } from "@reeve/run/head/run-status";
import { approvedCall } from "../calls/approved-call.ts";
import { modelOf } from "../model/model-of.ts";
import { answerRequest } from "../model/render-request.ts";
import type { Call, Frame } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { frameOf } from "../state/run-state.ts";
import type { DueHook } from "./due-hooks.ts";
import type { HookPoint } from "./hook-point.ts";

/** Size of a text in a snapshot, and of all results of a turn together: a request has to fit into a message of gRPC. */
const maxTextBytes = 524_288;

type Data = NonNullable<MessageInitShape<typeof RunHookRequestSchema>["data"]>;

/** Returns the snapshot that a hook sees. */
export function hookRequest(
  state: RunState,
  due: DueHook,
  pinned: PinnedPlugin,
  more: Pick<RunHookRequest, "attempt" | "traceparent">,
): RunHookRequest {
  const { runId, created } = state.head;
  const frame = frameOf(state, due.frame);
  const { point, action } = due;
  return create(RunHookRequestSchema, {
    ...more,
    hookId: due.hookId,
    pluginId: due.pluginId,
    pluginVersion: pinned.plugin?.pluginDescriptor?.version ?? "",
    phase: point?.phase ?? HookPhase.ACTION,
    tenant: created?.tenant ?? "",
    runId,
    agentId: created?.agentId ?? "",
    parentId: scopeOf(frame).parentId,
    depth: frame.depth,
    step: point?.step ?? frame.step,
    ...(pinned.section && { section: pinned.section }),
    state: valuesFor(state, pinned),
    data:
      action === undefined
        ? dataAt(state, frame, point)
        : {
            case: "action",
            value: {
              name: action.name,
              round: action.round,
              ...(action.payload && { payload: action.payload }),
            },
          },
  });
}

/** Returns the values of the keys that a plugin declares. */
export function valuesFor({ plugins }: RunState, { plugin }: PinnedPlugin): Record<string, Value> {
  const entries = (plugin?.pluginDescriptor?.stateKeys ?? []).flatMap(({ name }) => {
    const value = plugins?.values.get(name);
    return value === undefined ? [] : [[name, fromJson(ValueSchema, value)] as const];
  });
  return Object.fromEntries(entries);
}

function dataAt(state: RunState, frame: Frame, { phase, call }: HookPoint): Data {
  switch (phase) {
    case HookPhase.RUN_START:
      return {
        case: "runStart",
        value: { input: truncateToBytes(state.head.created?.input ?? "", maxTextBytes) },
      };
    case HookPhase.BEFORE_INFERENCE: {
      const { messages, tools } = answerRequest(state, frame, undefined);
      const value = {
        model: modelOf(state, frame)?.id ?? "",
        tools: tools.map(({ name }) => name),
        messages: messages.length,
      };
      return { case: "inference", value };
    }
    case HookPhase.AFTER_INFERENCE:
    case HookPhase.STEP_END: {
      const maxResultBytes = Math.floor(maxTextBytes / Math.max(1, frame.calls.length));
      const calls = frame.calls.map((each) => callData(frame, each, maxResultBytes));
      const text = truncateToBytes(frame.text, maxTextBytes);
      return { case: "turn", value: { text, calls } };
    }
    case HookPhase.TOOL_GATE:
    case HookPhase.BEFORE_TOOL:
    case HookPhase.AFTER_TOOL:
      return call === undefined
        ? { case: undefined }
        : { case: "call", value: callData(frame, call, maxTextBytes) };
    case HookPhase.RUN_END: {
      const { status, message = "" } = state.plugins?.ending ?? {};
      const name = status === RunStatus.COMPLETED ? "completed" : "error";
      return { case: "runEnd", value: { status: name, message } };
    }
    case HookPhase.DEACTIVATE: {
      const { message = "" } = state.ending ?? {};
      return { case: "runEnd", value: { status: statusName(state.head.status), message } };
    }
    default:
      return { case: undefined };
  }
}

function callData({ tools }: Frame, pending: Call, maxBytes: number) {
  const { callId, name, arguments: args } = approvedCall(pending);
  const tool = tools.get(name);
  return create(CallDataSchema, {
    callId,
    name,
    ...(args && { arguments: args }),
    permissionClass: tool === undefined ? "" : nameOfClass(tool.permissionClass),
    source: tool?.source ?? "",
    result: truncateToBytes(pending.result?.content ?? "", maxBytes),
    isError: pending.result?.isError ?? false,
  });
}
