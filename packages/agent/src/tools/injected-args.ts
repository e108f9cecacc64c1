import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { declaresProperty } from "../schema/declares-property.ts";

/** Returns the tools as the model sees them: copies whose schemas also have the injected arguments, as optional strings. */
export function exposeTools(
  tools: readonly ToolDescriptor[],
  injected: Readonly<Record<string, string>>,
): readonly ToolDescriptor[] {
  const added = Object.entries(injected).map(([name, description]) => [
    name,
    { type: "string", description },
  ]);
  if (added.length === 0) return tools;
  return tools.map((tool) => {
    const schema = tool.inputSchema ?? { type: "object" };
    const properties = { ...objectOf(schema["properties"]), ...Object.fromEntries(added) };
    return create(ToolDescriptorSchema, { ...tool, inputSchema: { ...schema, properties } });
  });
}

/** Splits the arguments of a call into those that the tool gets and those that are only recorded. */
export function splitInjected(
  args: JsonObject,
  injectedKeys: readonly string[],
): { readonly executable: JsonObject; readonly injected: JsonObject } {
  const keys = new Set(injectedKeys);
  const entries = Object.entries(args);
  return {
    executable: Object.fromEntries(entries.filter(([key]) => !keys.has(key))),
    injected: Object.fromEntries(entries.filter(([key]) => keys.has(key))),
  };
}

/** Returns the first tool that has a parameter with this name itself. Such an argument cannot be injected. */
export function toolWithParameter(
  tools: readonly ToolDescriptor[],
  name: string,
): ToolDescriptor | undefined {
  return tools.find(
    ({ inputSchema }) => inputSchema !== undefined && declaresProperty(inputSchema, name),
  );
}

function objectOf(value: JsonObject[string] | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
