import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BenchWithAgent } from "./support/bench-with-agent.ts";
import { openBenchWithAgent } from "./support/bench-with-agent.ts";
import { tokens } from "./support/gateway-bench.ts";

let bench: BenchWithAgent;

beforeAll(async () => {
  bench = await openBenchWithAgent();
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const acme = { authorization: `Bearer ${tokens.acme}` };

function request(path: string, headers: Readonly<Record<string, string>> = acme, body?: object) {
  return fetch(`${bench.url}${path}`, {
    headers: { ...headers, ...(body && { "content-type": "application/json" }) },
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
}

async function started(): Promise<string> {
  const answer = await request("/v1/runs", acme, { agentId: "known", input: "hello" });
  const { run } = (await answer.json()) as { readonly run: { readonly runId: string } };
  return run.runId;
}

/** Returns the id of a run that was cancelled, whose log is complete. */
async function ended(): Promise<string> {
  const runId = await started();
  await bench.acme.runs.cancelRun({ runId });
  return runId;
}

interface SentEvent {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly data: JsonObject;
}

/** Parses a complete stream of server-sent events. */
function eventsIn(text: string): readonly SentEvent[] {
  return text
    .split("\n\n")
    .filter((block) => block.includes("data: "))
    .map((block) => ({
      id: /^id: (.*)$/m.exec(block)?.[1],
      name: /^event: (.*)$/m.exec(block)?.[1],
      data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "{}") as JsonObject,
    }));
}

async function watched(runId: string, headers: Readonly<Record<string, string>> = {}, query = "") {
  const answer = await request(`/v1/runs/${runId}/events${query}`, { ...acme, ...headers });
  expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  return eventsIn(await answer.text());
}

test("everybody may read the OpenAPI document, which the welcome page names", async () => {
  const welcome = await request("/", {});
  expect(await welcome.text()).toContain("/openapi.json");
  const answer = await request("/openapi.json", {});
  expect(answer.headers.get("content-type")).toBe("application/json");
  const { paths } = (await answer.json()) as { readonly paths: object };
  expect(Object.keys(paths)).toContain("/v1/runs/{run_id}/events");
});

describe("plain HTTP", () => {
  test("starts a run, and reads it", async () => {
    const runId = await started();
    const answer = await request(`/v1/runs/${runId}`);
    expect(await answer.json()).toMatchObject({ run: { runId, agentId: "known" } });
  });

  test("streams the events of a run as server-sent events, and ends with its status", async () => {
    const events = await watched(await ended());
    expect(events.length).toBeGreaterThan(1);
    expect(events.at(-1)).toMatchObject({
      name: "end",
      data: { endStatus: "RUN_STATUS_CANCELLED" },
    });
    const sequences = events.slice(0, -1).map(({ data }) => data["sequence"]);
    expect(events.slice(0, -1).map(({ id }) => Number(id?.split(":")[0]))).toEqual(sequences);
  });

  test("sends an event as soon as it is in the log", async () => {
    const runId = await started();
    const answer = await request(`/v1/runs/${runId}/events`);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const until = async (word: string) => {
      while (!text.includes(word)) {
        const { value, done } = (await reader?.read()) ?? { value: "", done: true };
        if (done) throw new Error(`the stream ended without ${word}: ${text}`);
        text += value;
      }
    };
    await until("heartbeat");
    await bench.append(runId, { case: "text", value: { text: "one moment" } });
    await until("one moment");
    await bench.acme.runs.cancelRun({ runId });
    await until("event: end");
    expect(eventsIn(text).length).toBeGreaterThan(2);
  });

  test("resumes after the event that Last-Event-ID names, with or without its token", async () => {
    const runId = await ended();
    const all = await watched(runId);
    const [first, ...rest] = all;
    const [after = ""] = first?.id?.split(":") ?? [];
    expect(await watched(runId, { "last-event-id": first?.id ?? "" })).toEqual(rest);
    expect(await watched(runId, { "last-event-id": after })).toEqual(rest);
    expect(await watched(runId, {}, `?afterSequence=${after}`)).toEqual(rest);
    expect(await watched(runId, { "last-event-id": first?.id ?? "" }, "?after_sequence=0")).toEqual(
      rest,
    );
  });

  test("tells a client that has the last event to stop reconnecting", async () => {
    const runId = await ended();
    const last = (await watched(runId)).findLast(({ id }) => id !== undefined);
    const answer = await request(`/v1/runs/${runId}/events`, {
      ...acme,
      "last-event-id": last?.id ?? "",
    });
    expect(answer.status).toBe(204);
  });

  test("streams the messages of WatchRun, one per line, to a client that accepts NDJSON", async () => {
    const runId = await ended();
    const answer = await request(`/v1/runs/${runId}/events?detailed=false`, {
      ...acme,
      accept: "application/x-ndjson",
    });
    expect(answer.headers.get("content-type")).toBe("application/x-ndjson");
    const lines = (await answer.text()).trimEnd().split("\n");
    const messages = lines.map((line) => JSON.parse(line) as JsonObject);
    expect(messages.at(-1)).toMatchObject({ endStatus: "RUN_STATUS_CANCELLED" });
    expect(JSON.stringify(messages)).not.toContain("runCreated");
  });
});

test.each([
  ["/v1/runs", "POST"],
  ["/v1/runs/run_1/events", "GET"],
])("web pages of other origins may request %s", async (path, method) => {
  const answer = await fetch(`${bench.url}${path}`, {
    method: "OPTIONS",
    headers: {
      origin: "https://other.example",
      "access-control-request-method": method,
      "access-control-request-headers": "authorization,last-event-id",
    },
  });
  expect(answer.status).toBe(204);
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  expect(answer.headers.get("access-control-allow-headers")).toContain("Last-Event-ID");
});

describe("plain HTTP refuses", () => {
  test.each<[string, string, Readonly<Record<string, string>>, number, string]>([
    ["a request without a token", "/v1/runs/run_1/events", {}, 401, "UNAUTHENTICATED"],
    ["a run of nobody", "/v1/runs/run_1/events", acme, 404, "RUN_NOT_FOUND"],
    [
      "a malformed id",
      "/v1/runs/RUN/events",
      { ...acme, "last-event-id": "x" },
      400,
      "INVALID_REQUEST",
    ],
    ["an unknown parameter", "/v1/runs/RUN/events?since=1", acme, 400, "INVALID_REQUEST"],
    [
      "a sequence beyond the end",
      "/v1/runs/RUN/events?afterSequence=99",
      acme,
      400,
      "SEQUENCE_BEYOND_END",
    ],
    ["an address that does not exist", "/v1/walks", acme, 404, "INVALID_REQUEST"],
  ])("%s", async (_, path, headers, status, reason) => {
    const answer = await request(path.replace("RUN", await started()), headers);
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status,
      text: expect.stringContaining(reason),
    });
  });

  test.each([
    ["{agent}", /is not JSON: .*; send an object with the fields of the request/],
    ["[]", /is not a JSON object; send/],
    ["", /is not JSON/],
  ])("the body %j, with a reason", async (body, message) => {
    const headers = { ...acme, "content-type": "application/json" };
    const answer = await fetch(`${bench.url}/v1/runs`, { method: "POST", headers, body });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      code: "invalid_argument",
      message: expect.stringMatching(message),
      details: [{ debug: { reason: "INVALID_REQUEST" } }],
    });
  });

  test.each([
    ["/v1/runs", "GET", "POST"],
    ["/v1/runs/run_1/events?a=b", "DELETE", "GET"],
  ])("%s with the verb %s", async (path, method, allowed) => {
    const answer = await fetch(`${bench.url}${path}`, { method, headers: acme });
    expect({ status: answer.status, allow: answer.headers.get("allow") }).toEqual({
      status: 405,
      allow: allowed,
    });
    const message = `the method ${method} is not allowed; use ${allowed}`;
    expect(await answer.json()).toMatchObject({ code: "invalid_argument", message });
  });

  test("to resume after events that the store does not have", async () => {
    const runId = await started();
    const [first] = await watched(await ended());
    const answer = await request(`/v1/runs/${runId}/events`, {
      ...acme,
      "last-event-id": first?.id ?? "",
    });
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status: 410,
      text: expect.stringContaining("HISTORY_LOST"),
    });
  });

  test("a run of another tenant", async () => {
    const runId = await started();
    const globex = { authorization: `Bearer ${tokens.globex}` };
    for (const path of [`/v1/runs/${runId}`, `/v1/runs/${runId}/events`]) {
      expect((await request(path, globex)).status).toBe(404);
    }
  });

  test("a run with an unknown field", async () => {
    const answer = await request("/v1/runs", acme, { agentId: "known", input: "x", promt: "y" });
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status: 400,
      text: expect.stringContaining("promt"),
    });
  });
});
