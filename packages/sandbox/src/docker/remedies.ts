/** Properties of a container start that remedies mention. */
export interface ContainerAttempt {
  readonly image: string;
  readonly runtime: string | undefined;
  /** As in `DOCKER_HOST`. */
  readonly address: string | undefined;
}

/** Error messages of old and new engines, and their remedies. The first match applies. */
const known: readonly (readonly [
  message: RegExp,
  remedy: (attempt: ContainerAttempt) => string,
])[] = [
  [
    /no such image/i,
    ({ image, address }) =>
      `build the image: ${prefix(address)}npx node scripts/sandbox-image.ts ${image}`,
  ],
  [
    /unknown(?: or invalid)? runtime/i,
    ({ runtime }) =>
      `configure the runtime ${runtime ?? ""} in the engine, or unset REEVE_SANDBOX_RUNTIME`,
  ],
  [
    /no space left on device|disk quota exceeded/i,
    ({ address }) => `the disk of the engine is full; check ${prefix(address)}docker system df`,
  ],
  [
    /cannot allocate memory|not enough memory|minimum memory limit/i,
    () => "there is too little memory for a sandbox; end others, or lower REEVE_SANDBOX_MAX_IDLE",
  ],
  [
    /bind source path does not exist|mount source.*no such file/i,
    () => "the engine does not see the files of this toolhost; use an engine on the same machine",
  ],
  [
    /exec: .*(?:no such file|not found|permission denied)/i,
    ({ image }) => `${image} has no /usr/bin/python3; build it with scripts/sandbox-image.ts`,
  ],
  [/seccomp/i, () => "the engine or its kernel has no seccomp; use one that has it"],
  [
    /too many open files|resource temporarily unavailable|pids?\.max|cgroup/i,
    () => "the engine has reached a limit of its machine; see its log",
  ],
];

/** Returns the remedy for an error message of a container engine; undefined if the message is unknown. */
export function remedyFor(message: string, attempt: ContainerAttempt): string | undefined {
  return known.find(([pattern]) => pattern.test(message))?.[1](attempt);
}

function prefix(address: string | undefined): string {
  return address === undefined ? "" : `DOCKER_HOST=${address} `;
}
