import { create } from "@bufbuild/protobuf";
import { ContentPartSchema } from "@reeve/contracts/content/parts";
import { RunEventSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { userMessage } from "../thread/history/turn-history.ts";
import { isRequestRefused, messagesWithoutFiles } from "./without-files.ts";

const failed = (reason: string) =>
  create(RunEventSchema, { event: { case: "modelCallFailed", value: { reason } } });
const answered = create(RunEventSchema, { event: { case: "modelTurn", value: {} } });

test("a request was refused if its last answer is a failure for its content", () => {
  expect(isRequestRefused([answered, failed("invalid")])).toBe(true);
  expect(isRequestRefused([failed("invalid"), answered])).toBe(false);
  expect(isRequestRefused([failed("rate_limited")])).toBe(false);
  expect(isRequestRefused([])).toBe(false);
});

test("files of a refused request become notes", () => {
  const value = { name: "p.png", mediaType: "image/png" };
  const file = create(ContentPartSchema, { part: { case: "file", value } });
  const text = create(ContentPartSchema, { part: { case: "text", value: "see" } });
  const [message] = messagesWithoutFiles([userMessage("look", [text, file])]);
  const parts = message?.message.case === "user" ? message.message.value.parts : [];
  expect(parts.map(({ part }) => part)).toEqual([
    { case: "text", value: "see" },
    { case: "text", value: expect.stringMatching(/^\[image "p.png": left out/) },
  ]);
});
