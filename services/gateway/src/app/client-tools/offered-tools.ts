import { equals, toBinary } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { CheckedRule } from "@reeve/contracts/queue";
import type { StartRunRequest } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import type { Principal } from "@reeve/platform/rpc/principal";
import { assertChecked } from "@reeve/run/policy/runtime-checks";
import type { GatewayPorts } from "../gateway-ports.ts";
import { manifestTools } from "./manifest-tools.ts";

/** The size of all tools of clients in a run, beside the spec of its agent in the first batch of its log. */
const maxOfferedBytes = 262_144;

/** The tools that clients offer to a run that starts, and why it does not have others. */
interface OfferedTools {
  readonly tools: readonly ToolDescriptor[];
  readonly warnings: readonly string[];
}

/** Returns the scope of the offers to a thread. */
export function threadScope(threadId: string): string {
  return `thread-${threadId}`;
}

/** Returns the scope of the offers to a run. */
export function runScope(runId: string): string {
  return `run-${runId}`;
}

/**
 * Returns the tools that a run gets from clients: those of the request, then those that are offered to its thread. A run with the
 * memories of its user gets only those of the user. Throws a Failure if the tools of the request are invalid, or a runtime would
 * ignore them; those of a thread are then left out.
 */
export async function offeredTools(
  ports: Pick<GatewayPorts, "clientTools" | "holders">,
  { tenant, subject }: Principal,
  { clientTools, threadId, memoryEnabled }: StartRunRequest,
  signal: AbortSignal,
): Promise<OfferedTools> {
  const { offers, classes } = ports.clientTools;
  const own = clientTools === undefined ? [] : manifestTools(clientTools, "client_tools", classes);
  const ofThread = threadId === "" ? [] : offers.of(tenant, threadScope(threadId));
  const others = ofThread
    .filter((offer) => !memoryEnabled || offer.subject === subject)
    .flatMap(({ tools }) => tools);
  if (own.length > 0) await assertServed(ports, signal);
  else if (others.length > 0) {
    const problem = await notServed(ports, signal);
    if (problem !== undefined) return { tools: [], warnings: [`client_tools: ${problem}`] };
  }
  return merged([...own, ...others]);
}

/** Whether two descriptions are of the same tool, whichever client offers it. */
export function isSameTool(a: ToolDescriptor, b: ToolDescriptor): boolean {
  return equals(ToolDescriptorSchema, { ...a, source: "" }, { ...b, source: "" });
}

function merged(all: readonly ToolDescriptor[]): OfferedTools {
  const tools = new Map<string, ToolDescriptor>();
  const warnings: string[] = [];
  let bytes = 0;
  for (const tool of all) {
    const { name, source } = tool;
    const known = tools.get(name);
    if (known !== undefined) {
      if (isSameTool(known, tool)) continue;
      warnings.push(
        `client_tools: ${name} of ${source} is left out: ${known.source} offers another tool with this name`,
      );
      continue;
    }
    const size = toBinary(ToolDescriptorSchema, tool).length;
    if (bytes + size > maxOfferedBytes) {
      warnings.push(
        `client_tools: ${name} of ${source} is left out: the tools of all clients would have more than ${maxOfferedBytes} bytes`,
      );
      continue;
    }
    bytes += size;
    tools.set(name, tool);
  }
  return { tools: [...tools.values()], warnings };
}

function assertServed({ holders }: Pick<GatewayPorts, "holders">, signal: AbortSignal) {
  return assertChecked(holders, [CheckedRule.CLIENT_TOOLS], signal);
}

/** Returns why tools of clients cannot be used now. Undefined: they can. */
async function notServed(
  ports: Pick<GatewayPorts, "holders">,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await assertServed(ports, signal);
    return undefined;
  } catch (error) {
    const isOutdated = error instanceof Failure && error.reason === ErrorReason.RUNTIME_OUTDATED;
    if (isOutdated) return error.message;
    throw error;
  }
}
