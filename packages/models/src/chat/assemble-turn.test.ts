import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelTurn } from "@reeve/engine/ports/model-provider";
import { TurnAssembly } from "./assemble-turn.ts";

function turnOf(deltas: readonly object[], finishReason = "tool_calls"): ModelTurn {
  const turn = new TurnAssembly();
  for (const delta of deltas) turn.add({ choices: [{ index: 0, delta, finish_reason: null }] });
  turn.add({ choices: [{ index: 0, delta: {}, finish_reason: finishReason }] });
  return turn.finish("m");
}

const messageOf = (turn: ModelTurn): unknown => JSON.parse(turn.messageJson);
const calls = (...tool_calls: object[]) => ({ tool_calls });
const callOf = (index: number, id: string | undefined, name: string, text: string) => ({
  index,
  ...(id !== undefined && { id }),
  function: { name, arguments: text },
});

describe("a turn", () => {
  test("keeps the arguments of each call as written, wherever they are split", () => {
    const written = fc.array(fc.string({ unit: "grapheme" }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(written, { minLength: 1, maxLength: 4 }), fc.boolean(), (all, mixed) => {
        const heads = all.map((_, index) =>
          calls({ index, id: `c${index}`, type: "function", function: { name: `tool${index}` } }),
        );
        const parts = all.flatMap((pieces, index) =>
          pieces.map((piece, turn) => ({
            turn,
            delta: calls({ index, function: { arguments: piece } }),
          })),
        );
        const ordered = mixed ? parts.toSorted((one, other) => one.turn - other.turn) : parts;
        const turn = turnOf([...heads, ...ordered.map(({ delta }) => delta)]);
        expect(turn.calls).toEqual(
          all.map((pieces, index) => ({
            providerCallId: `c${index}`,
            name: `tool${index}`,
            argumentsText: pieces.join(""),
          })),
        );
      }),
    );
  });

  test("has the same arguments wherever they are split", () => {
    const written = JSON.stringify({ say: 'Grüße "👋"', list: [1, null, {}] });
    for (let place = 0; place <= written.length; place++) {
      const rest = { index: 0, function: { arguments: written.slice(place) } };
      const turn = turnOf([calls(callOf(0, "c", "t", written.slice(0, place))), calls(rest)]);
      expect(turn.calls[0]?.argumentsText).toBe(written);
    }
  });

  test("keeps the first of two equal ids and replaces the second, also in the message", () => {
    const turn = turnOf([calls(callOf(0, "same", "a", "{}"), callOf(1, "same", "b", "{}"))]);
    const ids = turn.calls.map(({ providerCallId }) => providerCallId);
    expect(ids[0]).toBe("same");
    expect(ids[1]).toMatch(/^call_/);
    expect(messageOf(turn)).toMatchObject({ tool_calls: ids.map((id) => ({ id })) });
  });

  test("creates an id for a call without one, and accepts a late one", () => {
    const turn = turnOf([
      calls(callOf(0, undefined, "a", "{"), callOf(1, "", "b", "{}")),
      calls({ index: 0, id: "late", function: { arguments: "}" } }),
    ]);
    expect(turn.calls).toEqual([
      { providerCallId: "late", name: "a", argumentsText: "{}" },
      { providerCallId: expect.stringMatching(/^call_/), name: "b", argumentsText: "{}" },
    ]);
  });

  test("separates calls without an index, or with the same index", () => {
    const plain = { id: "x", function: { name: "a", arguments: "{}" } };
    const { id: _, ...anonymous } = plain;
    for (const one of [calls(plain, { ...plain, id: "y" }), calls(anonymous, anonymous)]) {
      expect(turnOf([one]).calls.map(({ argumentsText }) => argumentsText)).toEqual(["{}", "{}"]);
    }
    const same = [callOf(0, "x", "a", "{}"), callOf(0, "y", "a", "{}")];
    expect(turnOf([calls(...same)]).calls).toHaveLength(2);
  });

  test("orders calls by their index", () => {
    const turn = turnOf([calls(callOf(1, "two", "b", "{}")), calls(callOf(0, "one", "a", "{}"))]);
    expect(turn.calls.map(({ name }) => name)).toEqual(["a", "b"]);
  });

  test("joins a split name, and keeps a repeated name once", () => {
    const split = calls({ index: 0, function: { name: "sea" } });
    expect(turnOf([split, calls(callOf(0, "x", "rch", "{}"))]).calls[0]?.name).toBe("search");
    const whole = calls(callOf(0, "x", "search", "{"));
    expect(turnOf([whole, calls(callOf(0, "x", "search", "}"))]).calls).toEqual([
      { providerCallId: "x", name: "search", argumentsText: "{}" },
    ]);
  });

  // Requirement: LOOP-4
  test("is sent back with every field that the provider sent", () => {
    const turn = turnOf([
      { role: "assistant", content: null, reasoning_content: "Let me " },
      { content: "Hello", reasoning_content: "think", reasoning_details: [{ text: "Let me " }] },
      {
        content: " you",
        signature: "abc",
        reasoning_details: [{ text: "think" }],
      },
      { content: null, signature: "def", confidence: 0.5 },
      calls({
        index: 0,
        id: "x",
        type: "function",
        extra_content: { thought: "s1" },
        function: { name: "a", arguments: "{}", strict: true },
      }),
    ]);
    expect(messageOf(turn)).toEqual({
      role: "assistant",
      content: "Hello you",
      reasoning_content: "Let me think",
      reasoning_details: [{ text: "Let me " }, { text: "think" }],
      signature: "abcdef",
      confidence: 0.5,
      tool_calls: [
        {
          id: "x",
          type: "function",
          extra_content: { thought: "s1" },
          function: { name: "a", arguments: "{}", strict: true },
        },
      ],
    });
  });

  test("yields reasoning under either name, once", () => {
    const turn = new TurnAssembly();
    const say = (delta: object) => turn.add({ choices: [{ delta }] });
    expect(say({ reasoning: "a" })).toEqual({ text: "", reasoning: "a" });
    expect(say({ reasoning: "b", reasoning_content: "b" })).toEqual({ text: "", reasoning: "b" });
    expect(say({ content: [{ type: "text", text: "c" }] })).toEqual({ text: "c", reasoning: "" });
  });

  test("has the last usage, or none", () => {
    const turn = new TurnAssembly();
    turn.add({ choices: [{ delta: { content: "a" } }], usage: null });
    turn.add({ choices: [{ delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: "?" } });
    expect(turn.finish("m").usage).toBeUndefined();
    turn.add({ usage: { prompt_tokens: 7, completion_tokens: 3 } });
    turn.add({
      choices: [],
      usage: {
        prompt_tokens: 8,
        completion_tokens: 4,
        prompt_tokens_details: { cached_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    });
    expect(turn.finish("m").usage).toEqual({
      inputTokens: 8,
      outputTokens: 4,
      cachedInputTokens: 2,
      cacheWriteInputTokens: 0,
      reasoningTokens: 1,
    });
  });

  test("is kept when the content filter or a refusal cuts it, with that reason", () => {
    expect(turnOf([{ content: "Once" }], "content_filter").finishReason).toBe("content_filter");
    expect(turnOf([{ content: "Once" }, { refusal: "no" }], "stop").finishReason).toBe("refusal");
  });

  test("may be empty", () => {
    expect(messageOf(turnOf([], "stop"))).toEqual({ role: "assistant", content: "" });
  });

  test.each([
    ["only refuses", [{ refusal: "I " }, { refusal: "cannot" }], "refused", "I cannot"],
    ["has a call without a name", [calls({ index: 0, id: "x" })], "malformed", "no name"],
    ["has calls that are no list", [{ tool_calls: {} }], "malformed", "not a list"],
    ["has a call that is no object", [{ tool_calls: [1] }], "malformed", "not an object"],
  ])("is a failure when it %s", (_, deltas, reason, message) => {
    expect(() => turnOf(deltas, "stop")).toThrow(
      expect.objectContaining({ reason, message: expect.stringContaining(message) }),
    );
  });

  test.each([42, null, [], { choices: {} }, { choices: [7] }, { choices: [{ delta: "x" }] }])(
    "is malformed when a chunk is %j",
    (chunk) => {
      expect(() => new TurnAssembly().add(chunk)).toThrow(
        expect.objectContaining({ reason: "malformed" }),
      );
    },
  );
});
