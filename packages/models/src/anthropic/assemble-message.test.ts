import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelTurn } from "@reeve/engine/ports/model-provider";
import { MessageAssembly } from "./assemble-message.ts";

function turnOf(events: readonly object[], stop_reason = "end_turn"): ModelTurn {
  const turn = new MessageAssembly();
  for (const event of [...events, { type: "message_delta", delta: { stop_reason } }]) {
    turn.add(event);
  }
  return turn.finish("m");
}

const start = (index: number, content_block: object) => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (index: number, given: object) => ({
  type: "content_block_delta",
  index,
  delta: given,
});
const call = (id: string) => ({ type: "tool_use", id, name: "t", input: {} });
const json = (index: number, partial_json: string) =>
  delta(index, { type: "input_json_delta", partial_json });

const contentOf = ({ messageJson }: ModelTurn): unknown =>
  Reflect.get(JSON.parse(messageJson) as object, "content");

describe("a turn of the Messages API", () => {
  test("keeps the arguments of each call as written, wherever they are split", () => {
    const value = { say: 'Grüße "👋"', list: [1, null, {}] };
    const written = JSON.stringify(value);
    for (let place = 0; place <= written.length; place++) {
      const pieces = [written.slice(0, place), written.slice(place)].map((text) => json(0, text));
      const turn = turnOf([start(0, call("c")), ...pieces]);
      expect(turn.calls).toEqual([{ providerCallId: "c", name: "t", argumentsText: written }]);
      expect(contentOf(turn)).toEqual([{ ...call("c"), input: value }]);
    }
    const texts = fc.array(fc.string({ unit: "grapheme", minLength: 1 }), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(texts, texts, (first, second) => {
        const turn = turnOf([
          start(1, call("d")),
          start(0, call("c")),
          ...second.map((text) => json(1, text)),
          ...first.map((text) => json(0, text)),
        ]);
        expect(turn.calls.map(({ argumentsText }) => argumentsText)).toEqual([
          first.join(""),
          second.join(""),
        ]);
      }),
    );
  });

  test("has empty arguments for a call without any, or those at its start", () => {
    const whole = { ...call("d"), input: { q: 1 } };
    const { calls } = turnOf([start(0, call("c")), start(1, whole)]);
    expect(calls.map(({ argumentsText }) => argumentsText)).toEqual(["{}", '{"q":1}']);
  });

  test("can be sent back although its arguments were cut", () => {
    const turn = turnOf([start(0, call("c")), json(0, '{"q":"lo')], "max_tokens");
    expect(turn.calls[0]?.argumentsText).toBe('{"q":"lo');
    expect(contentOf(turn)).toEqual([{ ...call("c"), input: { unparsed: '{"q":"lo' } }]);
  });

  // Requirement: LOOP-4
  test("is sent back with every field that the provider sent", () => {
    const turn = turnOf([
      start(0, { type: "text", text: "A", citations: null }),
      delta(0, { type: "text_delta", text: "B" }),
      delta(0, { type: "citations_delta", citation: { cited_text: "B" } }),
      delta(0, { type: "glow_delta", glow: 1 }),
      start(1, { ...call("c"), caller: { type: "direct" } }),
      start(2, { type: "container_upload", file_id: "f" }),
    ]);
    expect(contentOf(turn)).toEqual([
      { type: "text", text: "AB", citations: [{ cited_text: "B" }] },
      { ...call("c"), caller: { type: "direct" } },
      { type: "container_upload", file_id: "f" },
    ]);
  });

  test.each([
    ["stop_sequence", "stop"],
    ["tool_use", "tool_calls"],
    ["model_context_window_exceeded", "length"],
    ["pause_turn", "pause_turn"],
  ])("that stops for %s ends as %s", (reason, finishReason) => {
    expect(turnOf([], reason).finishReason).toBe(finishReason);
  });

  test("is refused with the provider's explanation, even after some text", () => {
    const turn = new MessageAssembly();
    turn.add(start(0, { type: "text", text: "Once" }));
    turn.add({
      type: "message_delta",
      delta: { stop_reason: "refusal", stop_details: { explanation: "Not this." } },
    });
    expect(() => turn.finish("m")).toThrow(
      expect.objectContaining({ reason: "refused", message: "the model refuses: Not this." }),
    );
  });

  test.each([
    [42, "not an object"],
    [{ type: "message_start" }, "message is not an object"],
    [{ type: "content_block_start", content_block: {} }, "no index"],
    [json(0, "{"), "before its block"],
    [start(0, { type: "text", text: 1 }), "text is not a string"],
  ])("is malformed when an event is %j", (event, message) => {
    expect(() => new MessageAssembly().add(event)).toThrow(
      expect.objectContaining({ reason: "malformed", message: expect.stringContaining(message) }),
    );
  });

  test("is malformed when a call has no name", () => {
    expect(() => turnOf([start(0, { type: "tool_use", id: "c" })])).toThrow(/no name/);
  });
});

test("the usage says how many input tokens were read from and written to the cache", () => {
  const usage = {
    input_tokens: 10,
    output_tokens: 5,
    cache_read_input_tokens: 600,
    cache_creation_input_tokens: 300,
  };
  const turn = turnOf([{ type: "message_start", message: { model: "m", usage } }]);
  expect(turn.usage).toMatchObject({
    inputTokens: 910,
    cachedInputTokens: 600,
    cacheWriteInputTokens: 300,
  });
});
