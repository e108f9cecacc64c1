import { Buffer } from "node:buffer";

/** What a request asks of the scripted model server, as far as it reads it. */
export interface CompletionRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string }[];
  readonly tools?: readonly {
    readonly function: { readonly name: string; readonly parameters?: JsonSchema };
  }[];
}

interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** How many answers are kept ready. */
const maxPrepared = 1_000;
const prepared = new Map<string, Buffer>();

/** One chunk of a streamed answer as a server-sent event. */
export function chunk(delta: object, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return event({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "scripted",
    choices,
  });
}

/** The last chunk: what the answer used. */
export function usageChunk(inputTokens: number, outputTokens: number): string {
  const usage = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
  return event({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "scripted",
    choices: [],
    usage,
  });
}

/** A server-sent event with a value as JSON. */
export function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export const done = "data: [DONE]\n\n";

/** The tokens of a text of `count` tokens. */
export function tokens(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `word${index} `);
}

/**
 * The whole answer that the name of the model asks for, ready to be sent; undefined: no such model.
 * `text:N`: N tokens. `tool-once`: one call of the first tool that is offered, then 20 tokens. `tool-chain:N`: N calls,
 * one a turn, then 20 tokens. Calls are counted from the last message of the user.
 */
export function answerFor(request: CompletionRequest): Buffer | undefined {
  const [, kind, count = "1"] =
    /^(text|tool-once|tool-chain)(?::(\d+))?$/.exec(request.model) ?? [];
  if (kind === undefined) return undefined;
  if (kind === "text") return textAnswer(Number(count));
  const rounds = roundsSinceInput(request);
  const tool = request.tools?.[0]?.function;
  if (rounds >= Number(count) || tool === undefined) return textAnswer(20);
  return keep(`call:${rounds}:${tool.name}:${JSON.stringify(tool.parameters)}`, () =>
    callAnswer(tool.name, JSON.stringify(exampleOf(tool.parameters ?? {})), rounds + 1),
  );
}

function roundsSinceInput({ messages }: CompletionRequest): number {
  const input = messages.findLastIndex(({ role }) => role === "user");
  return messages.slice(input + 1).filter(({ role }) => role === "tool").length;
}

function textAnswer(count: number): Buffer {
  return keep(`text:${count}`, () => [
    chunk({ role: "assistant", content: "" }),
    ...tokens(count).map((content) => chunk({ content })),
    chunk({}, "stop"),
    usageChunk(10, count),
    done,
  ]);
}

/** A call whose arguments come in two pieces. */
function callAnswer(name: string, argumentsText: string, round: number): readonly string[] {
  const middle = Math.ceil(argumentsText.length / 2);
  const part = (text: string) =>
    chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] });
  const head = {
    index: 0,
    id: `call_${round}`,
    type: "function",
    function: { name, arguments: "" },
  };
  return [
    chunk({ role: "assistant", content: null }),
    chunk({ tool_calls: [head] }),
    part(argumentsText.slice(0, middle)),
    part(argumentsText.slice(middle)),
    chunk({}, "tool_calls"),
    usageChunk(10, 10),
    done,
  ];
}

function keep(key: string, make: () => readonly string[]): Buffer {
  const known = prepared.get(key);
  if (known !== undefined) return known;
  if (prepared.size >= maxPrepared) prepared.clear();
  const made = Buffer.from(make().join(""));
  prepared.set(key, made);
  return made;
}

/** A value that satisfies the schema of simple arguments: required properties only. */
function exampleOf(schema: JsonSchema): unknown {
  if (schema.enum !== undefined) return schema.enum[0];
  switch (schema.type) {
    case "string":
      return "reeve";
    case "number":
    case "integer":
      return 1;
    case "boolean":
      return true;
    case "array":
      return [];
    default: {
      const required = schema.required ?? [];
      return Object.fromEntries(
        required.map((name) => [name, exampleOf(schema.properties?.[name] ?? { type: "string" })]),
      );
    }
  }
}
