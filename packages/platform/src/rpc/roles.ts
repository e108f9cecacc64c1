import type { DescMethod } from "@bufbuild/protobuf";
import { getOption } from "@bufbuild/protobuf";
import { Role, RoleSchema, role as roleOption } from "@reeve/contracts/access/role";
import { ErrorReason } from "@reeve/contracts/error";
import { oncePerDescriptor } from "@reeve/contracts/once-per-descriptor";
import { Failure } from "../failure.ts";

/** Every role, in the order of the contracts. */
export const allRoles: ReadonlySet<Role> = new Set([
  Role.VIEWER,
  Role.RUNNER,
  Role.APPROVER,
  Role.AUTHOR,
  Role.OPERATOR,
]);

/** Returns the name of a role, such as `viewer`. */
export function roleName(role: Role): string {
  return RoleSchema.value[role]?.localName.toLowerCase() ?? `role ${role}`;
}

/** Returns the role with a name, such as `viewer`, or undefined if there is none. */
export function roleNamed(name: string): Role | undefined {
  return [...allRoles].find((role) => roleName(role) === name);
}

const roleNeededBy = oncePerDescriptor((method: DescMethod): Role => getOption(method, roleOption));

/** Whether `roles` permit a method. Every role permits what a viewer may do. */
export function permits(method: DescMethod, roles: ReadonlySet<Role>): boolean {
  const needed = roleNeededBy(method);
  return needed === Role.VIEWER ? roles.size > 0 : roles.has(needed);
}

/**
 * Throws a Failure if `roles` do not permit a method. Every role permits what a viewer may do. A method that declares no
 * role is permitted to nobody.
 */
export function requireRole(
  method: DescMethod,
  { tenant, subject }: { readonly tenant: string; readonly subject: string },
  roles: ReadonlySet<Role>,
): void {
  if (permits(method, roles)) return;
  const needed = roleNeededBy(method);
  const held = [...roles].map(roleName).join(", ");
  const fix =
    needed === Role.UNSPECIFIED
      ? "its contract declares no role"
      : `use a credential with the role ${roleName(needed)}`;
  throw new Failure(
    "denied",
    ErrorReason.PERMISSION_DENIED,
    `${subject} of tenant ${tenant} may not call ${method.name}: the credential has ${held === "" ? "no role" : `only ${held}`}; ${fix}`,
    { metadata: { method: method.name, role: roleName(needed) } },
  );
}
