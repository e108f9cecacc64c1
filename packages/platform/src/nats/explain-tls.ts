import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { connect } from "node:net";
import type { TLSSocket } from "node:tls";
import { connect as startTls } from "node:tls";
import type { NatsTls, NatsTlsFiles } from "./nats-tls.ts";
import { readTlsFiles, tlsSettings } from "./nats-tls.ts";

/** A host and a port. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Returns why a server and this client do not agree on TLS, or undefined if they do. The client of NATS does not report the
 * reason when it reconnects, nor when a server refuses the certificate of the client. Rejects if the server does not answer.
 */
export async function explainTls(
  { host, port }: ServerAddress,
  tls: NatsTls,
  signal: AbortSignal,
): Promise<string | undefined> {
  let files: NatsTlsFiles;
  try {
    files = readTlsFiles(tls);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const server = `NATS server ${host}:${port}`;
  const socket = ignoringLateErrors(connect({ host, port }));
  try {
    let greeting = "";
    while (!greeting.includes("\n")) greeting += String(await once(socket, "data", { signal }));
    if (!/"tls_(?:required|available)":true/.test(greeting)) {
      return `${server} does not offer TLS; configure TLS there, or use nats:// without certificates`;
    }
    const secured = ignoringLateErrors(startTls({ socket, servername: host, ...files }));
    const problem = await problemOf(secured, signal);
    return problem && `${server} ${explain(problem, tls, files)}`;
  } finally {
    socket.destroy();
  }
}

/** Returns the error of the handshake, or of the check of this client's certificate, which follows the handshake. */
async function problemOf(
  secured: TLSSocket,
  signal: AbortSignal,
): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await once(secured, "secureConnect", { signal });
    const answer = once(secured, "data", { signal });
    secured.write("PING\r\n");
    await answer;
    return undefined;
  } catch (error) {
    if (signal.aborted || isOfNetwork(error)) throw error;
    return error as NodeJS.ErrnoException;
  } finally {
    secured.destroy();
  }
}

/** An error after the last wait for an event must not end the process. */
function ignoringLateErrors<Stream extends Socket>(stream: Stream): Stream {
  stream.on("error", () => undefined);
  return stream;
}

function isOfNetwork(error: unknown): boolean {
  return /^E(?:CONN|PIPE|HOST|NET|TIMEDOUT)/.test((error as NodeJS.ErrnoException).code ?? "");
}

function explain(
  { code = "", message }: NodeJS.ErrnoException,
  tls: NatsTls,
  { cert }: NatsTlsFiles,
): string {
  if (code === "CERT_HAS_EXPIRED") return "has a certificate, or an authority, that has expired";
  if (code === "CERT_NOT_YET_VALID") return "has a certificate that is not valid yet";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return `has a certificate of another host: ${message}`;
  if (/ISSUER|SELF_SIGNED|SIGNATURE|UNABLE_TO_VERIFY/.test(code)) {
    return tls.caFile === undefined
      ? `has a certificate that no public authority signed; set ${tlsSettings.caFile} (${code})`
      : `has a certificate that no authority in ${tlsSettings.caFile} ${tls.caFile} signed (${code})`;
  }
  if (code.includes("ALERT")) return refusal(tls, cert, code);
  return `refuses TLS: ${message}`;
}

/** Explains why the server refuses this client. */
function refusal(tls: NatsTls, cert: Buffer | undefined, code: string): string {
  if (cert === undefined) {
    return `asks for a certificate; set ${tlsSettings.certFile} and ${tlsSettings.keyFile} (${code})`;
  }
  const { validToDate } = new X509Certificate(cert);
  const cause =
    validToDate.getTime() < Date.now()
      ? `which expired at ${validToDate.toISOString()}`
      : "which no authority of the server signed, or which is not one of a client";
  return `refuses the certificate in ${tlsSettings.certFile} ${tls.certFile}, ${cause} (${code})`;
}
