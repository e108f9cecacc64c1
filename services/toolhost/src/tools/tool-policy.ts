import { PermissionClass } from "@reeve/contracts/tool";
import { z } from "zod";

const classes = {
  safe: PermissionClass.SAFE,
  knowledge: PermissionClass.KNOWLEDGE,
  network: PermissionClass.NETWORK,
  workspace_write: PermissionClass.WORKSPACE_WRITE,
  editor_mutate: PermissionClass.EDITOR_MUTATE,
  secrets: PermissionClass.SECRETS,
  execute: PermissionClass.EXECUTE,
} as const;

/** A class of permissions by its name in a configuration file. */
export const permissionClass = z
  .enum(Object.keys(classes) as (keyof typeof classes)[])
  .transform((name) => classes[name]);

/** What an operator says of one tool that somebody else offers; it goes over what the tool says of itself. */
export const toolPolicy = z.strictObject({
  permission_class: permissionClass.optional(),
  idempotent: z.boolean().optional(),
  exclusive_lock: z.string().optional(),
  parallel_safe: z.boolean().optional(),
});
