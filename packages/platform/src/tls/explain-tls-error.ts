/** How the user names other authorities, or names of the server, in the texts of errors. */
export interface TlsAdvice {
  /** The option or setting with the file of trusted authorities. */
  readonly caFile: string;
}

/**
 * Returns why a client and a server did not agree on TLS and what to do, as the rest of a sentence about the server, or
 * undefined if an error has no such cause.
 */
export function explainTlsError(error: unknown, { caFile }: TlsAdvice): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const problem = problemOf(code ?? "", message, caFile);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOf(code: string, message: string, caFile: string): string | undefined {
  switch (code) {
    case "CERT_HAS_EXPIRED":
      return "has a certificate, or an authority, that has expired; replace it there";
    case "CERT_NOT_YET_VALID":
      return "has a certificate that is not valid yet; check the clocks of both machines";
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `has a certificate of another host; use a name that it has (${message})`;
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
      return "does not use TLS on this port; use http://";
    case "ERR_HTTP2_SESSION_ERROR":
      // INADEQUATE_SECURITY: how a port with TLS answers HTTP/2 without it.
      return /code 12\b/.test(message) ? "uses TLS on this port; use https://" : undefined;
  }
  if (/ISSUER|SELF_SIGNED|SIGNATURE|UNABLE_TO_VERIFY/.test(code)) {
    return `has a certificate that no trusted authority signed; set ${caFile} to the file of its authority (${code})`;
  }
  if (/^ERR_SSL_|^ERR_TLS_|^EPROTO$/.test(code)) return `refuses TLS: ${message}`;
  return undefined;
}
