import { SpanKind } from "@opentelemetry/api";
import { attributes } from "@reeve/platform/telemetry/span-names";
import { inChildSpan } from "@reeve/platform/telemetry/spans";

/** Publishes to a queue in a span of its own, if there is a trace that it belongs to. */
export function publicationSpan<Result>(
  subject: string,
  publish: () => Promise<Result>,
): Promise<Result> {
  const described = {
    [attributes.messagingSystem]: "nats",
    [attributes.messagingDestination]: subject,
    [attributes.messagingOperation]: "send",
  };
  const options = { kind: SpanKind.PRODUCER, attributes: described };
  return inChildSpan(`send ${subject}`, options, publish);
}
