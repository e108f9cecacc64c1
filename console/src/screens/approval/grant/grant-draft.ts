import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { GrantRequestSchema, GrantScope } from "@reeve/contracts/approval";

/** The rule that a decision makes. */
export type GrantDraft = MessageInitShape<typeof GrantRequestSchema>;

interface WrittenGrant {
  readonly rule: string;
  readonly scope: GrantScope;
  readonly uses: string;
  readonly hours: string;
}

const maxUses = 1_000;
const maxHours = 720;

/** Reads what a person has written. Undefined: a number is missing or out of its limits, or there is no rule. */
export function readGrantDraft({ rule, scope, uses, hours }: WrittenGrant): GrantDraft | undefined {
  const [count, length] = [Number(uses), Number(hours)];
  const isCount = Number.isInteger(count) && count >= 1 && count <= maxUses;
  if (rule.trim() === "" || !isCount || !(length > 0 && length <= maxHours)) return undefined;
  const lifetime = durationFromMs(Math.round(length * 3_600_000));
  return { rule: rule.trim(), scope, maxUses: count, lifetime };
}
