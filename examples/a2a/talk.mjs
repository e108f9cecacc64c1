// Talks to an agent with the client of the A2A project: node talk.mjs "a message"
import { randomUUID } from "node:crypto";
import process from "node:process";
import { createInterface } from "node:readline/promises";
import { Role, TaskState } from "@a2a-js/sdk";
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";

const { REEVE_URL: url, REEVE_TOKEN: token } = process.env;

function fetchImpl(address, init) {
  const headers = new Headers(init?.headers);
  headers.set("authorization", `Bearer ${token}`);
  return fetch(address, { ...init, headers });
}

const factory = new ClientFactory({
  transports: [new JsonRpcTransportFactory({ fetchImpl })],
  cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
});
const client = await factory.createFromUrl(
  `${url}/a2a/agents/helper/`,
  ".well-known/agent-card.json",
);

function show(artifact) {
  const [{ content }] = artifact.parts;
  if (content.$case === "text") process.stdout.write(content.value);
}

async function ask(question) {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`${question} `);
  terminal.close();
  return answer;
}

const ids = { taskId: "", contextId: "" };
let text = process.argv[2] ?? "hello";
while (text !== undefined) {
  const part = { content: { $case: "text", value: text }, filename: "", mediaType: "text/plain" };
  const message = {
    ...ids,
    messageId: randomUUID(),
    role: Role.ROLE_USER,
    parts: [part],
    extensions: [],
    referenceTaskIds: [],
  };
  let status;
  for await (const { payload } of client.sendMessageStream({ tenant: "", message })) {
    const { value } = payload;
    if (payload.$case === "artifactUpdate") show(value.artifact);
    else status = value.status;
    // The first event is the task as it is.
    if (payload.$case !== "task") continue;
    ids.taskId = value.id;
    ids.contextId = value.contextId;
    value.artifacts.forEach(show);
  }
  const needsInput = status.state === TaskState.TASK_STATE_INPUT_REQUIRED;
  text = needsInput ? await ask(status.message.parts[0].content.value) : undefined;
}
process.stdout.write("\n");
