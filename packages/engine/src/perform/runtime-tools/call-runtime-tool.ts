import { create } from "@bufbuild/protobuf";
import { searchKnowledgeName } from "@reeve/agent/tools/search-knowledge";
import { openSkillName } from "@reeve/agent/tools/open-skill";
import { retrieveArtifactName } from "@reeve/agent/tools/runtime-tools";
import { ToolResultSchema, ToolStatus } from "@reeve/contracts/tool";
import { searchKnowledge } from "@reeve/knowledge/knowledge-tool";
import { callMemoryTool } from "@reeve/memory/memory-tools";
import { approvedCall } from "../../domain/calls/approved-call.ts";
import type { Fact } from "../../domain/state/fact.ts";
import { workingAgent } from "../../domain/delegates/working-agent.ts";
import { resultBytesIn } from "../../domain/budget/frame-caps.ts";
import type { Effect } from "../../domain/next-effects.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import { frameOf } from "../../domain/state/run-state.ts";
import { refusalOfCall } from "../policy-now.ts";
import { noCollections, readerOf } from "../retrieve-passages.ts";
import { refuse, toolResultFact } from "../../domain/calls/tool-result.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import { openSkill } from "./open-skill.ts";
import { retrieveArtifact } from "./retrieve-artifact.ts";
import { inRuntimeToolSpan } from "../../tracing/runtime-tool-span.ts";

/** Executes a call of a tool of the runtime that needs more than the run's state. Idempotent. */
export async function* callRuntimeTool(
  state: RunState,
  { scope, call, frame }: Extract<Effect, { kind: "call_runtime_tool" }>,
  ports: RunPorts,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  const approved = approvedCall(call);
  const { callId, name, arguments: args = {} } = approved;
  const { runId, created } = state.head;
  const caller = frameOf(state, frame);
  const tool = caller.tools.get(name);
  const refusal = tool && refusalOfCall(state, tool, { call, frame }, ports);
  if (refusal !== undefined) {
    const { reason, permission = call.permission } = refusal;
    yield [refuse({ ...call, permission }, scope, reason, ToolStatus.ERROR, ports.clock.now())];
    return;
  }
  const owner = { tenant: created?.tenant ?? "", user: created?.startedBy ?? "" };
  const outcome = await inRuntimeToolSpan(approved, async () => {
    switch (name) {
      case retrieveArtifactName:
        return await retrieveArtifact(
          state,
          args,
          { artifacts: ports.artifacts, resultBytes: resultBytesIn(state, caller) },
          signal,
        );
      case openSkillName:
        return await openSkill(state, frame, args, ports, signal);
      case searchKnowledgeName: {
        if (ports.knowledge === undefined || created === undefined) throw noCollections();
        const known = [...new Set([...created.collections, ...collectionsOf(state, caller)])];
        const isShared = !created.collectionsRestricted;
        const limits = { known, isShared, maxBytes: resultBytesIn(state, caller) };
        return await searchKnowledge(ports.knowledge, readerOf(created), limits, args, signal);
      }
      default:
        return await callMemoryTool(ports.memory, owner, { name, args, runId, callId }, signal);
    }
  });
  const result = create(ToolResultSchema, { callId, name, ...outcome });
  yield [toolResultFact(call, scope, result, ports.clock.now())];
}

/** Returns the collections of the agent that works in a frame. */
function collectionsOf(state: RunState, frame: Parameters<typeof workingAgent>[1]) {
  return workingAgent(state, frame).spec?.collections ?? [];
}
