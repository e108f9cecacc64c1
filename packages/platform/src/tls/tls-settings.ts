import { z } from "zod";

/** The settings of a port with TLS. */
export const serverTlsSettings = {
  /** The certificate of the port and its chain, as PEM. Default: no TLS. */
  REEVE_TLS_CERT_FILE: z.string().optional(),
  /** The key of the certificate, as PEM. */
  REEVE_TLS_KEY_FILE: z.string().optional(),
};

/** The values of the settings of a port with TLS. */
export type ServerTlsSettings = Readonly<
  Record<keyof typeof serverTlsSettings, string | undefined>
>;
