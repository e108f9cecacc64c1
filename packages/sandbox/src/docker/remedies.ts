/** What a container was to be made of, as far as a way out names it. */
export interface ContainerAttempt {
  readonly image: string;
  readonly runtime: string | undefined;
  /** As in `DOCKER_HOST`. */
  readonly address: string | undefined;
}

/** What engines of all ages say, and what helps. The first that fits holds. */
const known: readonly (readonly [said: RegExp, wayOut: (attempt: ContainerAttempt) => string])[] = [
  [
    /no such image/i,
    ({ image, address }) =>
      `make the image: ${prefix(address)}node scripts/sandbox-image.ts ${image}`,
  ],
  [
    /unknown(?: or invalid)? runtime/i,
    ({ runtime }) =>
      `configure the runtime ${runtime ?? ""} in the engine, or leave REEVE_SANDBOX_RUNTIME unset`,
  ],
  [
    /no space left on device|disk quota exceeded/i,
    ({ address }) => `the disk of the engine is full: ${prefix(address)}docker system df`,
  ],
  [
    /cannot allocate memory|not enough memory|minimum memory limit/i,
    () => "there is too little memory for a sandbox: end others, or lower REEVE_SANDBOX_MAX_IDLE",
  ],
  [
    /bind source path does not exist|mount source.*no such file/i,
    () => "the engine does not see the files of this toolhost: use an engine on the same machine",
  ],
  [
    /exec: .*(?:no such file|not found|permission denied)/i,
    ({ image }) => `${image} has no /usr/bin/python3: make it with scripts/sandbox-image.ts`,
  ],
  [
    /seccomp/i,
    () => "the engine was built without filters of system calls: use one that has seccomp",
  ],
  [
    /too many open files|resource temporarily unavailable|pids?\.max|cgroup/i,
    () => "the engine is at a limit of its machine: its log tells which",
  ],
];

/** What would help against what a container engine has refused, where that is known. */
export function remedyFor(said: string, attempt: ContainerAttempt): string | undefined {
  return known.find(([pattern]) => pattern.test(said))?.[1](attempt);
}

function prefix(address: string | undefined): string {
  return address === undefined ? "" : `DOCKER_HOST=${address} `;
}
