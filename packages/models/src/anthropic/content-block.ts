import type { Fields } from "../wire/merge-delta.ts";
import type { AnswerDelta } from "../wire/read-answer.ts";
import { emptyDelta } from "../wire/read-answer.ts";
import { textIn } from "../wire/read-fields.ts";
import { toolInput } from "./tool-input.ts";

/** One block of an answer while it streams. */
export class ContentBlock {
  /** The text of the block before any delta. */
  readonly firstDelta: AnswerDelta;
  readonly #fields: Fields;
  #json = "";

  constructor(fields: Fields) {
    this.#fields = { ...fields };
    this.firstDelta = {
      text: fields["type"] === "text" ? textIn(fields, "text") : "",
      reasoning: fields["type"] === "thinking" ? textIn(fields, "thinking") : "",
    };
  }

  /** Adds a delta. Ignores unknown kinds. */
  add(delta: Fields): AnswerDelta {
    switch (delta["type"]) {
      case "text_delta":
        return { text: this.#append("text", delta), reasoning: "" };
      case "thinking_delta":
        return { text: "", reasoning: this.#append("thinking", delta) };
      case "signature_delta":
        this.#append("signature", delta);
        return emptyDelta;
      case "input_json_delta":
        this.#json += textIn(delta, "partial_json");
        return emptyDelta;
      case "citations_delta":
        this.#fields["citations"] = [...listIn(this.#fields, "citations"), delta["citation"]];
        return emptyDelta;
      default:
        return emptyDelta;
    }
  }

  get isCall(): boolean {
    return this.#fields["type"] === "tool_use";
  }

  get id(): string {
    return textIn(this.#fields, "id");
  }

  get name(): string {
    return textIn(this.#fields, "name");
  }

  /** The arguments as the model wrote them. */
  get argumentsText(): string {
    return this.#json === "" ? JSON.stringify(this.#fields["input"] ?? {}) : this.#json;
  }

  /** The complete block, to be sent back. */
  get complete(): Fields {
    if (this.#json === "") return this.#fields;
    return { ...this.#fields, input: toolInput(this.#json) };
  }

  #append(key: string, delta: Fields): string {
    const added = textIn(delta, key);
    this.#fields[key] = textIn(this.#fields, key) + added;
    return added;
  }
}

function listIn(fields: Fields, key: string): readonly unknown[] {
  const value = fields[key];
  return Array.isArray(value) ? value : [];
}
