import { readFileSync } from "node:fs";
import { join } from "node:path";
import { anthropicProvider } from "../src/anthropic/anthropic-provider.ts";
import { MessageAssembly } from "../src/anthropic/assemble-message.ts";
import { TurnAssembly } from "../src/chat/assemble-turn.ts";
import { chatProvider } from "../src/chat/chat-provider.ts";
import { ProviderFailures } from "../src/wire/provider-failures.ts";
import type { ProviderOptions } from "../src/wire/provider-options.ts";
import type { AnswerAssembly } from "../src/wire/read-answer.ts";
import { ResponseAssembly } from "../src/responses/assemble-response.ts";
import { responsesProvider } from "../src/responses/responses-provider.ts";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";

type Body = Readonly<Record<string, unknown>>;

/** One API, as the tests that all APIs share need it. */
export interface Api {
  /** The format of its messages, and the folder of its fixtures. */
  readonly format: string;
  readonly path: string;
  open(serverUrl: string, options: Omit<ProviderOptions, "baseUrl">): ModelProvider;
  assembly(): AnswerAssembly;
  /** The messages or items of a request. */
  conversation(body: Body): readonly unknown[];
  /** The ids of the calls in a recorded turn. */
  idsIn(messageJson: string): readonly unknown[];
}

interface Recorded {
  readonly tool_calls?: readonly Body[];
  readonly output?: readonly Body[];
  readonly content?: readonly Body[];
}

/** Parses a message that a provider recorded in its own format. */
const recorded = (messageJson: string): Recorded => JSON.parse(messageJson) as Recorded;

export const failures = new ProviderFailures("test", "", () => undefined);

export const apis: readonly Api[] = [
  {
    format: "openai.chat",
    path: "/v1/chat/completions",
    open: (baseUrl, options) => chatProvider({ ...options, baseUrl }),
    assembly: () => new TurnAssembly(),
    conversation: ({ messages }) => messages as readonly unknown[],
    idsIn: (json) => (recorded(json).tool_calls ?? []).map(({ id }) => id),
  },
  {
    format: "openai.responses",
    path: "/v1/responses",
    open: (baseUrl, options) => responsesProvider({ ...options, baseUrl }),
    assembly: () => new ResponseAssembly(failures),
    conversation: ({ input }) => input as readonly unknown[],
    idsIn: (json) => (recorded(json).output ?? []).map(({ call_id: id }) => id),
  },
  {
    format: "anthropic.messages",
    path: "/v1/messages",
    open: (url, options) => anthropicProvider({ ...options, baseUrl: url.replace(/\/v1$/, "") }),
    assembly: () => new MessageAssembly(),
    conversation: ({ messages }) => messages as readonly unknown[],
    idsIn: (json) => (recorded(json).content ?? []).map(({ id }) => id),
  },
];

/** Returns a recorded stream of an API, byte for byte. */
export function fixture({ format }: Api, name: string): Buffer {
  return readFileSync(join(import.meta.dirname, "fixtures", format, `${name}.sse`));
}

/** A refusal of an API, and the expected failure. */
export interface Refusal {
  readonly name: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly reason: string;
  /** Default: follows from the reason. */
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
}

/** Returns the refusals of an API. `KEY` in their messages stands for the key. */
export function refusals(api: Api): readonly Refusal[] {
  return values(api, "errors") as readonly Refusal[];
}

/** Returns what is sent back of the recorded stream `reasoning`. */
export function reasoningSentBack(api: Api): readonly unknown[] {
  return values(api, "reasoning");
}

function values({ format }: Api, name: string): readonly unknown[] {
  const text = readFileSync(join(import.meta.dirname, "fixtures", format, `${name}.json`), "utf8");
  // A fixture of this repository, without a schema.
  return JSON.parse(text) as readonly unknown[];
}
