import { PermissionClass, PermissionClassSchema } from "@reeve/contracts/tool";

/** The classes that every agent has. */
const defaults: readonly PermissionClass[] = [
  PermissionClass.SAFE,
  PermissionClass.KNOWLEDGE,
  PermissionClass.SUBAGENT,
  PermissionClass.NETWORK,
  PermissionClass.WORKSPACE_WRITE,
];

/** The class of a name such as `execute`, or undefined when there is none. */
export function permissionClassOf(name: string): PermissionClass | undefined {
  const wanted = `PERMISSION_CLASS_${name.toUpperCase()}`;
  const value = PermissionClassSchema.values.find((candidate) => candidate.name === wanted);
  // The numbers of the enum's descriptor are its values.
  return value === undefined || value.number === 0 || name !== name.toLowerCase()
    ? undefined
    : (value.number as PermissionClass);
}

/** The name of a class, as specs write it. */
export function nameOfClass(permissionClass: PermissionClass): string {
  const { name = "" } = PermissionClassSchema.value[permissionClass] ?? {};
  return name.replace("PERMISSION_CLASS_", "").toLowerCase();
}

/** The classes that an agent has: the default ones, those that its spec grants, and beside an editor that of its tools. */
export function grantedClasses(
  names: readonly string[],
  isEditor: boolean,
): ReadonlySet<PermissionClass> {
  const granted = names.map(permissionClassOf).filter((found) => found !== undefined);
  return new Set([...defaults, ...granted, ...(isEditor ? [PermissionClass.EDITOR_MUTATE] : [])]);
}
