import type { ConnectRouter } from "@connectrpc/connect";
import type { AnswerQuestionRequest } from "@reeve/contracts/approval";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";
import { serveRoutes } from "./support/small-server.ts";

const dishes = {
  type: "object",
  properties: { answer: { type: "string", enum: ["soup", "salad"] } },
};

/** Runs `reeve answer a …` for a question, and returns the answers that the server got. */
async function answered(args: readonly string[], callId = "a") {
  const answers: AnswerQuestionRequest[] = [];
  const question = { message: "Which dish?", schema: dishes, askedBy: "agent" };
  const asked = { approvalId: "a", call: { callId, name: "ask_user" }, question };
  const routes = (router: ConnectRouter) =>
    void router.service(ApprovalService, {
      getApproval: () => ({ approval: { ...asked, state: ApprovalState.PENDING } }),
      answerQuestion: (answer) => {
        answers.push(answer);
        return { approval: { ...asked, state: ApprovalState.APPROVED } };
      },
    });
  const { signal } = new AbortController();
  await using server = await serveRoutes(routes, 0, signal);
  const terminal = new MemoryTerminal();
  const given = ["--url", server.url, "answer", "a", ...args];
  const code = await runCli(given, { terminal, environment: {}, signal });
  return { code, answers, stdout: terminal.stdout, stderr: terminal.stderr };
}

test.each([
  [["salad"], { declined: false, answer: { answer: "salad" } }, "a answered\n"],
  [["2"], { declined: false, answer: { answer: "salad" } }, "a answered\n"],
  [["--answer", '{"guests":2}'], { declined: false, answer: { guests: 2 } }, "a answered\n"],
  [
    ["--decline", "--reason", "Ask me tomorrow."],
    { declined: true, reason: "Ask me tomorrow." },
    "a declined\n",
  ],
])("answer %j sends the answer of the person", async (args, expected, stdout) => {
  const { code, answers, ...terminal } = await answered(args);
  expect({ code, ...terminal }).toEqual({ code: 0, stdout, stderr: "" });
  expect(answers).toMatchObject([{ approvalId: "a", ...expected }]);
});

test.each([
  [[], "a", "give one of: the words of an answer, --answer, and --decline"],
  [["salad", "--decline"], "a", "give one of: the words of an answer, --answer, and --decline"],
  [["fish"], "a", "choose one of: soup, salad"],
  [["salad"], "other", "a is no question of an agent"],
])("answer %j is refused before it is sent", async (args, callId, problem) => {
  const { code, answers, stderr } = await answered(args, callId);
  expect(code).toBe(2);
  expect(stderr).toContain(problem);
  expect(answers).toEqual([]);
});
