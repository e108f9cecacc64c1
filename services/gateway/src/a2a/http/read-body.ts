import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { BodyReader } from "@reeve/platform/rpc/body/body-reader";
import { countJsonValues } from "@reeve/platform/rpc/body/count-values";
import type { HeldBytes } from "@reeve/platform/rpc/body/held-bytes";
import { addressGroup } from "@reeve/platform/rpc/http/address-group";
import type { HttpRequest, HttpResponse } from "@reeve/platform/rpc/http/http-handler";

/** The maximum size of a body, in bytes. It has room for a file of 2 MiB in base64, the largest that a message has. */
const maxBodyBytes = 4 * 1024 * 1024;
const bodyMs = 30_000;

/** The maximum number of values in a body: to parse a body of nothing but brackets would take the gateway seconds. */
const maxValues = 50_000;

/** Reads the body of a request, which is JSON. Throws a Failure if it is too large, late, or compressed, or has too many values. */
export async function readBody(
  request: HttpRequest,
  response: HttpResponse,
  held: HeldBytes,
): Promise<string> {
  const { "content-encoding": encoding = "identity" } = request.headers;
  if (encoding !== "identity")
    throw invalid(`the body has the encoding ${encoding}; send it without`);
  const account = held.open(() => addressGroup(request.socket.remoteAddress ?? ""));
  response.once("close", () => account.release());
  const bytes = await new BodyReader(request, account, bodyMs).read(maxBodyBytes + 1);
  if (bytes.length > maxBodyBytes) throw invalid(`the body has more than ${maxBodyBytes} bytes`);
  if (countJsonValues(bytes, maxValues) > maxValues)
    throw invalid(`the body has more than ${maxValues} values`);
  return bytes.toString("utf8");
}

function invalid(message: string): Failure {
  return new Failure("invalid", ErrorReason.TOO_LARGE, message);
}
