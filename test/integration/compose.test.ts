import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { parseSpecFile } from "@reeve/agent/spec/spec-file";
import type { Client, Connection } from "@reeve/client";
import { connect, openConnection } from "@reeve/client";
import { RetryingClient } from "../system/support/retrying-client.ts";
import type { ComposeProject } from "./support/compose.ts";
import { composeUp, whyNoCompose } from "./support/compose.ts";
import { because, whySkipped } from "./support/engine.ts";
import { expectDone } from "./support/load.ts";
import { follow, quickstarts } from "./support/quickstarts.ts";

const examples = join(import.meta.dirname, "../../examples/csv-report");
/** A container in the output of `compose ps`. */
const container = z.object({
  Service: z.string(),
  Publishers: z.array(z.object({ URL: z.string(), PublishedPort: z.number() })).nullish(),
});

/**
 * A program that connects to NATS without credentials, and deletes a stream with those of its environment, and prints the answers.
 * It speaks the protocol by itself: images contain no packages.
 */
const intruder = String.raw`
import { connect } from "node:net";
const { REEVE_NATS_URL: url, REEVE_NATS_USER: user, REEVE_NATS_PASSWORD: pass } = process.env;
const { hostname, port } = new URL(url);
async function answerTo(login, ...lines) {
  const socket = connect(Number(port), hostname);
  const greeting = "CONNECT " + JSON.stringify({ verbose: false, ...login });
  socket.write([greeting, ...lines, "PING", ""].join("\r\n"));
  let said = "";
  for await (const part of socket) {
    said += part;
    const answer = /^(?:-ERR .*|PONG)(?=\r\n)/m.exec(said);
    if (answer !== null) return answer[0];
  }
  return "closed";
}
console.log(JSON.stringify({
  stranger: await answerTo({}),
  toolhost: await answerTo({ user, pass }),
  deletes: await answerTo({ user, pass }, "PUB $JS.API.STREAM.DELETE.RUNS 0", ""),
}));
`;

const reason = whySkipped(whyNoCompose);

describe.skipIf(reason !== undefined)(`the compose.yaml deployment${because(reason)}`, () => {
  let project: ComposeProject;
  let client: Client;
  let reeve: Connection;
  const gateways = () => [reeve];

  beforeAll(async () => {
    project = await composeUp();
    const server = { address: project.url, token: project.token };
    reeve = openConnection(server);
    client = connect(server);
    const spec = parseSpecFile(readFileSync(join(examples, "agent.yaml"), "utf8"), "agent.yaml");
    await client.agents.apply(spec);
  }, 300_000);

  afterAll(async () => {
    client[Symbol.dispose]();
    reeve[Symbol.dispose]();
    await project[Symbol.asyncDispose]();
  });

  test("an example agent executes code in a sandbox and publishes after approval", async () => {
    const content = readFileSync(join(examples, "sales.csv"));
    const { artifactId } = await client.upload({ name: "data.csv", content });
    const files = [{ path: "data.csv", artifactId }];
    const person = new RetryingClient({ name: "person", agentId: "csv-report", files, gateways });
    expectDone(await person.run());
  });

  // Requirement: OPS-6
  test("requests without a token are refused, and compose.yaml contains no token", async () => {
    using stranger = openConnection({ address: project.url, token: undefined });
    await expect(stranger.agents.listAgents({})).rejects.toThrow(/unauthenticated/);
    expect(await project.compose("config")).not.toContain(project.token);
  });

  // Requirement: OPS-6
  test("only the gateway accepts connections, and only from this machine", async () => {
    const listed = (await project.compose("ps", "--format", "json")).trim().split("\n");
    const published = listed.flatMap((line) => {
      const { Service, Publishers } = container.parse(JSON.parse(line));
      const open = (Publishers ?? []).filter(({ PublishedPort: port }) => port > 0);
      return open.map(({ URL }) => [Service, URL]);
    });
    expect(published).toEqual([["gateway", "127.0.0.1"]]);
  });

  // Requirement: OPS-6
  test("NATS refuses a stranger, and what a toolhost may not do", async () => {
    const program = ["node", "--env-file=/keys/env", "--input-type=module", "--eval", intruder];
    const refused = await project.compose("exec", "--no-TTY", "toolhost", ...program);
    expect(JSON.parse(refused)).toEqual({
      stranger: expect.stringMatching(/authorization/i) as string,
      toolhost: "PONG",
      deletes: expect.stringMatching(/permission/i) as string,
    });
  });

  test.each(quickstarts)(
    "the quickstart with $name works unchanged",
    { timeout: 300_000 },
    async (quickstart) => {
      expect(await follow(quickstart, project)).toMatch(quickstart.prints);
    },
  );
});
