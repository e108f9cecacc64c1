import type { ConnectError } from "@connectrpc/connect";
import { errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";

/** The maximum size of an error in a body. */
const maxBodyBytes = 60 * 1024;
/** Clients of gRPC refuse an answer with more than 8 KiB of metadata. The rest is for the other headers of an answer. */
const maxTrailerBytes = 7 * 1024;
/** What each entry of the metadata counts in addition to its name and value. */
const entryBytes = 32;

/** Returns the check of whether an error is small enough for the answer to a request: gRPC has errors in trailers. */
export function fitsAnswerTo(header: Headers): (error: ConnectError) => boolean {
  const isGrpc = /^application\/grpc(?!-web)/i.test(header.get("content-type") ?? "");
  return isGrpc ? fitsTrailers : fitsBody;
}

/** Whether an error is small enough for an answer that has its errors in the body: of Connect, or of gRPC-Web. */
export function fitsBody(error: ConnectError): boolean {
  return errorToJsonBytes(error, undefined).length <= maxBodyBytes;
}

/** Whether an error is small enough for the trailers of a gRPC answer. */
function fitsTrailers(error: ConnectError): boolean {
  const entries = [...setTrailerStatus(new Headers(), error)];
  const size = entries.reduce(
    (sum, [name, value]) => sum + name.length + value.length + entryBytes,
    0,
  );
  return size <= maxTrailerBytes;
}
