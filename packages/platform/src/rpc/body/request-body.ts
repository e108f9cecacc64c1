import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { DescMessage } from "@bufbuild/protobuf";
import { fromBinary } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../../failure.ts";
import { connectErrorOf } from "../connect-failure.ts";
import type { HttpRequest } from "../http/http-handler.ts";
import type { ServerLimits } from "../server-limits.ts";
import { BodyReader } from "./body-reader.ts";
import { countJsonValues, countProtobufValues } from "./count-values.ts";
import type { RequestBytes } from "./held-bytes.ts";

/** Above the depth limit of requests, so that the validation, not the parser, refuses a deep message and gives the reason. */
export const readDeep = { recursionLimit: 1_000 };

export interface BodyOptions {
  readonly request: HttpRequest;
  /** The type of the messages. */
  readonly schema: DescMessage;
  /** Whether the client sends a stream of messages. */
  readonly isStream: boolean;
  readonly limits: ServerLimits;
  readonly held: RequestBytes;
}

/** A body whose messages are within the limits, not compressed, and well-formed if they are protobuf. */
export interface RequestBody {
  /** The headers of the request without those that describe the compressed body. */
  readonly header: Headers;
  /** Reads nothing before its first chunk is requested. Throws a ConnectError for a message that is refused. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The content types of all protocols: whether messages are in envelopes, and whether they are JSON. */
const contentType =
  /^application\/(grpc-web|grpc|connect|json|proto)(?:\+(json|proto))?\s*(?:;|$)/i;
/** The headers that name the compression of a body, by protocol. */
const encodingHeaders = ["content-encoding", "connect-content-encoding", "grpc-encoding"] as const;

/**
 * Checks the messages of a body before the protocol parses them: the protocol would decompress, parse, and refuse them at a
 * cost that is not bounded, without a reason, and before any interceptor runs.
 */
export function requestBody(given: Headers, options: BodyOptions): RequestBody {
  const header = new Headers(given);
  const [, protocol = "", format = protocol] =
    contentType.exec(header.get("content-type") ?? "") ?? [];
  const isEnveloped = !["json", "proto", ""].includes(protocol.toLowerCase());
  const promisedBytes = Number(header.get("content-length") ?? 0);
  if (!isEnveloped) header.delete("content-length");
  const encodings = encodingHeaders.filter((name) => header.get(name) === "gzip");
  for (const name of encodings) header.delete(name);
  const details = {
    ...options,
    isJson: format.toLowerCase() === "json",
    isGzip: encodings.length > 0,
    promisedBytes,
  };
  return { header, chunks: refusing(isEnveloped ? envelopes(details) : single(details)) };
}

interface Details extends BodyOptions {
  readonly isJson: boolean;
  readonly isGzip: boolean;
  /** The length that the client announced, or 0. */
  readonly promisedBytes: number;
}

/** Converts Failures into errors that the protocol passes on. */
async function* refusing(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    throw error instanceof Failure ? connectErrorOf(error) : error;
  }
}

/** A body that is one message. */
async function* single(details: Details): AsyncIterable<Uint8Array> {
  const { request, limits, held, promisedBytes } = details;
  const { maxMessageBytes: max } = limits;
  if (promisedBytes > max) throw tooLarge(max);
  const bytes = await new BodyReader(request, held, limits.requestTimeoutMs).read(max + 1);
  if (bytes.length > max) throw tooLarge(max);
  const message = details.isGzip ? await decompressed(bytes, details) : bytes;
  assertReadable(message, details);
  yield message;
}

/** The length of the header of an envelope: a byte of flags and the length of the message. */
const envelopeBytes = 5;
const compressed = 1;

/** A body of messages in envelopes. An incomplete envelope is passed on for the protocol to refuse. */
async function* envelopes(details: Details): AsyncIterable<Uint8Array> {
  const { request, limits, held, isStream } = details;
  const { maxMessageBytes: max } = limits;
  const reader = new BodyReader(request, held, limits.requestTimeoutMs);
  for (;;) {
    const head = await reader.read(envelopeBytes);
    if (head.length < envelopeBytes) return yield head;
    const flags = head.readUInt8(0);
    // The protocol would parse the message of an envelope with a flag that it does not know.
    if (flags > compressed) throw unknownFlags(flags);
    const length = head.readUInt32BE(1);
    if (length > max) throw tooLarge(max);
    const content = await reader.read(length);
    if ((flags === compressed && !details.isGzip) || content.length < length) {
      yield head;
      yield content;
      continue;
    }
    const message = flags === compressed ? await decompressed(content, details) : content;
    assertReadable(message, details);
    const plain = Buffer.alloc(envelopeBytes);
    plain.writeUInt32BE(message.length, 1);
    yield plain;
    yield message;
    // The next message is requested once this one is handled.
    if (isStream) {
      held.release();
      reader.restartTimeout();
    }
  }
}

const decompress = promisify(gunzip);

async function decompressed(bytes: Buffer, { limits, held }: Details): Promise<Buffer> {
  if (bytes.length === 0) return bytes;
  const { maxMessageBytes: max } = limits;
  try {
    const message = await decompress(bytes, { maxOutputLength: max });
    held.add(message.length);
    return message;
  } catch (error) {
    if (error instanceof Failure) throw error;
    const isLarge =
      error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    throw isLarge ? tooLarge(max) : invalid("the body is not valid gzip; compress it again", error);
  }
}

/** Throws a Failure if a message would be expensive to parse, or is malformed protobuf. */
function assertReadable(message: Buffer, { schema, isJson, limits }: Details): void {
  const { maxMessageValues: max } = limits;
  if (isJson) {
    if (countJsonValues(message, max) > max) throw tooManyValues(max);
    return;
  }
  try {
    if (countProtobufValues(schema, message, max) > max) throw tooManyValues(max);
    fromBinary(schema, message, readDeep);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const problem = error instanceof Error ? error.message : String(error);
    throw invalid(`the message is not a valid ${schema.typeName}: ${problem}`, error);
  }
}

function unknownFlags(flags: number): Failure {
  const problem = `the envelope of a message has the flags ${flags}; send 0, or ${compressed} for a compressed message`;
  return invalid(problem, undefined);
}

function invalid(message: string, cause: unknown): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
}

function tooLarge(maxBytes: number): Failure {
  return new Failure(
    "exhausted",
    ErrorReason.TOO_LARGE,
    `the message is larger than ${maxBytes} bytes; send less in one message`,
  );
}

function tooManyValues(maxValues: number): Failure {
  return new Failure(
    "exhausted",
    ErrorReason.TOO_LARGE,
    `the message has more than ${maxValues} values; send a smaller one`,
  );
}
