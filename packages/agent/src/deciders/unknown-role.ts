import { roleNamed } from "@reeve/platform/rpc/roles";

/** Whether a group stands for a role that does not exist. */
export function isUnknownRole(group: string): boolean {
  return group.startsWith("role:") && roleNamed(group.slice("role:".length)) === undefined;
}
