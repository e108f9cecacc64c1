import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Agent, AgentService } from "@reeve/contracts/agent";
import { AgentSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunService, StartRunRequest } from "@reeve/contracts/run";
import { RunStatus, StartRunRequestSchema } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import type { RunningServer } from "@reeve/platform/rpc/server";
import { serveRuns } from "./small-server.ts";

/** The id of a run that is listed, although it was deleted. */
export const deletedRun = "run_deleted";

/** A server whose agents answer, judge, and grade as a test prescribes. */
export class EvaluatedAgents {
  /** The answers of the agents, by input. */
  readonly answers = new Map<string, string>();
  /** What the code of graders answers, by its Python: its verdict as JSON, or why it failed. */
  readonly verdicts = new Map<string, string | { readonly problem: string }>();
  /** The agents that were created, by id. */
  readonly created = new Map<string, Agent>();
  /** The requests of the runs, by id. */
  readonly requests = new Map<string, StartRunRequest>();
  /** The ids of the runs that are listed. */
  recorded: readonly string[] = [];
  /** The largest number of runs that were open at once. */
  maxOpen = 0;
  #open = 0;

  /** Serves the agents on a port of 127.0.0.1. */
  async serve(signal: AbortSignal): Promise<RunningServer> {
    return await serveRuns(this.#runs(), 0, signal, this.#agents());
  }

  /** Records a run of a person. */
  record(runId: string, input: string): string {
    this.requests.set(runId, create(StartRunRequestSchema, { agentId: "helper", input }));
    return runId;
  }

  #runs(): Partial<ServiceImpl<typeof RunService>> {
    return {
      startRun: (request) => {
        const runId = `run_${this.requests.size + 1}`;
        this.requests.set(runId, request);
        this.maxOpen = Math.max(this.maxOpen, (this.#open += 1));
        return { run: { runId, agentId: request.agentId } };
      },
      watchRun: ({ runId }) => this.#watch(runId),
      getRun: ({ runId }) => ({ run: { runId, ...this.#outcomeOf(runId) } }),
      listRuns: () => ({
        runs: this.recorded.map((runId) => ({ runId, ...this.#labelsOf(runId) })),
      }),
    };
  }

  async *#watch(runId: string) {
    if (runId === deletedRun) throw new Failure("not_found", ErrorReason.RUN_NOT_FOUND, "gone");
    const input = this.requests.get(runId)?.input ?? "";
    yield {
      events: [{ runId, sequence: 1, event: { case: "runCreated" as const, value: { input } } }],
      throughSequence: 1,
    };
    await Promise.resolve();
    this.#open -= 1;
    yield { throughSequence: 2, endStatus: RunStatus.COMPLETED };
  }

  #agents(): Partial<ServiceImpl<typeof AgentService>> {
    return {
      getAgent: ({ agentId }) => {
        const agent = this.created.get(agentId);
        if (agent !== undefined) return { agent };
        throw new Failure("not_found", ErrorReason.AGENT_NOT_FOUND, `agent ${agentId} not found`);
      },
      createAgent: ({ spec }) => {
        const agent = create(AgentSchema, { ...(spec && { spec }), revision: 1, createdBy: "ann" });
        this.created.set(spec?.id ?? "", agent);
        return { agent };
      },
    };
  }

  #outcomeOf(runId: string) {
    const { agentId = "", input = "" } = this.requests.get(runId) ?? {};
    if (agentId === "eval-code-grader-1") return this.#verdictOf(input);
    const isJudge = agentId === "judge";
    const isGood = input.includes("kind answer");
    const structuredOutput = { score: isGood ? 0.9 : 0.1, reason: "tone" };
    const output = this.answers.get(input) ?? "";
    const status = output === "" && !isJudge ? RunStatus.ERROR : RunStatus.COMPLETED;
    const error = { reason: "provider_failed", message: "the provider failed" };
    return {
      agentId,
      status,
      output,
      cost: { costUsd: 0.01 },
      ...(isJudge && { structuredOutput }),
      ...(status === RunStatus.ERROR && { error }),
    };
  }

  /** Returns how the run of a code grader ends that was started with an input. */
  #verdictOf(input: string) {
    const { python } = JSON.parse(input) as { readonly python: string };
    const verdict = this.verdicts.get(python) ?? "";
    if (typeof verdict === "string") return { status: RunStatus.COMPLETED, output: verdict };
    const error = { reason: "node_failed", message: verdict.problem };
    return { status: RunStatus.ERROR, error };
  }

  #labelsOf(runId: string) {
    const { labels = {}, agentId = "" } = this.requests.get(runId) ?? {};
    return { labels, agentId };
  }
}
