import { toJson } from "@bufbuild/protobuf";
import type { RunEvent, WatchRunRequest } from "@reeve/contracts/run";
import { EventFamily, RunEventSchema } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import { openRunLog } from "@reeve/jetstream/log/open";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endsRun, eventSelection } from "@reeve/gateway/app/event-selection";
import type { Protocol } from "@reeve/gateway/test/support/clients";
import { clientsOf } from "@reeve/gateway/test/support/clients";
import { randomFrom } from "../chaos/support/random.ts";
import type { Asked, Played, PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import type { Connection } from "./support/reconnecting.ts";
import { connection } from "./support/reconnecting.ts";

const never = new AbortController().signal;
const reconnects = 50;
/** Each client connects twice in each turn of the model: once without activity, once during activity. */
const turns = reconnects / 2;
const seed = 20_261_121;

type Selection = WatchRunRequest["selection"];

/** The clients, by their selection of events. */
const selections = {
  everything: { case: undefined },
  "human-readable events": { case: "detailed", value: false },
  "two families": families(EventFamily.TEXT, EventFamily.TOOL_RESULT),
  "all records": families(...familiesOf(EventFamily)),
} as const satisfies Record<string, Selection>;
const protocols: readonly Protocol[] = [
  "gRPC",
  "gRPC-Web",
  "Connect over HTTP/2",
  "Connect with JSON",
];

let models: PlayingServer;
let play: (asked: Asked) => Promise<Played>;
let deployment: Deployment;
let log: RunLog;

beforeAll(async () => {
  models = await startPlayingServer((asked) => play(asked));
  deployment = await Deployment.start({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: models.url });
  await deployment.start("gateway-2");
  await deployment.agent("writes", { model: "openai:played", maxRounds: turns + 1 });
  log = await openRunLog(deployment.nats);
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
});

function families(...wanted: EventFamily[]): Selection {
  return { case: "families", value: { $typeName: "reeve.run.v1.EventFamilies", families: wanted } };
}

function familiesOf(all: typeof EventFamily): EventFamily[] {
  return Object.values(all).filter((family) => family !== all.UNSPECIFIED);
}

/** Synchronizes turns and clients: the model answers only when all clients are connected, and clients connect only when it is called. */
class Rounds {
  readonly #asked = Array.from({ length: turns + 1 }, () => Promise.withResolvers<void>());
  readonly #visited = Array.from({ length: turns + 1 }, () => Promise.withResolvers<void>());
  readonly #visits = new Map<number, number>();
  readonly #clients: number;

  constructor(clients: number) {
    this.#clients = clients;
  }

  async answer(turn: number): Promise<Played> {
    this.#asked[turn]?.resolve();
    if (turn === turns) return { text: "That was all." };
    await this.#visited[turn]?.promise;
    const calls = Array.from({ length: 6 }, (_, index) => ({
      name: "add_todo",
      args: { text: `${turn}.${index}` },
    }));
    return { text: `Turn ${turn} has words.`, calls };
  }

  async begun(turn: number): Promise<void> {
    await this.#asked[turn]?.promise;
  }

  visited(turn: number): void {
    const visits = (this.#visits.get(turn) ?? 0) + 1;
    this.#visits.set(turn, visits);
    if (visits === this.#clients) this.#visited[turn]?.resolve();
  }
}

/** The events that a client saw, in its order, and the events of each connection. */
interface Observation {
  readonly seen: RunEvent[];
  readonly connections: Connection[];
}

/** Reconnects repeatedly, mostly after the last sequence that it saw, sometimes from a random earlier one. */
async function observe(
  runId: string,
  selection: Selection,
  random: () => number,
  rounds: Rounds,
): Promise<Observation> {
  const isWanted = eventSelection(selection);
  const gateways = [deployment.url, deployment.secondUrl];
  const clients = gateways.map((url) =>
    protocols.map((protocol) => clientsOf(url, `Bearer ${deployment.token}`, protocol)),
  );
  const pick = (below: number) => Math.floor(random() * below);
  const seen: RunEvent[] = [];
  const connections: Connection[] = [];
  for (let visit = 0; visit <= reconnects; visit++) {
    const turn = Math.floor(visit / 2);
    const isQuiet = visit % 2 === 0;
    await rounds.begun(turn);
    const last = seen.at(-1)?.sequence ?? 0;
    const after = random() < 0.3 ? pick(last + 1) : last;
    const { events } = await log.read({ tenant: "acme", run: runId }, emptyTail, never);
    const ready = events.filter((event) => event.sequence > after && isWanted(event)).length;
    // Take the available events, sometimes a few new ones; at the end, all of them.
    const some = isQuiet ? pick(ready + 1) : ready + 1 + pick(3);
    const most = visit === reconnects ? Infinity : some;
    const client = clients[pick(gateways.length)]?.[visit % protocols.length];
    if (client === undefined) throw new Error("there is no such client");
    const watching = connection(client, { runId, afterSequence: after, selection }, most);
    if (!isQuiet) rounds.visited(turn);
    const got = await watching;
    connections.push(got);
    seen.push(...got.events.filter(({ sequence }) => sequence > last));
  }
  return { seen, connections };
}

const shown = (events: readonly RunEvent[]) => events.map((event) => toJson(RunEventSchema, event));

// Requirement: EVT-4
test("clients that reconnect fifty times, at any sequence, protocol, and gateway, see every event once", async () => {
  const rounds = new Rounds(Object.keys(selections).length);
  play = ({ messages }) =>
    rounds.answer(messages.filter(({ role }) => role === "assistant").length);
  const { run } = await deployment.reeve.runs.startRun({ agentId: "writes", input: "write" });
  const runId = run?.runId ?? "";
  const observations = await Promise.all(
    Object.values(selections).map((selection, index) =>
      observe(runId, selection, randomFrom(seed + index).next, rounds),
    ),
  );
  const { events } = await log.read({ tenant: "acme", run: runId }, emptyTail, never);
  expect(events.length).toBeGreaterThan(300);
  const all = events.slice(0, events.findIndex(endsRun) + 1);
  for (const [index, [wish, selection]] of Object.entries(selections).entries()) {
    const wanted = all.filter(eventSelection(selection));
    const { seen, connections } = observations[index] ?? { seen: [], connections: [] };
    expect({ wish, seen: shown(seen) }).toEqual({ wish, seen: shown(wanted) });
    for (const { after, events: got, throughSequence = 0, isWhole } of connections) {
      const due = wanted.filter(({ sequence }) => sequence > after);
      const first = shown(due.slice(0, got.length));
      expect({ wish, after, got: shown(got) }).toEqual({ wish, after, got: first });
      // The server reported these events as complete.
      const promised = due.filter(({ sequence }) => sequence <= throughSequence);
      expect(got.length).toBeGreaterThanOrEqual(promised.length);
      expect(isWhole).toBe(isWhole && got.length === due.length);
    }
    expect(connections.at(-1)?.isWhole).toBe(true);
  }
  for (const protocol of protocols) {
    const client = clientsOf(deployment.url, `Bearer ${deployment.token}`, protocol);
    const after = all.at(-1)?.sequence ?? 0;
    const request = { runId, afterSequence: after, selection: selections.everything };
    const nothing = { after, events: [], throughSequence: after, isWhole: true };
    expect(await connection(client, request, Infinity)).toEqual(nothing);
  }
});
