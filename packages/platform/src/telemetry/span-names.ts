/**
 * The attribute names of all spans. The standard names follow the OpenTelemetry semantic conventions 1.45.0, in which all names
 * for agents and models may still change; `plan` follows the GenAI conventions of May 2026. Names that begin with `reeve.` are
 * Reeve's own, because there are no conventions for runs, claims, and approvals.
 */
export const attributes = {
  rpcSystem: "rpc.system.name",
  rpcMethod: "rpc.method",
  rpcStatus: "rpc.response.status_code",
  errorType: "error.type",
  messagingSystem: "messaging.system",
  messagingDestination: "messaging.destination.name",
  messagingOperation: "messaging.operation.type",
  operation: "gen_ai.operation.name",
  agentId: "gen_ai.agent.id",
  agentName: "gen_ai.agent.name",
  agentVersion: "gen_ai.agent.version",
  conversation: "gen_ai.conversation.id",
  provider: "gen_ai.provider.name",
  requestModel: "gen_ai.request.model",
  requestMaxTokens: "gen_ai.request.max_tokens",
  requestTemperature: "gen_ai.request.temperature",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  timeToFirstChunk: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cachedTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCallId: "gen_ai.tool.call.id",
  instructions: "gen_ai.system_instructions",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  runId: "reeve.run.id",
  tenant: "reeve.tenant",
  worker: "reeve.worker",
  claimEpoch: "reeve.claim.epoch",
  deliveryAttempt: "reeve.delivery.attempt",
  runRelease: "reeve.run.rest",
  subtaskId: "reeve.subtask.id",
  depth: "reeve.depth",
  toolStatus: "reeve.tool.status",
  approvalId: "reeve.approval.id",
  approvalState: "reeve.approval.state",
  approvalWait: "reeve.approval.wait_seconds",
} as const;

/** The operations, for span names and `gen_ai.operation.name`. */
export const operations = {
  chat: "chat",
  invokeAgent: "invoke_agent",
  executeTool: "execute_tool",
  plan: "plan",
} as const;
