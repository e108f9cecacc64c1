import type { ModelToolCall } from "@reeve/engine/ports/model-provider";
import { distinctIds } from "../wire/call-ids.ts";
import { malformed } from "../wire/malformed.ts";
import type { Fields } from "../wire/merge-delta.ts";
import { isFields, mergeDelta, emptyFields } from "../wire/merge-delta.ts";

interface PartialCall {
  readonly index: number;
  readonly fields: Fields;
  readonly function: Fields;
  id: string;
  name: string;
  argumentsText: string;
}

const callFields = new Set(["index", "id", "type", "function"]);
const functionFields = new Set(["name", "arguments"]);

/** Assembles the calls of a turn from deltas that may be split anywhere, and may lack or repeat ids and indexes. */
export class ToolCallAssembly {
  readonly #calls: PartialCall[] = [];

  /** Adds the `tool_calls` of one delta. Throws a ModelFailure if they are malformed. */
  add(deltas: unknown): void {
    if (deltas === null || deltas === undefined) return;
    if (!Array.isArray(deltas)) throw malformed("tool_calls is not a list");
    for (const delta of deltas as readonly unknown[]) {
      if (!isFields(delta)) throw malformed("a tool call is not an object");
      this.#addOne(delta);
    }
  }

  /**
   * Returns the calls in their order, and the same calls in the provider's format. Keeps the ids of the provider, and
   * replaces those that are missing or not unique, because results are matched with calls by id.
   */
  finish(): { readonly calls: readonly ModelToolCall[]; readonly verbatim: readonly Fields[] } {
    const inOrder = this.#calls.toSorted((one, other) => one.index - other.index);
    const ids = distinctIds(inOrder.map(({ id }) => id));
    const calls = inOrder.map(({ name, argumentsText }, position) => {
      if (name === "") throw malformed("a tool call has no name");
      return { providerCallId: ids[position] ?? "", name, argumentsText };
    });
    const verbatim = inOrder.map((call, position) => ({
      ...call.fields,
      id: ids[position],
      type: call.fields["type"] ?? "function",
      function: { ...call.function, name: call.name, arguments: call.argumentsText },
    }));
    return { calls, verbatim };
  }

  #addOne(delta: Fields): void {
    const called = delta["function"] ?? {};
    if (!isFields(called)) throw malformed("the function of a tool call is not an object");
    const name = called["name"] ?? "";
    const id = delta["id"] ?? "";
    if (typeof name !== "string" || typeof id !== "string") {
      throw malformed("the id or the name of a tool call is not a string");
    }
    const call = this.#find(delta["index"], id, name);
    if (call.id === "") call.id = id;
    // Some providers repeat the complete name in each delta, others split it.
    if (call.name !== name) call.name += name;
    call.argumentsText += argumentsText(called["arguments"]);
    if (typeof delta["type"] === "string") call.fields["type"] = delta["type"];
    mergeDelta(call.fields, delta, callFields);
    mergeDelta(call.function, called, functionFields);
  }

  /** Returns the call that a delta continues, or a new one. */
  #find(index: unknown, id: string, name: string): PartialCall {
    if (typeof index !== "number") {
      return this.#findUnnumbered(id, name) ?? this.#open(this.#calls.at(-1)?.index ?? 0);
    }
    const known = this.#calls.findLast((call) => call.index === index);
    if (known === undefined) return this.#open(index);
    // Some providers send the same index for all calls: then a new id with a name starts a new call.
    const isAnother = name !== "" && id !== "" && known.id !== "" && known.id !== id;
    return isAnother ? this.#open(index) : known;
  }

  #findUnnumbered(id: string, name: string): PartialCall | undefined {
    if (id === "") return name === "" ? this.#calls.at(-1) : undefined;
    const known = this.#calls.findLast((call) => call.id === id);
    if (known !== undefined || name !== "") return known;
    return this.#calls.findLast((call) => call.id === "");
  }

  #open(index: number): PartialCall {
    const call = {
      index,
      fields: emptyFields(),
      function: emptyFields(),
      id: "",
      name: "",
      argumentsText: "",
    };
    this.#calls.push(call);
    return call;
  }
}

/** Most providers send a string; some send the arguments of a complete call as an object. */
function argumentsText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
