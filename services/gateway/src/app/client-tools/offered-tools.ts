import { equals, toBinary } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { leftOutWarning } from "@reeve/agent/tools/client-tools";
import { CheckedRule } from "@reeve/contracts/queue";
import type { StartRunRequest } from "@reeve/contracts/run";
import type { ToolDescriptor, ToolOffer } from "@reeve/contracts/tool";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import type { Principal } from "@reeve/platform/rpc/principal";
import { assertChecked } from "@reeve/run/policy/runtime-checks";
import type { GatewayPorts } from "../gateway-ports.ts";
import { manifestTools } from "./manifest-tools.ts";

/** The size of all tools of clients in a run, beside the spec of its agent in the first batch of its log. */
const maxOfferedBytes = 262_144;

/** The tools of all clients in a run. */
const maxOffered = 64;
/** The size of what describes them to the model, in each of its calls, beside their schemas. */
const maxDescriptionBytes = 65_536;
/** The tools that a run does not have and that warnings name. */
const maxNamed = 20;

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

/** What decides which tools of clients a run gets. */
interface ToolRequest extends Pick<StartRunRequest, "clientTools" | "threadId"> {
  /** Whether the run has private data of its user. */
  readonly isPrivate: boolean;
}

/**
 * Returns the tools that a run gets from clients: those of the request, then those that are offered to its thread, first by the user
 * of the run. A run with private data of its user gets only those of the user. Throws a Failure if the tools of the request are
 * invalid, or a runtime would ignore them; those of a thread are then left out.
 */
export async function offeredTools(
  ports: Pick<GatewayPorts, "clientTools" | "holders">,
  { tenant, subject }: Principal,
  { clientTools, threadId, isPrivate }: ToolRequest,
  signal: AbortSignal,
): Promise<OfferedTools> {
  const { offers, classes } = ports.clientTools;
  const own =
    clientTools === undefined
      ? []
      : await manifestTools(clientTools, "client_tools", classes, signal);
  const ofThread = threadId === "" ? [] : offers.of(tenant, threadScope(threadId));
  const isOwn = (offer: Pick<ToolOffer, "subject">) => offer.subject === subject;
  const foreign = isPrivate ? [] : ofThread.filter((offer) => !isOwn(offer));
  const others = [...ofThread.filter(isOwn), ...foreign].flatMap(({ tools }) => tools);
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
  const sum = { bytes: 0, descriptionBytes: 0 };
  for (const tool of all) {
    const known = tools.get(tool.name);
    if (known !== undefined) {
      if (!isSameTool(known, tool)) {
        warnings.push(leftOutWarning(tool, `${known.source} offers another tool with this name`));
      }
      continue;
    }
    const bytes = sum.bytes + toBinary(ToolDescriptorSchema, tool).length;
    const descriptionBytes = sum.descriptionBytes + Buffer.byteLength(tool.description);
    const exceeded = exceededLimit(tools.size + 1, bytes, descriptionBytes);
    if (exceeded !== undefined) {
      warnings.push(leftOutWarning(tool, `the tools of all clients would ${exceeded}`));
      continue;
    }
    Object.assign(sum, { bytes, descriptionBytes });
    tools.set(tool.name, tool);
  }
  return { tools: [...tools.values()], warnings: shortened(warnings) };
}

function exceededLimit(count: number, bytes: number, descriptionBytes: number): string | undefined {
  if (count > maxOffered) return `be more than ${maxOffered}`;
  if (bytes > maxOfferedBytes) return `have more than ${maxOfferedBytes} bytes`;
  return descriptionBytes > maxDescriptionBytes
    ? `have descriptions of more than ${maxDescriptionBytes} bytes`
    : undefined;
}

function shortened(warnings: readonly string[]): readonly string[] {
  const more = warnings.length - maxNamed;
  if (more <= 0) return warnings;
  return [...warnings.slice(0, maxNamed), `client_tools: ${more} more tools are left out`];
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
