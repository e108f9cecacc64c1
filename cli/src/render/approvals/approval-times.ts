import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/client";

/** Returns when a pending call can be approved, and when its approval expires, one line for each time. */
export function renderTimes({
  decidableAfter,
  freeze,
  expiresAt,
}: Pick<Approval, "decidableAfter" | "freeze" | "expiresAt">): readonly string[] {
  const end = freeze?.endsAt === undefined ? "" : `, until ${textOf(freeze.endsAt)}`;
  return [
    ...(freeze === undefined
      ? []
      : [`cannot be approved in the freeze ${freeze.name}${end}; can be rejected`]),
    ...(decidableAfter === undefined
      ? []
      : [`can be approved from ${textOf(decidableAfter)}, and rejected at once`]),
    ...(expiresAt === undefined ? [] : [`expires ${textOf(expiresAt)}`]),
  ];
}

function textOf(time: Timestamp): string {
  return timestampDate(time).toISOString();
}
