/** Where the folder with the socket of the proxy is mounted in a sandbox. */
export const proxyMount = "/run/reeve";

/** The socket, as the agent finds it. */
export const proxySocket = `${proxyMount}/proxy`;

/** Port of the sandbox's own loopback that the agent carries to the socket. Its program has the same. */
const port = 3128;
const address = `http://127.0.0.1:${port}`;
const here = "localhost,127.0.0.1,::1";

/** What tells programs of the proxy: each of them looks for its own spelling. */
export const proxyEnvironment: Readonly<Record<string, string>> = {
  HTTP_PROXY: address,
  HTTPS_PROXY: address,
  NO_PROXY: here,
  http_proxy: address,
  https_proxy: address,
  no_proxy: here,
};
