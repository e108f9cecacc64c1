import type { DescMessage } from "@bufbuild/protobuf";
import type { UniversalClientFn } from "@connectrpc/connect/protocol";
import { createNodeHttpClient } from "@connectrpc/connect-node";
import { A2AService } from "@reeve/contracts/a2a-protocol";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { countProtobufValues } from "@reeve/platform/rpc/body/count-values";
import { TooLargeMessage } from "./grpc-failure.ts";
import type { GrpcSession } from "./grpc-sessions.ts";

/** The maximum size of one answer, and of all messages of a stream. */
const maxAnswerBytes = 32 * 1024 * 1024;
/** The maximum size of one message of a stream, as that of an event of the other bindings. */
const maxEventBytes = 4 * 1024 * 1024;
/** How many fields, list elements, and map entries one message may have. An empty one takes two bytes, and a hundred times as many once it is parsed. */
const maxValues = 500_000;
/** The length of the header of an envelope: a byte of flags and the length of the message. */
const envelopeBytes = 5;

/**
 * Returns what sends the calls of a session. The body of an answer fails with a ModelFailure before a message is parsed whose size or number of
 * values is over the limits, or that is compressed: what is not compressed cannot grow.
 */
export function boundedClient(session: GrpcSession): UniversalClientFn {
  const client = createNodeHttpClient({ httpVersion: "2", sessionProvider: () => session });
  return async (request) => {
    const answer = await client(request);
    const name = new URL(request.url).pathname.split("/").at(-1);
    const method = A2AService.methods.find((each) => each.name === name);
    if (method === undefined) throw new Error(`A2A has no method ${name}`);
    const maxBytes = method.methodKind === "unary" ? maxAnswerBytes : maxEventBytes;
    const limits = { schema: method.output, maxBytes, origin: session.authority };
    return { ...answer, body: bounded(answer.body, limits) };
  };
}

interface Limits {
  readonly schema: DescMessage;
  readonly maxBytes: number;
  readonly origin: string;
}

async function* bounded(
  body: AsyncIterable<Uint8Array>,
  { schema, maxBytes, origin }: Limits,
): AsyncIterable<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  let wanted = envelopeBytes;
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    if (total > maxAnswerBytes) throw new TooLargeMessage(origin);
    pieces.push(chunk);
    length += chunk.length;
    if (length < wanted) continue;
    let rest = Buffer.concat(pieces);
    for (;;) {
      wanted = envelopeBytes;
      if (rest.length < wanted) break;
      const size = rest.readUInt32BE(1);
      if (size > maxBytes) throw new TooLargeMessage(origin);
      wanted += size;
      if (rest.length < wanted) break;
      const envelope = rest.subarray(0, wanted);
      assertReadable(envelope, schema, origin);
      yield envelope;
      rest = rest.subarray(wanted);
    }
    pieces = [rest];
    ({ length } = rest);
  }
  // An incomplete envelope, which the protocol refuses.
  yield* pieces;
}

function assertReadable(envelope: Buffer, schema: DescMessage, origin: string): void {
  if (envelope.readUInt8(0) !== 0) throw malformed(origin, "a compressed message");
  if (countValues(envelope.subarray(envelopeBytes), schema, origin) > maxValues)
    throw new TooLargeMessage(origin);
}

function countValues(message: Uint8Array, schema: DescMessage, origin: string): number {
  try {
    return countProtobufValues(schema, message, maxValues);
  } catch (error) {
    throw malformed(origin, `what is no ${schema.typeName}`, error);
  }
}

function malformed(origin: string, what: string, cause?: unknown): ModelFailure {
  const message = `the remote agent at ${origin} sent ${what}`;
  return new ModelFailure("malformed", message, { retryable: false, cause });
}
