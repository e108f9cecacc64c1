import type { JsonValue } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import { z } from "zod";
import { sectionOf } from "../plugins/section-violations.ts";
import type { Guard, GuardList } from "./guard.ts";
import type { GivenGuard, Report } from "./guard-schema.ts";
import { guardOf, guardPlaces, messageGuard, toolGuard } from "./guard-schema.ts";

/** The section that has the guards of an agent. */
export const guardrailsSectionName = "guardrails";

const maxGuards = 16;

function list(schema: z.ZodType<GivenGuard>) {
  return z.array(schema).max(maxGuards, `has more than ${maxGuards} guards`).default([]);
}

/** The content of the section, and of `guardrails` in a rule of the operator's policy. */
export const guardrailsSchema: z.ZodType<GuardList> = z
  .strictObject({
    hold: z.boolean("must be true or false").default(false),
    input: list(messageGuard),
    output: list(messageGuard),
    tools: list(toolGuard),
  })
  .transform(({ hold, ...lists }, context): GuardList => {
    const guards: Guard[] = [];
    const names = new Set<string>();
    for (const of of guardPlaces) {
      for (const [index, given] of lists[of].entries()) {
        const report: Report = (path, message) =>
          context.addIssue({ code: "custom", path: [of, index, ...stepsOf(path)], message });
        if (names.has(given.name))
          report("name", `"${given.name}" is the name of an earlier guard`);
        names.add(given.name);
        if (of === "output" && given.action === "redact" && !hold) {
          report(
            "action",
            "redact needs hold: true, because a text that was shown cannot be changed",
          );
        }
        const guard = guardOf(given, of, index, report);
        if (guard !== undefined) guards.push(guard);
      }
    }
    if (names.size === 0) context.addIssue("has no guards; leave it out");
    return { guards, holds: hold };
  });

function stepsOf(path: string): (string | number)[] {
  const parts = path.split(".").filter((part) => part !== "");
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

const known = new WeakMap<object, GuardList>();

/** Returns the guards in the JSON of a section. Undefined: it is none that fits, or there is none. */
export function guardListOf(section: JsonValue | undefined): GuardList | undefined {
  if (typeof section !== "object" || section === null) return undefined;
  const before = known.get(section);
  if (before !== undefined) return before;
  const parsed = guardrailsSchema.safeParse(section);
  if (!parsed.success) return undefined;
  known.set(section, parsed.data);
  return parsed.data;
}

/** Returns the guards of an agent. Undefined: it has none. */
export function guardrailsOf(spec: Pick<AgentSpec, "sections"> | undefined): GuardList | undefined {
  return spec && guardListOf(sectionOf(spec, guardrailsSectionName));
}
