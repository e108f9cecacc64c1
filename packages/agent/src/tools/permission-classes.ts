import { PermissionClass, PermissionClassSchema } from "@reeve/contracts/tool";

/** The classes that every agent is granted. */
const defaults: readonly PermissionClass[] = [
  PermissionClass.SAFE,
  PermissionClass.KNOWLEDGE,
  PermissionClass.SUBAGENT,
  PermissionClass.NETWORK,
  PermissionClass.WORKSPACE_WRITE,
];

/** Returns the class with a name such as `execute`, or undefined when it does not exist. */
export function permissionClassOf(name: string): PermissionClass | undefined {
  const enumName = `PERMISSION_CLASS_${name.toUpperCase()}`;
  const value = PermissionClassSchema.values.find((candidate) => candidate.name === enumName);
  // The numbers of the enum's descriptor are its values.
  return value === undefined || value.number === 0 || name !== name.toLowerCase()
    ? undefined
    : (value.number as PermissionClass);
}

/** The names of all classes, as specs write them. */
export const classNames: readonly string[] = PermissionClassSchema.values
  .filter(({ number }) => number !== 0)
  // The numbers of the enum's descriptor are its values.
  .map(({ number }) => nameOfClass(number as PermissionClass));

/** Returns the name of a class as specs write it. */
export function nameOfClass(permissionClass: PermissionClass): string {
  const { name = "" } = PermissionClassSchema.value[permissionClass] ?? {};
  return name.replace("PERMISSION_CLASS_", "").toLowerCase();
}

/**
 * Returns the classes of an agent: the default ones, those that its spec grants, and those that the operator's policy grants.
 * Neither can grant `editor_mutate`: only `isEditing` does, a run of an editor with a node registry. Default: the run has none.
 */
export function grantedClasses(
  names: readonly string[],
  byPolicy: ReadonlySet<PermissionClass> = new Set(),
  isEditing = false,
): ReadonlySet<PermissionClass> {
  const granted = names.map(permissionClassOf).filter((found) => found !== undefined);
  const classes = new Set([...defaults, ...granted, ...byPolicy]);
  if (isEditing) classes.add(PermissionClass.EDITOR_MUTATE);
  else classes.delete(PermissionClass.EDITOR_MUTATE);
  return classes;
}
