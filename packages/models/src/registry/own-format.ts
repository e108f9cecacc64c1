import type {
  ModelProvider,
  ModelRequest,
  PromptMessage,
} from "@reeve/engine/ports/model-provider";

/** A format that no provider has: its messages are sent as text and calls. */
const foreign = "foreign";

/**
 * Gives a provider a format of its own, named after it. What a server sealed in a turn, such as encrypted reasoning or a signature, is
 * valid only there: other servers with the same API receive the text and the calls of the turn, and so does this one with theirs.
 */
export function withOwnFormat(provider: ModelProvider): ModelProvider {
  const format = `${provider.format}/${provider.descriptor.name}`;
  const received = (request: ModelRequest): ModelRequest => ({
    ...request,
    messages: request.messages.map((message) => translated(message, format, provider.format)),
  });
  const { countTokens } = provider;
  return {
    ...provider,
    format,
    stream: (request, signal) => provider.stream(received(request), signal),
    ...(countTokens && {
      countTokens: (request, signal) => countTokens(received(request), signal),
    }),
  };
}

function translated(message: PromptMessage, own: string, api: string): PromptMessage {
  if (message.role !== "verbatim" || message.format === undefined) return message;
  return { ...message, format: message.format === own ? api : foreign };
}
