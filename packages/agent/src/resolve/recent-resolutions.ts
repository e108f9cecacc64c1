import { toBinary } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { ToolCatalog } from "@reeve/contracts/tool";
import { unrestricted } from "../policy/caller-policy.ts";
import type { Offer } from "../spec/check-spec.ts";
import type { ToolContext } from "../tools/toolbelt.ts";
import { resolveAgent } from "./resolve-agent.ts";
import type { ResolvedAgent } from "./resolved-agent.ts";

/** How many agents are remembered for one offer. */
const maxAgents = 100;
/** A larger spec is resolved each time. */
const maxSpecBytes = 16 * 1024;

/** What was resolved against one offer, by spec and context. */
interface Remembered {
  readonly offer: Offer;
  readonly agents: Map<string, ResolvedAgent>;
}

const remembered = new WeakMap<readonly ToolCatalog[], Remembered>();

/**
 * Returns what `resolveAgent` returns, and remembers it: most runs of an agent resolve to the same. Only for callers that change
 * nothing of the result, and whose offer consists of the same objects until it changes. An agent with delegates, with a policy, or
 * with what a request brings is resolved each time.
 */
export function resolveOften(spec: AgentSpec, offer: Offer, context: ToolContext): ResolvedAgent {
  const key = keyOf(spec, context);
  if (key === undefined) return resolveAgent(spec, offer, context);
  const { agents } = rememberedFor(offer);
  const known = agents.get(key);
  if (known !== undefined) return known;
  const resolved = resolveAgent(spec, offer, context);
  const [oldest] = agents.keys();
  if (agents.size >= maxAgents && oldest !== undefined) agents.delete(oldest);
  agents.set(key, resolved);
  return resolved;
}

function rememberedFor(offer: Offer): Remembered {
  const known = remembered.get(offer.tools);
  const isSame =
    known?.offer.models === offer.models && known.offer.hasPasskeys === offer.hasPasskeys;
  if (isSame) return known;
  const created = { offer, agents: new Map<string, ResolvedAgent>() };
  remembered.set(offer.tools, created);
  return created;
}

/** Returns what the resolution of an agent depends on beside the offer. Undefined: it is not remembered. */
function keyOf(spec: AgentSpec, context: ToolContext): string | undefined {
  const { isEditor, hasNodeRegistry = false, extraTools, policy, ...brought } = context;
  const { delegates = [], offeredTools = [], plugins = [], ...others } = brought;
  const { isDelegate = false, outputSchema, ...unknown } = others;
  // A new field of the context must become a part of the key, or be a reason to resolve each time.
  unknown satisfies Record<string, never>;
  const brings = [delegates, offeredTools, plugins].some((each) => each.length > 0);
  const isPlain = policy === unrestricted && !brings && outputSchema === undefined;
  if (!isPlain || isDelegate) return undefined;
  const content = contentOf(spec);
  if (content === undefined) return undefined;
  const extra = extraTools.map(({ name }) => name).join();
  const editor = `${String(isEditor)} ${String(hasNodeRegistry)}`;
  return `${editor} ${extra} ${content}`;
}

/** By spec: the runs of an agent share that of the agent until it is updated, and nothing changes the spec of a run. */
const contents = new WeakMap<AgentSpec, string>();

/** Returns the encoded spec. Undefined: it is too large to be remembered. */
function contentOf(spec: AgentSpec): string | undefined {
  const before = contents.get(spec);
  if (before !== undefined) return before;
  const bytes = toBinary(AgentSpecSchema, spec);
  if (bytes.length > maxSpecBytes) return undefined;
  const content = Buffer.from(bytes).toString("latin1");
  contents.set(spec, content);
  return content;
}
