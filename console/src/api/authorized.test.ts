import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { IdentityService } from "@reeve/contracts/identity";
import { RunService, RunStatus, WatchRunResponseSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { RunFeed } from "../run/feed/run-feed.ts";
import { authorized } from "./authorized.ts";

const refused = () => new ConnectError("the token has expired", Code.Unauthenticated);

/** A session with the token `old`, and a server that accepts only `new`. */
function bench(renewed: string | undefined | (() => string), refusesAtOnce = false) {
  const session = { token: "old", ended: "" };
  const asked: string[] = [];
  const transport = createRouterTransport(
    ({ service }) => {
      service(RunService, {
        async *watchRun({ afterSequence }, { requestHeader }) {
          const token = requestHeader.get("authorization") ?? "";
          asked.push(`${token} after ${afterSequence}`);
          const isNew = token === "Bearer new";
          if (refusesAtOnce) throw refused();
          const sequence = afterSequence + 1;
          yield create(WatchRunResponseSchema, {
            events: [{ sequence, event: { case: "text", value: { text: `${sequence}` } } }],
            throughSequence: sequence,
            ...(isNew && { endStatus: RunStatus.COMPLETED }),
          });
          // The token has expired while the stream was open.
          if (!isNew) throw refused();
        },
      });
      service(IdentityService, {
        getCaller(_, { requestHeader }) {
          asked.push(requestHeader.get("authorization") ?? "");
          if (requestHeader.get("authorization") !== "Bearer new") throw refused();
          return { tenant: "acme" };
        },
      });
    },
    {
      transport: {
        interceptors: [
          authorized({
            token: () => session.token,
            replace: async () => {
              const next = typeof renewed === "function" ? renewed() : renewed;
              session.token = next ?? session.token;
              return next;
            },
            end: (reason) => void (session.ended = reason),
          }),
        ],
      },
    },
  );
  return { transport, session, asked };
}

async function followed(transport: ReturnType<typeof bench>["transport"]) {
  const runs = createClient(RunService, transport);
  const feed = new RunFeed("run_1", {
    open: (request, signal) => runs.watchRun(request, { signal }),
    schedule: (draw) => draw(),
    wait: () => Promise.resolve(),
    rest: () => Promise.resolve(),
    drawn: () => Promise.resolve(),
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  feed.subscribe(() => {
    if (["ended", "refused"].includes(feed.snapshot().state)) resolve();
  });
  feed.follow();
  await promise;
  return feed.snapshot();
}

test("a run is followed further when its token ends and the session is renewed", async () => {
  const { transport, session, asked } = bench("new");
  const { state, run } = await followed(transport);
  expect(state).toBe("ended");
  expect(run.events.map(({ sequence }) => sequence)).toEqual([1, 2]);
  expect(asked).toEqual(["Bearer old after 0", "Bearer new after 1"]);
  expect(session.ended).toBe("");
});

test("a session that cannot be renewed ends with the stream that the server ends", async () => {
  const { transport, session } = bench(undefined);
  expect((await followed(transport)).state).toBe("refused");
  expect(session.ended).toContain("the token has expired");
});

test("a session whose server accepts none of its tokens ends, and is not renewed for ever", async () => {
  const { transport, session, asked } = bench(() => `wrong ${asked.length}`, true);
  expect((await followed(transport)).state).toBe("refused");
  expect(asked).toHaveLength(4);
  expect(session.ended).toContain("the token has expired");
});

test("a request with a token that has ended is sent once more", async () => {
  const { transport, asked } = bench("new");
  expect(await createClient(IdentityService, transport).getCaller({})).toMatchObject({
    tenant: "acme",
  });
  expect(asked).toEqual(["Bearer old", "Bearer new"]);
  const wrong = bench("wrong");
  const caller = createClient(IdentityService, wrong.transport);
  await expect(caller.getCaller({})).rejects.toThrow("the token has expired");
  expect(wrong.asked).toEqual(["Bearer old", "Bearer wrong"]);
  expect(wrong.session.ended).toContain("the token has expired");
});
