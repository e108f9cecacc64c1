import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { RunEventSchema, WatchRunResponse } from "@reeve/contracts/run";
import { RunStatus, WatchRunResponseSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import type { OpenWatch, RunSnapshot } from "./run-feed.ts";
import { BegunWatch, watchRequest } from "./begun-watch.ts";
import { RunFeed } from "./run-feed.ts";

const text = (sequence: number, text: string): MessageInitShape<typeof RunEventSchema> => ({
  sequence,
  stepNumber: 1,
  event: { case: "text", value: { text } },
});

const message = (init: MessageInitShape<typeof WatchRunResponseSchema>): WatchRunResponse =>
  create(WatchRunResponseSchema, init);

const lost = () => new ConnectError("the connection is lost", Code.Unavailable);

/** Follows a run whose streams give these messages one after the other, and returns what was asked for, and the end. */
async function followed(...streams: readonly (readonly (WatchRunResponse | Error)[])[]) {
  const asked: { readonly after: number; readonly token: string }[] = [];
  const open: OpenWatch = async function* ({ afterSequence, resumeToken }) {
    const messages = streams[asked.length] ?? [];
    asked.push({ after: afterSequence, token: resumeToken });
    for (const each of messages) {
      if (each instanceof Error) throw each;
      yield each;
    }
  };
  const feed = new RunFeed("run_1", {
    open,
    schedule: (draw) => draw(),
    wait: () => Promise.resolve(),
    rest: () => Promise.resolve(),
    drawn: () => Promise.resolve(),
  });
  const { promise, resolve } = Promise.withResolvers<RunSnapshot>();
  feed.subscribe(() => {
    const snapshot = feed.snapshot();
    if (snapshot.state === "ended" || snapshot.state === "refused") resolve(snapshot);
  });
  feed.follow();
  return { asked, snapshot: await promise };
}

test("continues after the last event when the connection is lost, and shows no event twice", async () => {
  const { asked, snapshot } = await followed(
    [message({ events: [text(1, "one ")], throughSequence: 1, resumeToken: "a" }), lost()],
    [
      message({
        events: [text(1, "one "), text(2, "two")],
        throughSequence: 2,
        resumeToken: "b",
        endStatus: RunStatus.COMPLETED,
      }),
    ],
  );
  expect(asked).toEqual([
    { after: 0, token: "" },
    { after: 1, token: "a" },
  ]);
  expect(snapshot.state).toBe("ended");
  expect(snapshot.run.root.items).toMatchObject([{ kind: "text", text: "one two" }]);
});

test("begins again when the store lost events that it has shown", async () => {
  const { asked, snapshot } = await followed(
    [
      message({ events: [text(1, "lost")], throughSequence: 1, resumeToken: "a" }),
      new ConnectError("history lost", Code.DataLoss),
    ],
    [message({ events: [text(1, "kept")], throughSequence: 1, endStatus: RunStatus.COMPLETED })],
  );
  expect(asked[1]).toEqual({ after: 0, token: "" });
  expect(snapshot.run.root.items).toMatchObject([{ text: "kept" }]);
});

test("stops with the reason when the server refuses", async () => {
  const { snapshot } = await followed([new ConnectError("no run run_1", Code.NotFound)]);
  expect(snapshot).toMatchObject({ state: "refused", problem: { message: "no run run_1" } });
});

test("the start of a run is drawn before more of it is folded", async () => {
  const { promise: onScreen, resolve: draw } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const feed = new RunFeed("run_1", {
    async *open() {
      yield message({ events: [text(1, "one ")], throughSequence: 1 });
      const events = [text(2, "two")];
      yield message({ events, throughSequence: 2, endStatus: RunStatus.COMPLETED });
    },
    schedule: (toDraw) => toDraw(),
    wait: () => Promise.resolve(),
    rest: () => Promise.resolve(),
    drawn: () => {
      reach();
      return onScreen;
    },
  });
  const ended = Promise.withResolvers<void>();
  feed.subscribe(() => {
    if (feed.snapshot().state === "ended") ended.resolve();
  });
  feed.follow();
  await reached;
  expect(feed.snapshot().run.root.items).toMatchObject([{ text: "one " }]);
  draw();
  await ended.promise;
  expect(feed.snapshot().run.root.items).toMatchObject([{ text: "one two" }]);
});

const still = {
  schedule: (draw: () => void) => draw(),
  wait: () => Promise.resolve(),
  rest: () => Promise.resolve(),
  drawn: () => Promise.resolve(),
};

const refuse: OpenWatch = () => {
  throw new Error("a second stream was opened");
};

const openOne: OpenWatch = async function* () {
  yield message({ events: [text(1, "one")], throughSequence: 1, endStatus: RunStatus.COMPLETED });
};

test("a watch that began before gives its first message at once, and the rest once it is followed", async () => {
  const begun = new BegunWatch(async function* () {
    yield message({ events: [text(1, "one ")], throughSequence: 1 });
    yield message({ events: [text(2, "two")], throughSequence: 2, endStatus: RunStatus.COMPLETED });
  });
  await begun.arrived;
  const feed = new RunFeed("run_1", { ...still, open: refuse }, begun);
  expect(feed.snapshot()).toMatchObject({ state: "live", run: { events: [{ sequence: 1 }] } });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  feed.subscribe(() => {
    if (feed.snapshot().state === "ended") resolve();
  });
  feed.follow();
  await ended;
  expect(feed.snapshot().run.root.items).toMatchObject([{ kind: "text", text: "one two" }]);
});

test("a watch that began before and failed is opened again", async () => {
  const begun = new BegunWatch(async function* () {
    yield* [];
    throw lost();
  });
  const feed = new RunFeed("run_1", { ...still, open: openOne }, begun);
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  feed.subscribe(() => {
    if (feed.snapshot().state === "ended") resolve();
  });
  feed.follow();
  await ended;
  expect(feed.snapshot().run.root.items).toMatchObject([{ text: "one" }]);
});

test("a rendering that is discarded takes no stream from the one that is shown", async () => {
  let opened = 0;
  const begun = new BegunWatch(async function* () {
    opened++;
    yield message({ events: [text(1, "one ")], throughSequence: 1 });
    yield message({ events: [text(2, "two")], throughSequence: 2, endStatus: RunStatus.COMPLETED });
  });
  await begun.arrived;
  const discarded = new RunFeed("run_1", { ...still, open: refuse }, begun);
  const shown = new RunFeed("run_1", { ...still, open: refuse }, begun);
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  shown.subscribe(() => {
    if (shown.snapshot().state === "ended") resolve();
  });
  shown.follow();
  await ended;
  expect(opened).toBe(1);
  expect(shown.snapshot().run.events.map(({ sequence }) => sequence)).toEqual([1, 2]);
  expect(discarded.snapshot().run.events).toHaveLength(1);
});

test.each(["before", "after"])(
  "a begun watch of a run that has ended is closed if it arrives %s the run is shown",
  async (order) => {
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    let taken = 0;
    const begun = new BegunWatch(
      async function* (signal) {
        signal.addEventListener("abort", () => close());
        yield* openOne(watchRequest("run_1", { afterSequence: 0, resumeToken: "" }), signal);
      },
      () => void taken++,
    );
    if (order === "before") await begun.arrived;
    const feed = new RunFeed("run_1", { ...still, open: refuse }, begun);
    feed.follow();
    await closed;
    expect(taken).toBe(1);
    expect(feed.snapshot()).toMatchObject({ state: "ended", run: { events: [{ sequence: 1 }] } });
  },
);
