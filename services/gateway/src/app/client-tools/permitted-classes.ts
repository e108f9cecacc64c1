import { permissionClassOf } from "@reeve/agent/tools/permission-classes";
import { PermissionClass } from "@reeve/contracts/tool";
import { z } from "zod";

/** The classes that an operator can permit to tools of clients: none works on what belongs to a deployment. */
const possible: ReadonlySet<PermissionClass> = new Set([
  PermissionClass.SAFE,
  PermissionClass.KNOWLEDGE,
  PermissionClass.NETWORK,
  PermissionClass.EDITOR_MUTATE,
]);

/** Reads a list of classes such as `network,editor_mutate`. Empty: no client can offer tools. */
export const permittedClasses = z.string().transform((text, context) => {
  const names = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const classes = new Set<PermissionClass>();
  for (const name of names) {
    const found = permissionClassOf(name);
    if (found === undefined || !possible.has(found)) {
      context.addIssue({
        code: "custom",
        message: `"${name}" is no class of clients' tools; use safe, knowledge, network, or editor_mutate`,
      });
      return z.NEVER;
    }
    classes.add(found);
  }
  return classes;
});
