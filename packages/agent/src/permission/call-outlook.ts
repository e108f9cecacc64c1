import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionBehavior } from "@reeve/contracts/tool";
import { runtimeSource } from "../tools/runtime-tools.ts";
import { truncateToBytes } from "../text/truncate-to-bytes.ts";
import type { LevelRule, PermissionLevel } from "./permission-levels.ts";

const { ASK, ALLOW, DENY } = PermissionBehavior;

/** What the permission rules say about the calls of a tool before their arguments are known. */
interface CallOutlook {
  /** `allow`: no rule asks or denies; `ask`: a person decides on each call; `depends`: the arguments decide. */
  readonly calls: "allow" | "ask" | "depends";
  /** The first rules of each level that decide, in the order in which they are tried. */
  readonly rules: readonly string[];
}

/** How many rules of a level an outlook names. */
export const maxNamedRules = 20;
/** How much of the text of a rule an outlook repeats. */
const maxRuleBytes = 100;

type Tool = Pick<ToolDescriptor, "name" | "source">;

/** Returns what happens to the calls of a tool that the rules do not deny as a whole. */
export function callOutlook(levels: readonly PermissionLevel[], tool: Tool): CallOutlook {
  const outlooks = levels.map((level) => levelOutlook(level, tool));
  const rules = outlooks.flatMap((outlook) => outlook.rules);
  const isCertain = outlooks.every(({ possible }) => possible.size === 1);
  // The strictest level decides: if one always asks and none may deny, a person always decides.
  const mayDeny = outlooks.some(({ possible }) => possible.has(DENY));
  const asks = outlooks.some(({ possible }) => possible.size === 1 && possible.has(ASK));
  if (asks && !mayDeny) return { calls: "ask", rules };
  return { calls: isCertain && !asks && !mayDeny ? "allow" : "depends", rules };
}

/** What a level may decide about the calls of a tool. A level that says nothing allows. */
interface LevelOutlook {
  readonly possible: ReadonlySet<PermissionBehavior>;
  readonly rules: readonly string[];
}

function levelOutlook(level: PermissionLevel, tool: Tool): LevelOutlook {
  const possible = new Set<PermissionBehavior>();
  const rules: string[] = [];
  const named = (text: () => string): void => {
    if (rules.length < maxNamedRules) rules.push(text());
  };
  const own = level.rules.filter(({ pattern }) => pattern.tool.matches(tool.name));
  for (const behavior of [DENY, ALLOW, ASK]) {
    for (const rule of own) {
      if (rule.behavior !== behavior) continue;
      possible.add(behavior);
      named(() => describe(rule));
      if (rule.pattern.conditions.length === 0) return { possible, rules };
    }
  }
  const byDefault = tool.source === runtimeSource ? undefined : level.defaultBehavior;
  possible.add(byDefault?.behavior ?? ALLOW);
  if (byDefault !== undefined) named(() => `${nameOf(byDefault.behavior)} by default_behavior`);
  return { possible, rules };
}

/** The texts of rules. The plan of an agent with many tools repeats each of them for each tool. */
const texts = new WeakMap<LevelRule, string>();

function describe(rule: LevelRule): string {
  const known = texts.get(rule) ?? describeAnew(rule);
  texts.set(rule, known);
  return known;
}

function describeAnew({ text, behavior, policyRule }: LevelRule): string {
  const of = policyRule === "" ? "" : ` of the policy rule "${policyRule}"`;
  return `${nameOf(behavior)} ${truncateToBytes(text, maxRuleBytes)}${of}`;
}

function nameOf(behavior: PermissionBehavior): string {
  return behavior === DENY ? "deny" : behavior === ASK ? "ask" : "allow";
}
