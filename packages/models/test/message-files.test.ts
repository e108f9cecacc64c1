import type { PromptMessage } from "@reeve/engine/ports/model-provider";
import { describe, expect, test } from "vitest";
import { anthropicRequest } from "../src/anthropic/anthropic-request.ts";
import { chatRequest } from "../src/chat/chat-request.ts";
import { responsesRequest } from "../src/responses/responses-request.ts";
import { promptParts } from "../src/wire/message-parts.ts";
import { requestFor } from "./support/parts.ts";
import { providerOf, requestOf } from "./support/scripted.ts";

const part = (artifactId: string, mediaType: string) =>
  ({
    kind: "file",
    artifactId,
    mediaType,
    name: artifactId,
    sizeBytes: 2,
    sha256: "",
    tokens: 9,
  }) as const;
const message: PromptMessage = {
  role: "user",
  text: "What is this?",
  parts: [
    part("photo", "image/png"),
    { kind: "text", text: "And this:" },
    part("paper", "application/pdf"),
    part("gone", "image/png"),
  ],
  notes: ["be brief"],
};
const bytes = Uint8Array.from([1, 2]);
const files = new Map([
  ["photo", bytes],
  ["paper", bytes],
  ["talk", bytes],
]);
const request = requestFor({ messages: [message], files });
const talk = requestFor({
  messages: [{ role: "user", text: "", parts: [part("talk", "audio/wav")] }],
  files,
});
const deleted = `[image "gone": it was deleted, or is damaged]`;

describe("the files of a message are sent", () => {
  test("over chat completions as data URLs, between the text and the notes", () => {
    const [sent] = chatRequest(request, "max_tokens").messages;
    expect(sent?.content).toEqual([
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AQI=" } },
      { type: "text", text: "And this:" },
      {
        type: "file",
        file: { filename: "paper", file_data: "data:application/pdf;base64,AQI=" },
      },
      { type: "text", text: deleted },
      { type: "text", text: "be brief" },
    ]);
    expect(chatRequest(talk, "max_tokens").messages[0]?.content).toEqual([
      { type: "input_audio", input_audio: { data: "AQI=", format: "wav" } },
    ]);
  });

  test("over the Responses API", () => {
    expect(responsesRequest(request, undefined).input).toEqual([
      {
        role: "user",
        content: [
          { type: "input_text", text: "What is this?" },
          { type: "input_image", image_url: "data:image/png;base64,AQI=", detail: "auto" },
          { type: "input_text", text: "And this:" },
          {
            type: "input_file",
            filename: "paper",
            file_data: "data:application/pdf;base64,AQI=",
          },
          { type: "input_text", text: deleted },
          { type: "input_text", text: "be brief" },
        ],
      },
    ]);
  });

  test("over the Messages API as blocks, and the cache has them", () => {
    const [sent] = anthropicRequest({ ...request }, undefined).messages;
    expect(sent?.content).toMatchObject([
      { type: "text", text: "What is this?" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AQI=" } },
      { type: "text", text: "And this:" },
      { type: "document", title: "paper", source: { media_type: "application/pdf" } },
      { type: "text", text: deleted },
      { type: "text", text: "be brief", cache_control: { type: "ephemeral" } },
    ]);
  });

  test("to no API that does not transfer them", () => {
    const note = `[audio "talk": left out: this API transfers no audio]`;
    expect(JSON.stringify(responsesRequest(talk, undefined).input)).toContain(JSON.stringify(note));
    expect(JSON.stringify(anthropicRequest(talk, undefined).messages)).toContain(
      JSON.stringify(note),
    );
  });
});

describe("an image in the result of a call is sent", () => {
  const call = { providerCallId: "c1", name: "shoot", argumentsText: "{}" };
  const results = requestFor({
    messages: [
      { role: "verbatim", messageJson: "{}", format: "other", text: "", calls: [call] },
      {
        role: "tool",
        providerCallId: "c1",
        name: "shoot",
        content: "done",
        isError: false,
        files: [part("photo", "image/png")],
      },
    ],
    files,
  });
  const url = "data:image/png;base64,AQI=";

  test("over chat completions after the results of the turn", () => {
    expect(chatRequest(results, "max_tokens").messages.slice(1)).toEqual([
      { role: "tool", tool_call_id: "c1", content: "done" },
      {
        role: "user",
        content: [
          { type: "text", text: "The images of the results above:" },
          { type: "image_url", image_url: { url } },
        ],
      },
    ]);
  });

  test("over the other APIs with the result", () => {
    const { input = [] } = responsesRequest(results, undefined);
    expect(input.at(-1)).toMatchObject({
      type: "function_call_output",
      output: [
        { type: "input_text", text: "done" },
        { type: "input_image", image_url: url },
      ],
    });
    expect(anthropicRequest(results, undefined).messages.at(-1)?.content).toMatchObject([
      {
        type: "tool_result",
        content: [
          { type: "text", text: "done" },
          { type: "image", source: { data: "AQI=" } },
        ],
      },
    ]);
  });
});

test("a message without files is sent as before", () => {
  const plain = requestFor({ messages: [{ role: "user", text: "hi" }] });
  expect(chatRequest(plain, "max_tokens").messages).toEqual([{ role: "user", content: "hi" }]);
  expect(responsesRequest(plain, undefined).input).toEqual([{ role: "user", content: "hi" }]);
});

test("a trace names the files, and has none of their bytes", () => {
  const [traced] = promptParts([message]);
  expect(traced?.parts[1]).toEqual({
    type: "file",
    modality: "image",
    mime_type: "image/png",
    file_id: "photo",
  });
});

test("a script quotes the files that it received", async () => {
  const script = "turns: [{ text: 'I see {{ files }}' }]";
  const asked = requestOf([message], { files });
  const parts = await Array.fromAsync(
    providerOf(script).stream(asked, new AbortController().signal),
  );
  const text = parts.map((each) => (each.kind === "text" ? each.text : "")).join("");
  expect(text).toBe(
    "I see photo (image/png, 2 bytes), paper (application/pdf, 2 bytes), gone (image/png, 0 bytes)",
  );
});

test("the Messages API gets a note instead of an image that it would refuse", () => {
  const large = new Map([["photo", new Uint8Array(3.75 * 1024 * 1024 + 1)]]);
  const shot = requestFor({
    messages: [{ role: "user", text: "", parts: [part("photo", "image/png")] }],
    files: large,
  });
  const [sent] = anthropicRequest(shot, undefined).messages;
  expect(sent?.content).toMatchObject([
    { type: "text", text: expect.stringContaining("at most 3.75 MiB") },
  ]);
});
