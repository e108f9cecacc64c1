import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { A2AService, Role, TaskState } from "@reeve/contracts/a2a-protocol";
import { ErrorInfoSchema } from "@reeve/contracts/error-details";
import { beforeAll, describe, expect, test } from "vitest";
import { addressOf } from "../support/a2a/a2a-deployment.ts";
import { preparePythonGrpcClient } from "../support/a2a/python-grpc-client.ts";
import type { Deployment } from "../support/deployment.ts";

/** Tests the gRPC binding of the agents `helper`, which is offered, and `hidden`, which is not. */
export function describeA2AOverGrpc(deployment: () => Deployment): void {
  const clientWith = (headers: Readonly<Record<string, string>>) => {
    const transport = createGrpcTransport({
      baseUrl: deployment().url,
      interceptors: [
        (next) => (request) => {
          for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
          return next(request);
        },
      ],
    });
    return createClient(A2AService, transport);
  };
  const authorized = (token = deployment().token) => ({ authorization: `Bearer ${token}` });
  // Requirement: RES-3
  describe("the gRPC binding refuses", () => {
    test.each<readonly [string, Readonly<Record<string, string>>, object, readonly string[]]>([
      ["a caller without a token", {}, {}, ["Unauthenticated", "UNAUTHENTICATED"]],
      [
        "a caller without the role",
        { authorization: "Bearer viewer-token" },
        {},
        ["PermissionDenied", "PERMISSION_DENIED"],
      ],
      [
        "an agent that is not offered",
        authorizedLater,
        { tenant: "hidden" },
        ["NotFound", "AGENT_NOT_FOUND"],
      ],
      [
        "a request without a tenant",
        authorizedLater,
        { tenant: "" },
        ["InvalidArgument", "INVALID_PARAMS"],
      ],
      [
        "another version",
        { ...authorizedLater, "a2a-version": "0.3" },
        {},
        ["FailedPrecondition", "VERSION_NOT_SUPPORTED"],
      ],
      [
        "a message that is too large",
        authorizedLater,
        { metadata: { x: "x".repeat(5 * 1024 * 1024) } },
        ["ResourceExhausted", "TOO_LARGE"],
      ],
      [
        "a message with too many values",
        authorizedLater,
        { metadata: { x: Array.from({ length: 60_000 }, () => true) } },
        ["ResourceExhausted", "TOO_LARGE"],
      ],
    ])("%s", async (_, headers, more, refusal) => {
      const given = Object.hasOwn(headers, "later") ? authorized() : {};
      const client = clientWith({ ...headers, ...given });
      expect(await refusalOf(client.sendMessage({ ...saying("x"), ...more }))).toEqual(refusal);
    });

    test("a task that does not exist", async () => {
      const client = clientWith(authorized());
      const read = client.getTask({ tenant: "helper", id: "run_00000000000000000000000000" });
      expect(await refusalOf(read)).toEqual(["NotFound", "TASK_NOT_FOUND"]);
    });
  });

  // Requirement: RES-3
  test("a deadline that is too long for a timer is refused, and is not over at once", async () => {
    const client = clientWith({ ...authorized(), "grpc-timeout": "99999999H" });
    const { code } = ConnectError.from(
      await client.listTasks({ tenant: "helper" }).catch((cause: unknown) => cause),
    );
    expect(Code[code]).toBe("InvalidArgument");
  });

  describe("the client of the A2A project for Python", () => {
    let installing: ReturnType<typeof preparePythonGrpcClient>;

    beforeAll(() => {
      installing = preparePythonGrpcClient();
      // Awaited in the test.
      installing.catch(() => undefined);
    });

    // Requirement: RES-3
    test("streams, reads, continues, and cancels tasks over gRPC", async ({ skip }) => {
      const client = await installing;
      if (client.kind === "missing") return skip(client.reason);
      const { token } = deployment();
      expect(await client.drive(addressOf(deployment(), "helper"), token)).toEqual({
        last_state: "TASK_STATE_COMPLETED",
        text: expect.stringMatching(/^It says: .*milk/s),
        reads_the_same: true,
        same_task: true,
        canceled: "TASK_STATE_CANCELED",
        again: "TaskNotCancelableError",
        unknown: "TaskNotFoundError",
      });
    });
  });

  // Requirement: RES-3
  test("a client that leaves a stream of gRPC cancels nothing, and another one continues it", async () => {
    const client = clientWith(authorized());
    const leaving = new AbortController();
    let id = "";
    const { signal } = leaving;
    const stream = client.sendStreamingMessage(saying("ask"), { signal });
    await expect(async () => {
      for await (const { payload } of stream) {
        if (payload.case === "task") ({ id } = payload.value);
        leaving.abort();
      }
    }).rejects.toThrow("abort");
    const states: (TaskState | undefined)[] = [];
    for await (const { payload } of client.subscribeToTask({ tenant: "helper", id })) {
      if (payload.case === "task") states.push(payload.value.status?.state);
      break;
    }
    expect([TaskState.WORKING, TaskState.INPUT_REQUIRED]).toContain(states[0]);
    const { status } = await client.cancelTask({ tenant: "helper", id });
    expect(status?.state).toBe(TaskState.CANCELED);
  });
}

/** Stands for the headers of a caller with a token of the deployment, which is not known yet. */
const authorizedLater = { later: "" };

function saying(text: string) {
  const parts = [{ content: { case: "text", value: text } as const }];
  const message = { messageId: crypto.randomUUID(), role: Role.USER, parts };
  return { tenant: "helper", message };
}

/** Returns the code and the reason with which a call is refused. */
async function refusalOf(answer: Promise<unknown>) {
  const error = ConnectError.from(await answer.catch((cause: unknown) => cause));
  return [Code[error.code], error.findDetails(ErrorInfoSchema)[0]?.reason];
}
