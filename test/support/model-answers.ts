import { Buffer } from "node:buffer";

/** The fields of a request that the scripted model server reads. */
export interface CompletionRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string }[];
  readonly tools?: readonly { readonly function: OfferedTool }[];
}

interface OfferedTool {
  readonly name: string;
  readonly parameters?: JsonSchema;
}

interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** The maximum number of cached answers. */
const maxPrepared = 1_000;
const prepared = new Map<string, Buffer>();

/** Returns one chunk of a streamed answer as a server-sent event. */
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

/** Returns the last chunk, with the usage. */
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

/** Returns a server-sent event with a JSON value. */
export function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export const done = "data: [DONE]\n\n";

/** Returns the tokens of a text of `count` tokens. */
export function tokens(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `word${index} `);
}

/**
 * Returns the whole answer that the model's name asks for, ready to send; undefined if the model does not exist.
 * `text:N`: N tokens. `tool-once`: one call of the first offered tool, then 20 tokens. `tool-chain:N`: N calls, one per
 * turn, then 20 tokens. `tool-fan:N`: N calls in one turn, then 20 tokens. Calls are counted from the last user message.
 * Without offered tools, as in a subtask that such a call starts, the answer is the 20 tokens.
 */
export function answerFor(request: CompletionRequest): Buffer | undefined {
  const [, kind, count = "1"] =
    /^(text|tool-once|tool-chain|tool-fan)(?::(\d+))?$/.exec(request.model) ?? [];
  if (kind === undefined) return undefined;
  if (kind === "text") return textAnswer(Number(count));
  const rounds = roundsSinceInput(request);
  const tool = request.tools?.[0]?.function;
  if (rounds >= Number(count) || tool === undefined) return textAnswer(20);
  const calls = kind === "tool-fan" ? Number(count) : 1;
  return keep(`call:${rounds}:${calls}:${tool.name}:${JSON.stringify(tool.parameters)}`, () =>
    callAnswer(tool.name, JSON.stringify(argumentsFor(tool)), rounds + 1, calls),
  );
}

/** Returns arguments without tools for subtasks: a subtask with its caller's tools would start subtasks too. */
function argumentsFor({ name, parameters = {} }: OfferedTool): unknown {
  if (name !== "run_subtask") return exampleOf(parameters);
  const { properties = {}, required = [] } = parameters;
  const tools: JsonSchema = { type: "array" };
  return exampleOf({ properties: { ...properties, tools }, required: [...required, "tools"] });
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

/** Returns calls with arguments in two parts each. The first call is `call_<first>`. */
function callAnswer(
  name: string,
  argumentsText: string,
  first: number,
  count: number,
): readonly string[] {
  const middle = Math.ceil(argumentsText.length / 2);
  const part = (index: number, text: string) =>
    chunk({ tool_calls: [{ index, function: { arguments: text } }] });
  const calls = Array.from({ length: count }, (_, index) => {
    const id = `call_${first + index}`;
    const head = { index, id, type: "function", function: { name, arguments: "" } };
    return [
      chunk({ tool_calls: [head] }),
      part(index, argumentsText.slice(0, middle)),
      part(index, argumentsText.slice(middle)),
    ];
  });
  return [
    chunk({ role: "assistant", content: null }),
    ...calls.flat(),
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

/** Returns a value that satisfies a simple schema: required properties only. */
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
