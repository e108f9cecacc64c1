import { z } from "zod";

/** The settings of the executor `temporal`. Those with a default matter only if REEVE_EXECUTOR is `temporal`. */
export const temporalSettings = {
  /** The folder of the packages of Temporal and of the workflow, as `services/runtime/temporal/install.mjs` writes it. Required. */
  REEVE_TEMPORAL_SDK: z.string().min(1).optional(),
  /** The address of the frontend of Temporal. */
  REEVE_TEMPORAL_ADDRESS: z
    .string()
    .regex(/^(\[[0-9a-fA-F:]+\]|[^\s:/@,[\]]+):\d{1,5}$/, "is not host:port")
    .default("127.0.0.1:7233"),
  /** The namespace of the workflows. It must exist. */
  REEVE_TEMPORAL_NAMESPACE: z.string().min(1).default("default"),
  /** The task queue of the workflows. Use one for each deployment: its runs are in the logs of one deployment. */
  REEVE_TEMPORAL_TASK_QUEUE: z.string().min(1).default("reeve"),
  /** An API key of Temporal. Default: none. */
  REEVE_TEMPORAL_API_KEY: z.string().min(1).optional(),
  /** Whether the connection uses TLS. Default: yes if there is an API key, or a certificate. */
  REEVE_TEMPORAL_TLS: z.enum(["true", "false"]).optional(),
  /** The file of the certificates of trusted authorities, in PEM. Default: those of the system. */
  REEVE_TEMPORAL_CA_FILE: z.string().min(1).optional(),
  /** The files of the certificate and of the key with which this runtime identifies itself, in PEM. Default: none. */
  REEVE_TEMPORAL_CERT_FILE: z.string().min(1).optional(),
  REEVE_TEMPORAL_KEY_FILE: z.string().min(1).optional(),
};
