import { create } from "@bufbuild/protobuf";
import { ContentPartSchema } from "@reeve/contracts/content/parts";
import { MessageSchema, Role } from "@reeve/contracts/thread";
import { pastUnits } from "../state/conversation.ts";
import { turnHistory } from "@reeve/run/thread/history/turn-history";
import { describe, expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { transcript } from "../context/summary-prompt.ts";
import { promptFor } from "./prompt-for.ts";
import { countedTokens } from "./prompt-tokens.ts";
import { requestDigests } from "./request-digest.ts";
import { answerRequest } from "./render-request.ts";

const image = (artifactId: string, sizeBytes = 1_000) =>
  create(ContentPartSchema, {
    part: {
      case: "file",
      value: {
        artifactId,
        name: artifactId,
        mediaType: "image/png",
        sizeBytes,
        width: 750,
        height: 1_000,
      },
    },
  });
const sees = { id: "m", provider: "anthropic", modalities: ["text", "image"] };
const reads = { id: "r", provider: "openai", modalities: ["text"] };

const runWith = (model: object, parts = [image("photo")]) =>
  new PlayedRun({}, { created: { parts }, prepared: { model } });
const promptOf = (run: PlayedRun) => promptFor(run.state, run.frame());

describe("an image in the input", () => {
  test("is a part of the prompt, and counts", () => {
    const run = runWith(sees);
    expect(promptOf(run)).toMatchObject([
      { role: "user", text: "go", parts: [{ kind: "file", artifactId: "photo", tokens: 1_890 }] },
    ]);
    const plain = runWith(sees, []);
    const added = countedTokens(run.state, run.frame()) - countedTokens(plain.state, plain.frame());
    expect(added).toBeGreaterThanOrEqual(1_890);
    expect(added).toBeLessThan(2_000);
  });

  test("is a note for a model that does not read it, also for one that takes over", () => {
    const run = runWith(reads);
    expect(promptOf(run)).toMatchObject([
      { parts: [{ kind: "text", text: expect.stringContaining(`[image "photo": left out`) }] },
    ]);
  });

  test("is a note once the conversation has too many files", () => {
    const mebibytes = 1024 * 1024;
    const run = runWith(sees, [image("old", 15 * mebibytes), image("new", 15 * mebibytes)]);
    expect(promptOf(run)).toMatchObject([
      { parts: [{ kind: "text" }, { kind: "file", artifactId: "new" }] },
    ]);
  });

  test("is a note in the text that is summarized, and in no digest an estimate", () => {
    const run = runWith(sees);
    expect(transcript(run.frame(), 1, 1_000)).toContain(`go\n[image "photo"]`);
    const request = answerRequest(run.state, run.frame(), undefined);
    const otherEstimate = request.messages.map((message) =>
      message.role === "user"
        ? { ...message, parts: (message.parts ?? []).map((part) => ({ ...part, tokens: 7 })) }
        : message,
    );
    expect(requestDigests(undefined, { ...request, messages: otherEstimate })).toEqual(
      requestDigests(undefined, request),
    );
  });

  test("is a part of the history of the thread", () => {
    const units = pastUnits(turnHistory(runWith(sees).events));
    expect(units).toMatchObject([{ kind: "user", parts: [{ part: { case: "file" } }] }]);
  });
});

test("a message that is injected brings its parts", () => {
  const run = runWith(sees, []);
  run.turn({ name: "search" });
  const parts = [image("second")];
  const message = create(MessageSchema, { role: Role.USER, text: "and this?", parts });
  run.write({ case: "messageSubmitted", value: { messageId: "m", message, submittedBy: "ann" } });
  run.result(0, "found");
  expect(promptOf(run).at(-1)).toMatchObject({
    role: "user",
    text: "and this?",
    parts: [{ kind: "file", artifactId: "second" }],
  });
});

test("an image in the result of a call is a part of the prompt, and stays one in the thread", () => {
  const run = runWith(sees, []).turn({ name: "search" });
  const [call] = run.frame().calls;
  const photo = image("shot").part;
  const files = photo.case === "file" ? [photo.value] : [];
  const result = { callId: call?.call.callId ?? "", name: "search", content: "done", files };
  run.write({ case: "toolResult", value: { result, success: true } });
  const prompted = {
    role: "tool",
    content: "done",
    files: [{ artifactId: "shot", tokens: 1_890 }],
  };
  expect(promptOf(run).at(-1)).toMatchObject(prompted);
  expect(turnHistory(run.events).at(-1)?.message.value).toMatchObject({
    files: [{ name: "shot" }],
  });
});

test("the files of the latest message of the user have room before images of later results", () => {
  const mebibytes = 1024 * 1024;
  const run = runWith(sees, [image("asked", 15 * mebibytes)]).turn({ name: "search" });
  const [call] = run.frame().calls;
  const shot = image("shot", 15 * mebibytes).part;
  const files = shot.case === "file" ? [shot.value] : [];
  const result = { callId: call?.call.callId ?? "", name: "search", content: "done", files };
  run.write({ case: "toolResult", value: { result, success: true } });
  const prompt = promptOf(run);
  expect(prompt[0]).toMatchObject({ parts: [{ kind: "file", artifactId: "asked" }] });
  expect(prompt.at(-1)).not.toHaveProperty("files");
});
