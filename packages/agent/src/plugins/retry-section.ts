import { equals, fromJson } from "@bufbuild/protobuf";
import type { AgentSpec, RetryPolicy } from "@reeve/contracts/agent";
import { RetryPolicySchema } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { ruleViolations } from "@reeve/platform/strict/assert-valid";
import { z } from "zod";
import { invalidPluginConfig, sectionOf, sectionViolations } from "./section-violations.ts";

/** The section that says how failed model calls are repeated; the field `retry` of a spec says the same. */
export const retrySectionName = "retry";

const duration = z
  .string('must be a time in seconds, such as "30s"')
  .regex(/^\d{1,9}(\.\d{1,9})?s$/, 'must be a time in seconds, such as "30s"');

export const retrySchema = z.strictObject({
  max_retries: z
    .int("must be an integer")
    .min(0, "must be 0 or more")
    .max(10_000, "must be 10000 or less")
    .optional(),
  max_elapsed: duration.optional(),
  initial_backoff: duration.optional(),
  max_backoff: duration.optional(),
});

type Retrying = Pick<AgentSpec, "sections" | "retry">;

/** Returns what is wrong with the section `retry`, each problem with its field. */
export function retryProblems(spec: Retrying): readonly Violation[] {
  const malformed = sectionViolations(spec, retrySectionName, retrySchema);
  if (malformed.length > 0) return malformed;
  const section = readSection(spec);
  if (section === undefined) return [];
  const broken = ruleViolations(RetryPolicySchema, section).map(({ field, description }) => ({
    field: field === "" ? "sections.retry" : `sections.retry.${field}`,
    description,
    reason: invalidPluginConfig,
  }));
  if (spec.retry === undefined || equals(RetryPolicySchema, spec.retry, section)) return broken;
  const description = "differs from the field retry, which says the same; keep one of them";
  return [...broken, { field: "sections.retry", description, reason: invalidPluginConfig }];
}

/** Returns how an agent wants failed model calls repeated: its field `retry`, or else its section. */
export function ownRetry(spec: Retrying): Pick<AgentSpec, "retry"> {
  const retry = spec.retry ?? readSection(spec);
  return retry === undefined ? {} : { retry };
}

/** Returns the section. Undefined: there is none, or it is malformed. */
function readSection(spec: Retrying): RetryPolicy | undefined {
  const section = sectionOf(spec, retrySectionName);
  if (section === undefined || !retrySchema.safeParse(section).success) return undefined;
  return fromJson(RetryPolicySchema, section);
}
