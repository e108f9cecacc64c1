/** Mount point of the folder with the proxy socket in a sandbox. */
export const proxyMount = "/run/reeve";

/** Path of the proxy socket in a sandbox. */
export const proxySocket = `${proxyMount}/proxy`;

/** Loopback port of the sandbox that the agent forwards to the socket. The agent's program has the same number. */
const port = 3128;
const address = `http://127.0.0.1:${port}`;
const noProxy = "localhost,127.0.0.1,::1";

/** Environment variables that announce the proxy, in both spellings that programs look for. */
export const proxyEnvironment: Readonly<Record<string, string>> = {
  HTTP_PROXY: address,
  HTTPS_PROXY: address,
  NO_PROXY: noProxy,
  http_proxy: address,
  https_proxy: address,
  no_proxy: noProxy,
};
