import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/client";
import type { ApprovalEscalation } from "@reeve/contracts/approval";

/** Returns when a pending call can be approved, when more people may, and when its approval expires, one line for each time. */
export function renderTimes({
  decidableAfter,
  freeze,
  escalations,
  expiresAt,
}: Pick<Approval, "decidableAfter" | "freeze" | "escalations" | "expiresAt">): readonly string[] {
  const end = freeze?.endsAt === undefined ? "" : `, until ${textOf(freeze.endsAt)}`;
  return [
    ...(freeze === undefined
      ? []
      : [`cannot be approved in the freeze ${freeze.name}${end}; can be rejected`]),
    ...(decidableAfter === undefined
      ? []
      : [`can be approved from ${textOf(decidableAfter)}, and rejected at once`]),
    ...escalations.map(escalationText),
    ...(expiresAt === undefined ? [] : [`expires ${textOf(expiresAt)}`]),
  ];
}

function escalationText({ dueAt, escalatedAt, alternative }: ApprovalEscalation): string {
  const members = [
    ...(alternative?.people ?? []),
    ...(alternative?.groups ?? []).map((group) => `group ${group}`),
  ];
  const whom = members.length === 0 ? "anyone who may approve" : members.join(", ");
  const time = escalatedAt ?? dueAt;
  const verb = escalatedAt === undefined ? "escalates" : "escalated";
  return `${verb}${time === undefined ? "" : ` ${textOf(time)}`} to ${whom}`;
}

function textOf(time: Timestamp): string {
  return timestampDate(time).toISOString();
}
