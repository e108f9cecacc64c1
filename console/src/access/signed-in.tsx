import { roleName, useAccess } from "./use-access.ts";

/** Who has signed in in this tab, and with which roles. */
export function SignedIn() {
  const { caller } = useAccess();
  if (caller === undefined) return null;
  const { subject, tenant, roles, groups } = caller;
  const named = groups.length === 0 ? "" : `, groups: ${groups.join(", ")}`;
  return (
    <p
      className="signed-in"
      aria-label={`Signed in as ${subject} of tenant ${tenant}`}
      title={`roles: ${roles.map(roleName).join(", ")}${named}`}
    >
      {subject}
      <span className="muted"> · {tenant}</span>
      <span className="sub">{roles.map(roleName).join(", ")}</span>
    </p>
  );
}
