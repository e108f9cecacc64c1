import type { JsonObject } from "@bufbuild/protobuf";
import { limitsOf } from "../budget/limits.ts";
import type { RunState } from "../state/run-state.ts";
import type { RuntimeToolResult } from "./runtime-tool-result.ts";
import { textPart } from "./text-part.ts";
import { numberArgument, errorResult, successResult, textArgument } from "./runtime-tool-result.ts";

const maxKeyCharacters = 128;
const maxValueCharacters = 65_536;
const maxEntries = 200;
/** The prefix of the keys that hold results of subtasks. */
const reservedPrefix = "task:";

export function memoryList({ memory }: RunState): RuntimeToolResult {
  const entries = [...memory].map(([key, value]) => ({ key, characters: value.length }));
  return successResult(JSON.stringify(entries));
}

/** Returns as much of an entry as fits into a result, with the offset of the rest. */
export function memoryRead(
  state: RunState,
  args: JsonObject,
  resultBytes = limitsOf(state).resultBytes,
): RuntimeToolResult {
  const key = textArgument(args, "key");
  const value = state.memory.get(key);
  if (value === undefined) {
    const known = [...state.memory.keys()].join(", ");
    return errorResult(`there is no entry "${key}"; there are: ${known === "" ? "none" : known}`);
  }
  const offset = numberArgument(args, "offset") ?? 0;
  return successResult(textPart(value, offset, resultBytes));
}

export function memoryWrite({ memory }: RunState, args: JsonObject): RuntimeToolResult {
  const key = textArgument(args, "key");
  const value = textArgument(args, "value");
  if (key === "" || key.length > maxKeyCharacters) {
    return errorResult(`a key has 1 to ${maxKeyCharacters} characters; this one has ${key.length}`);
  }
  if (key.startsWith(reservedPrefix)) {
    return errorResult(
      `keys that begin with ${reservedPrefix} are for results of subtasks; choose another`,
    );
  }
  if (value.length > maxValueCharacters) {
    return errorResult(
      `a value has at most ${maxValueCharacters} characters; this one has ${value.length}: keep it in a file, or in parts`,
    );
  }
  if (!memory.has(key) && memory.size >= maxEntries) {
    return errorResult(
      `the memory already has ${maxEntries} entries, its maximum; overwrite an old one`,
    );
  }
  return successResult(`kept under ${key}`, { case: "memoryWritten", value: { key, value } });
}
