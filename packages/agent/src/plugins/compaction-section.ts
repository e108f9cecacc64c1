import type { AgentSpec } from "@reeve/contracts/agent";
import { z } from "zod";
import { sectionOf } from "./section-violations.ts";

/** The section that says how conversations are summarized. It is read only with `context_policy`. */
export const compactionSectionName = "compaction";

export const compactionSchema = z.strictObject({
  instructions: z.string("must be a text").max(8_192, "has more than 8192 characters").optional(),
});

/** Returns what the summarizing model is told beside the built-in instructions. Empty: nothing. */
export function summaryInstructionsOf(
  spec: Pick<AgentSpec, "sections" | "contextPolicy"> | undefined,
): string {
  if (spec?.contextPolicy === undefined) return "";
  const parsed = compactionSchema.safeParse(sectionOf(spec, compactionSectionName));
  return parsed.success ? (parsed.data.instructions ?? "") : "";
}
