import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ProviderFailures } from "../wire/provider-failures.ts";
import { ResponseAssembly } from "./assemble-response.ts";

function turnOf(events: readonly object[], response: object = {}) {
  const turn = new ResponseAssembly(new ProviderFailures("openai", "", () => undefined));
  for (const event of [...events, { type: "response.completed", response }]) turn.add(event);
  return turn.finish("m");
}

const added = (output_index: number, item: object) => ({
  type: "response.output_item.added",
  output_index,
  item,
});
const callItem = (call_id: string, name = "t") => ({
  type: "function_call",
  call_id,
  name,
  arguments: "",
});
const piece = (output_index: number, delta: string) => ({
  type: "response.function_call_arguments.delta",
  output_index,
  delta,
});

describe("a turn of the Responses API", () => {
  test("keeps the arguments of each call as written, wherever they are split", () => {
    const written = JSON.stringify({ say: 'Grüße "👋"', list: [1, null, {}] });
    for (let place = 0; place <= written.length; place++) {
      const pieces = [written.slice(0, place), written.slice(place)].map((text) => piece(0, text));
      const { calls } = turnOf([added(0, callItem("c")), ...pieces]);
      expect(calls).toEqual([{ providerCallId: "c", name: "t", argumentsText: written }]);
    }
    const texts = fc.array(fc.string({ unit: "grapheme" }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(texts, texts, (first, second) => {
        const { calls } = turnOf([
          added(1, callItem("d")),
          added(0, callItem("c")),
          ...second.map((text) => piece(1, text)),
          ...first.map((text) => piece(0, text)),
        ]);
        expect(calls.map(({ argumentsText }) => argumentsText)).toEqual([
          first.join(""),
          second.join(""),
        ]);
      }),
    );
  });

  test("has the items of the last event if it has any", () => {
    const { calls } = turnOf([added(0, callItem("c"))], {
      model: "m-1",
      output: [{ ...callItem("d", "u"), arguments: "{}" }],
    });
    expect(calls).toEqual([{ providerCallId: "d", name: "u", argumentsText: "{}" }]);
  });

  test("yields its text at the end if the server does not stream it", () => {
    const turn = new ResponseAssembly(new ProviderFailures("openai", "", () => undefined));
    const content = [{ type: "output_text", text: "Hi" }];
    const completed = { type: "response.completed", response: { output: [{ content }] } };
    expect(turn.add(completed)).toEqual({ text: "Hi", reasoning: "" });
  });

  test("separates the parts of a summary, and supports reasoning without a summary", () => {
    const turn = new ResponseAssembly(new ProviderFailures("openai", "", () => undefined));
    const part = (summary_index: number) =>
      turn.add({ type: "response.reasoning_summary_part.added", summary_index });
    expect(part(0)).toEqual({ text: "", reasoning: "" });
    expect(part(1)).toEqual({ text: "", reasoning: "\n\n" });
    const delta = { type: "response.reasoning_text.delta", delta: "hm" };
    expect(turn.add(delta)).toEqual({ text: "", reasoning: "hm" });
  });

  test("ignores unknown events", () => {
    const others = [{ type: "response.web_search_call.searching" }, { type: "keepalive" }, {}];
    expect(turnOf(others)).toMatchObject({ messageJson: '{"output":[]}', finishReason: "stop" });
  });

  test("is kept when it has text before a refusal, with that reason", () => {
    const content = [
      { type: "output_text", text: "Once" },
      { type: "refusal", refusal: "no" },
    ];
    expect(turnOf([], { output: [{ type: "message", content }] }).finishReason).toBe("refusal");
  });

  test.each([
    [42, "not an object"],
    [{ type: "response.output_text.delta", delta: 1 }, "not a string"],
    [{ type: "response.output_item.added", item: {} }, "no index"],
    [{ type: "response.output_item.done", output_index: 0, item: 1 }, "item is not an object"],
    [piece(0, "{"), "before their call"],
    [{ type: "response.completed" }, "response is not an object"],
  ])("is malformed when an event is %j", (event, message) => {
    const turn = new ResponseAssembly(new ProviderFailures("openai", "", () => undefined));
    expect(() => turn.add(event)).toThrow(
      expect.objectContaining({ reason: "malformed", message: expect.stringContaining(message) }),
    );
  });

  test("is malformed when a call has no name", () => {
    expect(() => turnOf([added(0, callItem("c", ""))])).toThrow(/no name/);
  });
});
