import { RunService } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import type { PlainRoute } from "./plain-route.ts";
import { matchPlainRoute } from "./plain-route.ts";

const routes: readonly PlainRoute[] = [
  {
    verb: "GET",
    path: "/v1/runs/{run_id}/events",
    method: RunService.method.watchRun,
    events: {
      resume: (lastEventId) => ({ afterSequence: lastEventId, resumeToken: "token" }),
      render: () => "",
      isOver: () => false,
    },
  },
];

const messageOf = (query: string, lastEventId?: string) =>
  matchPlainRoute(routes, { verb: "GET", url: `/v1/runs/run_a/events${query}`, lastEventId })
    ?.message;

test.each(["afterSequence", "after_sequence"])(
  "a client that resumes by an event id continues there, whatever its address says: ?%s=10",
  (name) => {
    const query = `?${name}=10&detailed=true`;
    expect(messageOf(query)).toEqual({ [name]: "10", detailed: true, run_id: "run_a" });
    expect(messageOf(query, "12")).toEqual({
      afterSequence: "12",
      resumeToken: "token",
      detailed: true,
      run_id: "run_a",
    });
  },
);
