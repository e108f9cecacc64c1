import type { ModelCallStarted } from "@reeve/contracts/run";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { requestDigests } from "../domain/model/request-digest.ts";
import { rootId } from "../domain/state/frame.ts";
import { frameOf, liveFrames } from "../domain/state/run-state.ts";
import { anyWorld, play } from "../../test/support/random-world.ts";
import { PlayedRun } from "../../test/support/run-player.ts";
import { modelRequest } from "./models/model-request.ts";

/** Returns the digests of the request that is sent for the current call of a frame. */
function sentBy({ state }: PlayedRun, id = rootId) {
  const frame = frameOf(state, id);
  if (frame.modelCall === undefined) throw new Error("no model is called");
  const { model, ...request } = modelRequest(state, frame, frame.modelCall, 0);
  return requestDigests(model, request);
}

/** Returns the latest recorded start of a call at the root. */
function recordedBy(run: PlayedRun): ModelCallStarted | undefined {
  return run.events
    .flatMap(({ event, parentId }) =>
      event.case === "modelCallStarted" && parentId === "" ? [event.value] : [],
    )
    .at(-1);
}

test("each request that is sent has the digest that was recorded before the call", () => {
  let compared = 0;
  fc.assert(
    fc.property(anyWorld, (world) => {
      play(world, (run) => {
        const recorded = new Set(
          run
            .all("modelCallStarted")
            .map(({ requestDigest }) => Buffer.from(requestDigest).toString("hex")),
        );
        for (const { id, modelCall } of liveFrames(run.state)) {
          if (modelCall === undefined) continue;
          const { requestDigest } = sentBy(run, id);
          expect(recorded).toContain(Buffer.from(requestDigest).toString("hex"));
          compared++;
        }
      });
    }),
    { numRuns: 40 },
  );
  expect(compared).toBeGreaterThan(100);
});

test("the digest of the tools stays the same while the conversation grows, and changes with a tool", () => {
  const run = new PlayedRun();
  const first = recordedBy(run);
  const second = recordedBy(run.turn({ name: "search" }).result(0));
  expect(second?.toolsDigest).toEqual(first?.toolsDigest);
  expect(second?.requestDigest).not.toEqual(first?.requestDigest);
  expect(sentBy(run)).toMatchObject({ requestDigest: second?.requestDigest });
  const other = recordedBy(new PlayedRun({}, { tools: [{ name: "count" }] }));
  expect(other?.toolsDigest).not.toEqual(first?.toolsDigest);
});
