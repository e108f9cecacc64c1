import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import type { ModelPart, ModelRequest, PromptMessage } from "../../../ports/model-provider.ts";
import { ModelFailure } from "../../../ports/model-provider.ts";
import { parseScript } from "./script.ts";
import { scriptedProvider } from "./scripted-provider.ts";

const providerOf = (script: string) => scriptedProvider([parseScript(script, "weather.yaml")]);

function requestOf(
  messages: readonly PromptMessage[],
  { model = "weather", ...others }: Partial<Omit<ModelRequest, "model">> & { model?: string } = {},
): ModelRequest {
  return {
    model: create(ModelSpecSchema, { id: "m", upstreamName: model }),
    instructions: "",
    messages,
    tools: [],
    temperature: undefined,
    parallelToolCalls: true,
    maxTokens: undefined,
    ...others,
  };
}

function play(
  script: string,
  messages: readonly PromptMessage[],
  { signal = new AbortController().signal, model = "weather" } = {},
): AsyncIterable<ModelPart> {
  return providerOf(script).stream(requestOf(messages, { model }), signal);
}

async function turnOf(script: string, messages: readonly PromptMessage[]) {
  const part = (await Array.fromAsync(play(script, messages))).at(-1);
  if (part?.kind !== "turn") throw new Error("no turn");
  return part.turn;
}

async function textOf(script: string, messages: readonly PromptMessage[]): Promise<unknown> {
  return Reflect.get(JSON.parse((await turnOf(script, messages)).messageJson) as object, "content");
}

const asked: PromptMessage = { role: "user", text: "What about Bern?" };
const called: PromptMessage = { role: "verbatim", messageJson: "{}" };
const gave = (content: string, isError = false): PromptMessage => ({
  role: "tool",
  providerCallId: "call_1_1",
  name: "forecast",
  content,
  isError,
});

const weather = `
turns:
  - reasoning: I need it.
    text: "Let me  look."
    tool_calls:
      - { name: forecast, arguments: { question: "{{ input }}" } }
      - { name: forecast, arguments: "{not json" }
  - alternatives:
      - when: { tool: forecast, is_error: true }
        text: "None: {{ tools.forecast }}"
      - when: { tool: forecast, matches: "rain|snow" }
        text: Take an umbrella.
      - when: { input: "Bern" }
        text: "In Bern: {{ tools.forecast.days.0.sky }}, {{ tools.forecast.days.0 }}."
`;

describe("a scripted model", () => {
  test("streams reasoning and text word by word, then gives its turn", async () => {
    const parts = await Array.fromAsync(play(weather, [asked]));
    expect(parts.slice(0, -1)).toEqual([
      { kind: "reasoning", text: "I " },
      { kind: "reasoning", text: "need " },
      { kind: "reasoning", text: "it." },
      { kind: "text", text: "Let " },
      { kind: "text", text: "me  " },
      { kind: "text", text: "look." },
    ]);
    const calls = [
      {
        providerCallId: "call_1_1",
        name: "forecast",
        argumentsText: `{"question":"What about Bern?"}`,
      },
      { providerCallId: "call_1_2", name: "forecast", argumentsText: "{not json" },
    ];
    expect(parts.at(-1)).toEqual({
      kind: "turn",
      turn: {
        messageJson: expect.stringContaining(`"content":"Let me  look."`),
        finishReason: "tool_calls",
        calls,
        usage: undefined,
        model: "weather",
      },
    });
  });

  test("takes the first alternative whose condition holds for the last result", async () => {
    const bern = `{"days":[{"sky":"sunny"}]}`;
    expect(await textOf(weather, [asked, called, gave("down", true)])).toBe("None: down");
    expect(await textOf(weather, [asked, called, gave("snow")])).toBe("Take an umbrella.");
    expect(await textOf(weather, [asked, called, gave("rain"), gave(bern)])).toBe(
      `In Bern: sunny, {"sky":"sunny"}.`,
    );
  });

  test("keeps the type of a value that is quoted alone", async () => {
    const script = `
turns:
  - tool_calls: [{ name: sum, arguments: { n: "{{ tools.forecast.n }}", all: ["{{tools.forecast}}"] } }]
`;
    const { calls } = await turnOf(script, [asked, gave(`{"n":3}`)]);
    expect(calls[0]?.argumentsText).toBe(`{"n":3,"all":["{\\"n\\":3}"]}`);
  });

  test("leaves other double braces alone", async () => {
    const script = `turns: [{ text: "f'{{total}}' {{ input.x }} {{ tools }}" }]`;
    expect(await textOf(script, [asked])).toBe("f'{{total}}' {{ input.x }} {{ tools }}");
  });

  test("quotes a result as it is, even with the signs of a replacement", async () => {
    const script = `turns: [{ text: "a {{ tools.forecast }} b" }]`;
    expect(await textOf(script, [asked, gave("$& $1")])).toBe("a $& $1 b");
  });

  test.each([
    [
      "its end is reached",
      weather,
      [asked, called, called],
      "script weather has no turn 3: add one to weather.yaml",
    ],
    [
      "no alternative holds",
      weather,
      [{ role: "user", text: "Rome?" }, called, gave("?")],
      "whose `when` holds",
    ],
    [
      "a result is not JSON",
      weather,
      [asked, called, gave("sun")],
      "turn 2 of weather.yaml: {{ tools.forecast.days.0.sky }}: the result of forecast is not JSON",
    ],
    ["a result lacks the value", weather, [asked, called, gave(`{"days":[]}`)], "has no 0"],
    [
      "a tool gave nothing",
      `turns: [{ text: "{{ tools.forecast }}" }]`,
      [asked],
      "forecast has given no result",
    ],
    [
      "a value is only inherited",
      `turns: [{ text: "{{ tools.forecast.constructor }}" }]`,
      [gave("{}")],
      "has no constructor",
    ],
  ] as const)("says what is missing when %s", async (_, script, messages, message) => {
    const playing = Array.fromAsync(play(script, messages));
    await expect(playing).rejects.toThrow(ModelFailure);
    await expect(playing).rejects.toMatchObject({
      reason: "invalid",
      message: expect.stringContaining(message),
    });
  });

  test("names the scripts that there are when asked for another", async () => {
    await expect(Array.fromAsync(play(weather, [asked], { model: "rain" }))).rejects.toMatchObject({
      reason: "invalid",
      message: "no script rain; there are: weather",
    });
  });

  test("stops with the reason of the signal, also between two slow words", async () => {
    const end = new AbortController();
    const reason = new Error("enough");
    const heard: string[] = [];
    const listening = async () => {
      const script = "pace_ms: 60000\nturns: [{ text: one two }]";
      for await (const part of play(script, [asked], { signal: end.signal })) heard.push(part.kind);
    };
    const listened = listening();
    end.abort(reason);
    await expect(listened).rejects.toBe(reason);
    expect(heard).toEqual([]);
  });
});

describe("a scripted model that plays several parts", () => {
  const parts = `
conversations:
  - when: { system: "(?i:planner)" }
    turns: [{ text: a plan }]
  - when: { input: "^part", tools_include: finish }
    turns: [{ text: a part }, { text: the end of a part }]
  - when: { model: m2 }
    turns: [{ text: small }]
turns: [{ text: the root }, { text: the end }]
`;
  const said = async (request: ModelRequest) => {
    const heard = await Array.fromAsync(
      providerOf(parts).stream(request, new AbortController().signal),
    );
    return heard.map((part) => (part.kind === "turn" ? "" : part.text)).join("");
  };
  const part: PromptMessage = { role: "user", text: "part one" };
  const finish = { tools: [create(ToolDescriptorSchema, { name: "finish" })] };

  test("knows each by what is asked, and plays the rest where none fits", async () => {
    expect(await said(requestOf([asked], { instructions: "You are a Planner" }))).toBe("a plan");
    expect(await said(requestOf([part], finish))).toBe("a part");
    expect(await said(requestOf([part]))).toBe("the root");
    expect(await said(requestOf([asked, called]))).toBe("the end");
    const small = create(ModelSpecSchema, { id: "m2", upstreamName: "weather" });
    expect(await said({ ...requestOf([asked]), model: small })).toBe("small");
  });

  test("stays in its part when the user says more", async () => {
    const more: PromptMessage = { role: "user", text: "go on" };
    expect(await said(requestOf([part, called, more], finish))).toBe("the end of a part");
  });

  test("says what is missing when it knows no such part", async () => {
    const only = "conversations: [{ when: { system: x }, turns: [{ text: hi }] }]";
    await expect(Array.fromAsync(play(only, [asked]))).rejects.toThrow(
      /no conversation whose `when` holds: add one to weather.yaml/,
    );
  });

  test("hears what the runtime says beside the latest message, and no other", async () => {
    const script = `
turns:
  - alternatives:
      - when: { notes: "9[0-9]%" }
        text: in a hurry
      - text: calm
`;
    const noted: PromptMessage = { ...asked, notes: ["used 95% of the window"] };
    expect(await textOf(script, [noted])).toBe("in a hurry");
    expect(await textOf(script, [noted, asked])).toBe("calm");
  });
});

describe("a scripted turn", () => {
  test("tells the usage that the script gives", async () => {
    const script = "turns: [{ text: hi, usage: { input_tokens: 900, output_tokens: 20 } }]";
    expect((await turnOf(script, [asked])).usage).toEqual({
      inputTokens: 900,
      outputTokens: 20,
      cachedInputTokens: 0,
      reasoningTokens: 0,
    });
  });

  test("fails as a provider would", async () => {
    const script = `
turns:
  - fail: { reason: rate_limited, message: slow down, retry_after_ms: 50 }
  - fail: { reason: unavailable, message: gone for good, retryable: false }
`;
    await expect(Array.fromAsync(play(script, [asked]))).rejects.toMatchObject({
      name: "ModelFailure",
      reason: "rate_limited",
      message: "slow down",
      retryable: true,
      retryAfterMs: 50,
    });
    await expect(Array.fromAsync(play(script, [asked, called]))).rejects.toMatchObject({
      reason: "unavailable",
      retryable: false,
    });
  });

  test("is said after as many failures of its prompt as it asks for, and again from the start", async () => {
    const provider = providerOf(`
turns:
  - text: at last
    fail: { reason: unavailable, message: not yet, times: 2, after_words: 1 }
`);
    const attempt = async (text: string) => {
      const heard: string[] = [];
      const request = requestOf([{ role: "user", text }]);
      try {
        for await (const part of provider.stream(request, new AbortController().signal)) {
          heard.push(part.kind === "turn" ? "turn" : part.text);
        }
      } catch (error) {
        heard.push(error instanceof ModelFailure ? error.message : "another error");
      }
      return heard;
    };
    const failed = ["at ", "not yet"];
    const answered = ["at ", "last", "turn"];
    expect(await attempt("a")).toEqual(failed);
    expect(await attempt("b")).toEqual(failed);
    expect(await attempt("a")).toEqual(failed);
    expect(await attempt("a")).toEqual(answered);
    expect(await attempt("b")).toEqual(failed);
    expect(await attempt("a")).toEqual(failed);
  });
});
