import { beforeAll, expect, test } from "vitest";
import { addressOf } from "../support/a2a/a2a-deployment.ts";
import { preparePythonClient } from "../support/a2a/python-client.ts";
import type { Deployment } from "../support/deployment.ts";

/** Declares the tests of the A2A project's client for Python. It is installed while other tests run. */
export function describePythonClient(deploymentOf: () => Deployment): void {
  let installing: ReturnType<typeof preparePythonClient>;

  beforeAll(() => {
    installing = preparePythonClient();
    // Awaited in the test.
    installing.catch(() => undefined);
  });

  test("converses, decides an approval, and cancels over each binding, and verifies the signed card", async ({
    skip,
  }) => {
    const client = await installing;
    if (client.kind === "missing") return skip(client.reason);
    const deployment = deploymentOf();
    const seen = await client.drive(addressOf(deployment, "helper"), deployment.token);
    const completed = { first: "task", last_state: "TASK_STATE_COMPLETED" };
    const todo = { ...completed, text: expect.stringMatching(/^It says: .*milk/s) };
    const conversation = {
      turns: {
        first: "You said: hello",
        streamed: todo,
        last: expect.stringMatching(/^You said: hello .* again$/s),
        reads_the_same: true,
        lists_the_same: true,
      },
      approval: {
        waiting: "TASK_STATE_INPUT_REQUIRED",
        tool: "write_file",
        same_task: true,
        streamed: { ...completed, text: expect.stringMatching(/^It says: /) },
      },
      cancel: {
        same_task: true,
        canceled: "TASK_STATE_CANCELED",
        last_state: "TASK_STATE_CANCELED",
        again: "TaskNotCancelableError",
        unknown: "TaskNotFoundError",
      },
    };
    expect(seen).toEqual({
      card: "helper",
      "0.3": { ...todo, task_id: expect.stringMatching(/^run_/) },
      JSONRPC: conversation,
      "HTTP+JSON": conversation,
    });
  });
}
