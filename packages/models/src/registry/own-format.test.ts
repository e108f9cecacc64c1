import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema, ProviderDescriptorSchema } from "@reeve/contracts/agent";
import type {
  ModelProvider,
  ModelRequest,
  PromptMessage,
} from "@reeve/engine/ports/model-provider";
import { expect, test } from "vitest";
import { portableTurn } from "../wire/portable-turn.ts";
import { openRegistered } from "./registered-provider.ts";
import { withOwnFormat } from "./own-format.ts";

const never = new AbortController().signal;

/** A provider of the registry that records which turns it sends verbatim. */
function serverNamed(name: string): { provider: ModelProvider; verbatim: boolean[] } {
  const verbatim: boolean[] = [];
  const record = ({ messages }: ModelRequest) => {
    for (const message of messages) {
      if (message.role !== "verbatim") continue;
      verbatim.push(portableTurn(message, "openai.responses") === undefined);
    }
  };
  const provider = withOwnFormat({
    descriptor: create(ProviderDescriptorSchema, { name }),
    format: "openai.responses",
    async *stream(request) {
      record(request);
      yield { kind: "text", text: "hi" };
    },
    async countTokens(request) {
      record(request);
      return 1;
    },
  });
  return { provider, verbatim };
}

function requestWith(...formats: readonly (string | undefined)[]): ModelRequest {
  const messages = formats.map((format): PromptMessage => {
    const turn = { role: "verbatim", messageJson: "{}", text: "hi", calls: [] } as const;
    return format === undefined ? turn : { ...turn, format };
  });
  const rest = { instructions: "", tools: [], parallelToolCalls: true, temperature: undefined };
  return { ...rest, messages, maxTokens: 1, model: create(ModelSpecSchema) };
}

// Requirement: CFG-18
test("a server gets its own turns verbatim, and those of other servers with its API as text and calls", async () => {
  const { provider, verbatim } = serverNamed("other");
  const request = requestWith(
    "openai.responses/other",
    "openai.responses/first",
    "openai.responses",
    undefined,
  );
  for await (const _ of provider.stream(request, never));
  expect(verbatim).toEqual([true, false, false, true]);
  await provider.countTokens?.(request, never);
  expect(verbatim.slice(4)).toEqual([true, false, false, true]);
});

test.each([
  ["chat", "openai.chat/other"],
  ["responses", "openai.responses/other"],
  ["anthropic", "anthropic.messages/other"],
] as const)(
  "the turns of a registered provider with the API %s have the format %s",
  async (api, format) => {
    const settings = { name: "other", api, base_url: "http://127.0.0.1:1" };
    expect((await openRegistered(settings, { environment: {} }, never)).format).toBe(format);
  },
);
