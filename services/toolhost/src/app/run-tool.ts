import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ToolCall, ToolResult } from "@reeve/contracts/tool";
import { ToolResultSchema, ToolStatus } from "@reeve/contracts/tool";
import type { ValidateFunction } from "ajv";
import { Ajv } from "ajv";
import { cutToBytes } from "@reeve/agent/cut-to-bytes";
import type { Tool, ToolOutcome, ToolRun } from "./tool.ts";
import { failed } from "./tool.ts";

/** What of a result the model reads, in bytes. */
const contentBytes = 50_000;

/**
 * Executes a call with the tool it names, and makes its result: an unknown tool, arguments that do not fit and a fault of
 * the tool are results too. Throws only the signal's reason when `signal` aborts.
 */
export async function runTool(
  tools: ReadonlyMap<string, Tool>,
  call: ToolCall,
  run: Omit<ToolRun, "args" | "callId">,
  signal: AbortSignal,
): Promise<ToolResult> {
  const startedAtMs = Date.now();
  const startedAt = performance.now();
  const outcome = await outcomeOf(tools, call, run, signal);
  signal.throwIfAborted();
  return create(ToolResultSchema, {
    callId: call.callId,
    name: call.name,
    content: cutToBytes(outcome.content, contentBytes),
    isError: outcome.status !== ToolStatus.SUCCESS,
    ...(outcome.structured && { structured: outcome.structured }),
    metadata: {
      status: outcome.status,
      startedAt: timestampFromMs(startedAtMs),
      completedAt: timestampFromMs(Date.now()),
      executionTimeMs: performance.now() - startedAt,
      endReason: outcome.endReason ?? "",
      isolation: outcome.isolation ?? "",
    },
  });
}

async function outcomeOf(
  tools: ReadonlyMap<string, Tool>,
  call: ToolCall,
  run: Omit<ToolRun, "args" | "callId">,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const tool = tools.get(call.name);
  if (tool === undefined) return failed(`this toolhost has no tool "${call.name}"`);
  const args = call.arguments ?? {};
  const problems = problemsOf(tool, args);
  if (problems.length > 0) {
    return failed(`the arguments do not fit ${call.name}: ${problems.join("; ")}`);
  }
  try {
    return await tool.run({ ...run, callId: call.callId, args }, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return failed(
      `${call.name} met a fault: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

const ajv = new Ajv({ allErrors: true, strict: false, logger: false });
const validators = new WeakMap<Tool, ValidateFunction>();

function problemsOf(tool: Tool, args: JsonObject): readonly string[] {
  const { inputSchema } = tool.descriptor;
  // What an MCP server calls a schema is its own business; it checks by itself.
  if (inputSchema === undefined || tool.descriptor.source !== "builtin") return [];
  const validate = validators.get(tool) ?? ajv.compile(inputSchema);
  validators.set(tool, validate);
  if (validate(args)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message = "is not valid" }) =>
      `${instancePath.slice(1).replaceAll("/", ".")} ${message}`,
  );
}
