import type { Part } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import { AgentEvent } from "@a2a-js/sdk/server";
import type { ModelPart, PromptMessage } from "@reeve/engine/ports/model-provider";
import { afterEach, expect, test } from "vitest";
import { RemoteClients } from "../src/remote-agents/remote-clients.ts";
import { remoteAgentProvider } from "../src/remote-agents/remote-provider.ts";
import type { Intercept } from "./support/agent-server.ts";
import { startAgentServer } from "./support/agent-server.ts";
import { answering, artifactOf, fileOf } from "./support/artist.ts";
import { status } from "./support/asking-agent.ts";
import { ask, failureOf, remoteAt, requestTo, user } from "./support/remote-requests.ts";

const never = new AbortController().signal;
let resources = new AsyncDisposableStack();

afterEach(async () => {
  await resources.disposeAsync();
  resources = new AsyncDisposableStack();
});

const filesIn = (parts: readonly ModelPart[]) =>
  parts.flatMap((part) => (part.kind === "file" ? [part.file] : []));
const textIn = (parts: readonly ModelPart[]) =>
  parts.map((part) => (part.kind === "text" ? part.text : "")).join("");

function bytesIn({ content }: Part): string {
  return content?.$case === "raw" ? Buffer.from(content.value).toString() : String(content?.value);
}

/** Serves a file at `/plan.pdf`, and one of 17 MiB at `/large`. */
const serving: Intercept = ({ url }, response) => {
  if (url === "/plan.pdf") response.end("%PDF-1.7");
  else if (url === "/large") response.end(Buffer.alloc(17 * 2 ** 20));
  else return false;
  return true;
};

// Requirement: RES-3
test("the files of an answer are taken, by their bytes and from the addresses of the agent", async () => {
  const parts: Part[] = [
    fileOf(Buffer.from("a,b"), "../rows.csv", "text/csv"),
    fileOf("", "plan.pdf", "application/pdf"),
  ];
  const server = resources.use(await startAgentServer(answering(parts), { intercept: serving }));
  parts[1] = fileOf(`${server.url}plan.pdf`, "plan.pdf", "application/pdf");
  const request = requestTo(server.url, [user("draw")]);
  const answer = await ask([remoteAt(server.url)], request);
  const taken = filesIn(answer).map(({ name, mediaType, bytes }) => [
    name,
    mediaType,
    Buffer.from(bytes).toString(),
  ]);
  expect(taken).toEqual([
    ["rows.csv", "text/csv", "a,b"],
    ["plan.pdf", "application/pdf", "%PDF-1.7"],
  ]);
  expect(textIn(answer)).toMatch(
    /rows\.csv.*artifact art_[0-9a-f]{32}.*\n.*plan\.pdf.*artifact art_/,
  );
  // Another attempt stores nothing twice.
  const again = filesIn(await ask([remoteAt(server.url)], request));
  expect(again.map(({ key }) => key)).toEqual(filesIn(answer).map(({ key }) => key));
});

test.each([
  [
    "outside of its entry",
    () => "http://169.254.169.254/latest/meta-data",
    "is outside of the remote",
  ],
  ["that is no address", () => "plan.pdf", "not valid"],
  ["that is too large", (url: string) => `${url}large`, "more than"],
])("a file %s is named, and not taken", async (_, addressAt, reason) => {
  const parts: Part[] = [];
  const server = resources.use(await startAgentServer(answering(parts), { intercept: serving }));
  parts.push(fileOf(addressAt(server.url), "plan.pdf", "application/pdf"));
  const answer = await ask([remoteAt(server.url)], requestTo(server.url, [user("draw")]));
  expect(filesIn(answer)).toEqual([]);
  expect(textIn(answer)).toContain("was not transferred");
  expect(textIn(answer)).toContain(reason);
});

// Requirement: RES-3
test.each([
  ["that is unavailable for a moment is taken", 2, "artifact art_"],
  ["that stays unavailable is named, and the answer is taken without it", Infinity, "503, after 6"],
])("a file %s", async (_, failures, said) => {
  let requests = 0;
  const intercept: Intercept = (request, response, body) => {
    if (request.url !== "/plan.pdf" || ++requests > failures) {
      return serving(request, response, body);
    }
    response.writeHead(503).end();
    return true;
  };
  const parts: Part[] = [];
  const server = resources.use(await startAgentServer(answering(parts), { intercept }));
  parts.push(fileOf(`${server.url}plan.pdf`, "plan.pdf", "application/pdf"));
  const answer = await ask([remoteAt(server.url)], requestTo(server.url, [user("draw")]));
  expect(filesIn(answer)).toHaveLength(failures === 2 ? 1 : 0);
  expect(textIn(answer)).toContain("plan.pdf");
  expect(textIn(answer)).toContain(said);
});

// Requirement: RES-3
test("an answer that names endless files ends as one event of a run can", async () => {
  const address = `http://169.254.169.254/${"x".repeat(5_000)}`;
  const type = `text/plain; x=${"y".repeat(5_000)}`;
  const parts = Array.from({ length: 300 }, (_, number) => fileOf(address, `${number}`, type));
  const server = resources.use(await startAgentServer(answering(parts)));
  const answer = await ask([remoteAt(server.url)], requestTo(server.url, [user("draw")]));
  expect(textIn(answer).length).toBeLessThan(100_000);
  expect(textIn(answer)).toContain("after the first 40 are not named");
});

// Requirement: RES-3
test("a file that is larger than an event of a stream is read with its task", async () => {
  const large = fileOf(Buffer.alloc(5 * 2 ** 20, "a"), "large.bin", "application/octet-stream");
  const working = answering([], [], TaskState.TASK_STATE_WORKING);
  const executor: typeof working = {
    ...working,
    async execute(request, bus) {
      await working.execute(request, bus);
      const { taskId, contextId } = request;
      const ids = { taskId, contextId, metadata: undefined };
      const artifact = artifactOf([large]);
      bus.publish(AgentEvent.artifactUpdate({ ...ids, artifact, append: false, lastChunk: true }));
      const completed = status(TaskState.TASK_STATE_COMPLETED);
      bus.publish(AgentEvent.statusUpdate({ ...ids, status: completed }));
    },
  };
  const server = resources.use(await startAgentServer(executor));
  const answer = await ask([remoteAt(server.url)], requestTo(server.url, [user("draw")]));
  expect(filesIn(answer).map(({ bytes }) => bytes.length)).toEqual([5 * 2 ** 20]);
});

test("the files of a message are sent with their bytes; one that was deleted is an error", async () => {
  const seen: Part[] = [];
  const server = resources.use(await startAgentServer(answering([], seen)));
  const image = {
    kind: "file",
    artifactId: "art_1",
    mediaType: "image/png",
    name: "cat.png",
    sizeBytes: 3,
    sha256: "",
    tokens: 1,
  } as const;
  const messages: PromptMessage[] = [{ role: "user", text: "Look.", parts: [image] }];
  const request = requestTo(server.url, messages);
  const clients = resources.use(new RemoteClients([remoteAt(server.url)], () => 0));
  const files = new Map([["art_1", Buffer.from("png")]]);
  const provider = remoteAgentProvider(clients);
  await Array.fromAsync(provider.stream({ ...request, files }, never));
  expect(seen.map(bytesIn)).toEqual(["Look.", "png"]);
  expect(seen[1]).toMatchObject({ filename: "cat.png", mediaType: "image/png" });
  const failure = await failureOf(ask([remoteAt(server.url)], request));
  expect(failure).toMatchObject({ reason: "invalid", retryable: false });
});
