import type { JsonObject } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { answerFrom, answerShape } from "./answer-shape.ts";

const of = (answer: JsonObject) => ({ schema: { type: "object", properties: { answer } } });
const dishes = { type: "string", enum: ["soup", "salad", "1"] };

test.each([
  [of({ type: "string" }), ["two", "words"], { answer: "two words" }],
  [of({ type: "string" }), [" "], "write an answer"],
  [of(dishes), ["salad"], { answer: "salad" }],
  [of(dishes), ["2"], { answer: "salad" }],
  [of(dishes), ["1"], { answer: "1" }],
  [of(dishes), ["4"], "choose one of: soup, salad, 1"],
  [of({ type: "array", items: dishes }), ["soup, 2"], { answer: ["soup", "salad"] }],
  [of({ type: "array", items: dishes }), ["soup", "salad"], { answer: ["soup", "salad"] }],
  [of({ type: "array", items: dishes }), ["soup, fish"], "choose some of: soup, salad, 1"],
  [of({ type: "integer" }), ["2"], { answer: 2 }],
  [of({ type: "integer" }), ["two"], "write a JSON value, for example 2 or true"],
  [
    { schema: { type: "object", properties: { dish: {}, guests: {} } } },
    ["soup"],
    "write the answer as a JSON object, with --answer",
  ],
] as const)("of a question with the schema %j, the words %j are %j", (question, words, answer) => {
  expect(answerFrom(answerShape(question), words)).toEqual(answer);
});
