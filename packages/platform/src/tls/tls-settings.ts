import { z } from "zod";

/** The settings of a port with TLS. */
export const serverTlsSettings = {
  /** The certificate of the port and its chain, as PEM. Default: no TLS. */
  REEVE_TLS_CERT_FILE: z.string().optional(),
  /** The key of the certificate, as PEM. */
  REEVE_TLS_KEY_FILE: z.string().optional(),
};

/** The settings of a port that verifies the certificates of its clients. */
export const clientTlsSettings = {
  /** The authorities that sign the certificates of clients, as PEM. Default: clients are not asked for certificates. */
  REEVE_TLS_CLIENT_CA_FILE: z.string().optional(),
};

/** The values of the settings of a port with TLS. */
export type ServerTlsSettings = Readonly<
  Partial<
    Record<keyof typeof serverTlsSettings | keyof typeof clientTlsSettings, string | undefined>
  >
>;
