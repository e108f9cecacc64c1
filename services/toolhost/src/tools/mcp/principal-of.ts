import type { CallContext } from "@reeve/calls/ports/tool";

/** How a server receives who calls: in `_meta` of a call, in headers of its request, or not at all. */
export type PrincipalSetting = "none" | "meta" | "headers";

type Principal = Pick<CallContext, "tenant" | "startedBy">;

/** Returns `_meta` of a call: its trace, and who calls if the server wants that. Undefined: neither. */
export function metaOf(
  setting: PrincipalSetting,
  { traceparent, tenant, startedBy }: Principal & Pick<CallContext, "traceparent">,
): Readonly<Record<string, string>> | undefined {
  const meta = {
    ...(traceparent !== "" && { traceparent }),
    ...(setting === "meta" && { "reeve/tenant": tenant, "reeve/subject": startedBy }),
  };
  return Object.keys(meta).length === 0 ? undefined : meta;
}

/** Returns the headers that tell a server who calls, percent-encoded: a subject may have any characters. */
export function principalHeaders(
  setting: PrincipalSetting,
  { tenant, startedBy }: Principal,
): Readonly<Record<string, string>> | undefined {
  if (setting !== "headers") return undefined;
  return { "reeve-tenant": encoded(tenant), "reeve-subject": encoded(startedBy) };
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
