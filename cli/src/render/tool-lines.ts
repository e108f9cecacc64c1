import type { JsonObject } from "@bufbuild/protobuf";
import type { ToolResultEvent } from "@reeve/contracts/run";
import type { ToolCall, ToolProgress } from "@reeve/contracts/tool";
import type { Colours } from "../terminal.ts";
import { formatMs } from "./numbers.ts";
import { oneLine } from "./plain-text.ts";

export function renderCall(call: ToolCall, colours: Colours, width: number): readonly string[] {
  const name = oneLine(call.name, 128);
  const given = call.arguments === undefined ? call.rawArguments : shortArguments(call.arguments);
  const short = given === "" ? "" : ` ${colours.dim(oneLine(given, width))}`;
  return [`    ${colours.cyan("→")} ${colours.bold(name)}${short}`];
}

export function renderProgress(
  { name, progress, total, message }: ToolProgress,
  colours: Colours,
  width: number,
): readonly string[] {
  const far = total === undefined ? `${progress}` : `${progress}/${total}`;
  return [
    `    ${colours.dim(`… ${oneLine(name, 128)} ${far} ${oneLine(message, width)}`.trimEnd())}`,
  ];
}

export function renderResult(
  { result, success, error, durationMs }: ToolResultEvent,
  colours: Colours,
  width: number,
): readonly string[] {
  const name = oneLine(result?.name ?? "", 128);
  const ms = colours.dim(formatMs(durationMs));
  const said = oneLine(success ? (result?.content ?? "") : error || (result?.content ?? ""), width);
  return success
    ? [`    ${colours.green("✓")} ${name} ${ms} ${colours.dim(said)}`]
    : [`    ${colours.red("✗")} ${name} ${ms} ${said}`];
}

/** Arguments as a person skims them: `path="data.csv", limit=10`; long values are cut. */
export function shortArguments(given: JsonObject): string {
  return Object.entries(given)
    .map(([name, value]) => `${name}=${oneLine(JSON.stringify(value), 60)}`)
    .join(", ");
}
