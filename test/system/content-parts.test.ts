import { Buffer } from "node:buffer";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { RunStatus } from "@reeve/contracts/run";
import type { ContentPartSchema } from "@reeve/contracts/content/parts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { png } from "@reeve/jetstream/test/support/files/png";
import type { ModelServer, SeenRequest } from "../support/model-server.ts";
import { startModelServer } from "../support/model-server.ts";
import { Deployment } from "./support/deployment.ts";
import { watchToEnd } from "./support/watching.ts";

const dataUrl = `data:image/png;base64,${Buffer.from(png()).toString("base64")}`;

const registry = `
models:
  - { id: sees, provider: openai, upstream_name: "text:3", modalities: [text, image] }
  - { id: reads, provider: openai, upstream_name: "text:2" }
`;

let models: ModelServer;
let deployment: Deployment;

beforeAll(async () => {
  models = await startModelServer();
  deployment = await Deployment.start(
    { OPENAI_API_KEY: "k", OPENAI_BASE_URL: models.url },
    { REEVE_MODELS: registry },
  );
  await deployment.agent("viewer", { model: "sees" });
  await deployment.agent("reader", { model: "reads" });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
});

const contentsOf = ({ body }: SeenRequest) =>
  (body.messages as readonly { readonly content?: unknown }[]).map(({ content }) => content);

const image = (content: Uint8Array, mediaType = "image/png") =>
  ({
    part: { case: "file", value: { content, mediaType, name: "photo.png" } },
  }) satisfies MessageInitShape<typeof ContentPartSchema>;

async function turn(parts: MessageInitShape<typeof ContentPartSchema>[]): Promise<string> {
  const request = { agentId: "viewer", input: "What is this?", threadId: "photos", parts };
  const { run } = await deployment.reeve.runs.startRun(request);
  await watchToEnd(deployment, run?.runId ?? "");
  return run?.runId ?? "";
}

test("a model receives the picture of a message, and of the earlier messages of its thread", async () => {
  const runId = await turn([image(png())]);
  const seen = await models.request(1);
  const asked = [
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: dataUrl } },
  ];
  expect(contentsOf(seen).at(-1)).toEqual(asked);
  const { run } = await deployment.reeve.runs.getRun({ runId });
  expect(run).toMatchObject({
    status: RunStatus.COMPLETED,
    inputParts: [{ part: { case: "file", value: { width: 1, height: 1 } } }],
  });
  await turn([]);
  const later = await models.request(2);
  const contents = contentsOf(later);
  expect(contents).toContainEqual(asked);
  expect(contents.at(-1)).toBe("What is this?");
  const { messages } = await deployment.reeve.threads.listThreadMessages({ threadId: "photos" });
  expect(messages[0]?.parts).toEqual(run?.inputParts);
});

test("a picture that the models cannot read is refused by name, and nothing is stored", async () => {
  const { runs, artifacts } = deployment.reeve;
  const before = (await artifacts.listArtifacts({})).artifacts.length;
  const start = (agentId: string, part: ReturnType<typeof image>) =>
    runs.startRun({ agentId, input: "look", parts: [part] });
  await expect(start("viewer", image(png(100_000, 100_000)))).rejects.toThrow(
    "100000 × 100000 pixels",
  );
  await expect(start("viewer", image(png(), "image/jpeg"))).rejects.toThrow("is image/png");
  await expect(start("reader", image(png()))).rejects.toThrow(`the model "reads" reads text only`);
  expect((await artifacts.listArtifacts({})).artifacts).toHaveLength(before);
});
