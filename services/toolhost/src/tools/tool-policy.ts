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

/** A permission class, by its name in a configuration file. */
export const permissionClass = z
  .enum(Object.keys(classes) as (keyof typeof classes)[])
  .transform((name) => classes[name]);

/** The policy of an operator for one external tool. It overrides what the tool says about itself. */
export const toolPolicy = z.strictObject({
  permission_class: permissionClass.optional(),
  idempotent: z.boolean().optional(),
  exclusive_lock: z.string().optional(),
  parallel_safe: z.boolean().optional(),
});
