import type { ToolCall } from "@reeve/contracts/tool";

/** The start of the arguments of a call in one line: `order: "1077", amount: 9.5`. Empty if there are none. */
export function argumentsLine(call: ToolCall | undefined, max = 120): string {
  const text =
    call?.arguments === undefined
      ? (call?.rawArguments ?? "")
      : Object.entries(call.arguments)
          .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
          .join(", ");
  return text.length > max ? `${text.slice(0, max)}…` : text;
}
