import type { JsonObject } from "@bufbuild/protobuf";
import type { ToolDescriptor } from "@reeve/contracts/tool";

/** Name of the operation of toolhosts that inspects the files of a call. No catalog lists it, so that no model can call it. */
export const inspectFilesName = "inspect_files";

/** How many paths an approval may be bound to. */
export const maxNamedPaths = 256;

/** Returns the paths of workspace files that a call names in the arguments that its tool declares, without repetitions. */
export function namedPaths(
  { pathArguments }: Pick<ToolDescriptor, "pathArguments">,
  args: JsonObject,
): readonly string[] {
  const paths = pathArguments.flatMap((name) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    const values = Array.isArray(value) ? value : [value];
    return values.filter((each) => typeof each === "string").filter((each) => each !== "");
  });
  return [...new Set(paths)];
}
