import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { runtimeSource } from "@reeve/agent/tools/runtime-tools";
import { searchNodesName } from "@reeve/agent/workflow/building/editor-tools";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { ToolResultSchema } from "@reeve/contracts/tool";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import { approvedCall } from "../calls/approved-call.ts";
import { resultBytesIn } from "../budget/frame-caps.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Call, Frame } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { toolResultFact } from "../calls/tool-result.ts";
import { memoryList, memoryRead, memoryWrite } from "./memory-tools.ts";
import type { RuntimeToolResult } from "./runtime-tool-result.ts";
import { searchNodes } from "./search-nodes.ts";
import { addTodo, completeTodo, listTodos, updateTodoStatus } from "./todo-tools.ts";

/** The tools whose result follows from the state of the run alone. */
const pure: Readonly<
  Record<string, (state: RunState, args: JsonObject, resultBytes: number) => RuntimeToolResult>
> = {
  memory_list: memoryList,
  memory_read: memoryRead,
  memory_write: memoryWrite,
  add_todo: addTodo,
  list_todos: listTodos,
  update_todo_status: updateTodoStatus,
  complete_todo: completeTodo,
  [searchNodesName]: searchNodes,
};

/** Whether the tool needs no effect. */
export function isPure({ name, source }: ToolDescriptor): boolean {
  return source === runtimeSource && Object.hasOwn(pure, name);
}

/** Returns the changes that a call of such a tool makes to the run, and its result. */
export function runRuntimeTool(
  state: RunState,
  frame: Frame,
  call: Call,
  nowMs: number,
): readonly Fact[] {
  const { callId, name, arguments: args = {} } = approvedCall(call);
  const resultBytes = resultBytesIn(state, frame);
  const outcome = pure[name]?.(state, args, resultBytes);
  if (outcome === undefined) return [];
  const scope = scopeOf(frame);
  const result = create(ToolResultSchema, {
    callId,
    name,
    content: truncateToBytes(outcome.content, resultBytes),
    isError: outcome.isError,
  });
  return [
    ...outcome.changes.map((event) => fact(scope, event)),
    toolResultFact(call, scope, result, nowMs),
  ];
}
