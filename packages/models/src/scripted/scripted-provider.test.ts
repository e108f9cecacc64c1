import { describe, expect, test } from "vitest";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import {
  userMessage,
  toolTurn,
  toolResult,
  play,
  textOf,
  turnOf,
} from "../../test/support/scripted.ts";

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
  test("streams reasoning and text word by word, and then its turn", async () => {
    const parts = await Array.fromAsync(play(weather, [userMessage]));
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

  test("uses the first alternative whose condition matches the last result", async () => {
    const bern = `{"days":[{"sky":"sunny"}]}`;
    expect(await textOf(weather, [userMessage, toolTurn, toolResult("down", true)])).toBe(
      "None: down",
    );
    expect(await textOf(weather, [userMessage, toolTurn, toolResult("snow")])).toBe(
      "Take an umbrella.",
    );
    expect(
      await textOf(weather, [userMessage, toolTurn, toolResult("rain"), toolResult(bern)]),
    ).toBe(`In Bern: sunny, {"sky":"sunny"}.`);
  });

  test("keeps the type of a value that is the whole quotation", async () => {
    const script = `
turns:
  - tool_calls: [{ name: sum, arguments: { n: "{{ tools.forecast.n }}", all: ["{{tools.forecast}}"] } }]
`;
    const { calls } = await turnOf(script, [userMessage, toolResult(`{"n":3}`)]);
    expect(calls[0]?.argumentsText).toBe(`{"n":3,"all":["{\\"n\\":3}"]}`);
  });

  test("keeps other double braces", async () => {
    const script = `turns: [{ text: "f'{{total}}' {{ input.x }} {{ tools }}" }]`;
    expect(await textOf(script, [userMessage])).toBe("f'{{total}}' {{ input.x }} {{ tools }}");
  });

  test("quotes a result as it is, even with replacement patterns", async () => {
    const script = `turns: [{ text: "a {{ tools.forecast }} b" }]`;
    expect(await textOf(script, [userMessage, toolResult("$& $1")])).toBe("a $& $1 b");
  });

  test.each([
    [
      "its end is reached",
      weather,
      [userMessage, toolTurn, toolTurn],
      "script weather has no turn 3: add one to weather.yaml",
    ],
    [
      "no alternative holds",
      weather,
      [{ role: "user", text: "Rome?" }, toolTurn, toolResult("?")],
      "whose `when` matches",
    ],
    [
      "a result is not JSON",
      weather,
      [userMessage, toolTurn, toolResult("sun")],
      "turn 2 of weather.yaml: {{ tools.forecast.days.0.sky }}: the result of forecast is not JSON",
    ],
    [
      "a result lacks the value",
      weather,
      [userMessage, toolTurn, toolResult(`{"days":[]}`)],
      "has no 0",
    ],
    [
      "a tool gave nothing",
      `turns: [{ text: "{{ tools.forecast }}" }]`,
      [userMessage],
      "forecast has given no result",
    ],
    [
      "a value is only inherited",
      `turns: [{ text: "{{ tools.forecast.constructor }}" }]`,
      [toolResult("{}")],
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

  test("lists the scripts when another is requested", async () => {
    await expect(
      Array.fromAsync(play(weather, [userMessage], { model: "rain" })),
    ).rejects.toMatchObject({
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
      for await (const part of play(script, [userMessage], { signal: end.signal }))
        heard.push(part.kind);
    };
    const listened = listening();
    end.abort(reason);
    await expect(listened).rejects.toBe(reason);
    expect(heard).toEqual([]);
  });
});
