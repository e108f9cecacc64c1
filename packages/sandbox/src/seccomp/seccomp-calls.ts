/** Numbers of system calls on one architecture. */
export interface SyscallTable {
  /** AUDIT_ARCH_* of the architecture. */
  readonly audit: number;
  readonly clone: number;
  readonly socket: number;
  readonly ioctl: number;
  readonly personality: number;
  /** Calls that fail with EPERM. */
  readonly deniedCalls: readonly number[];
  /** Calls that fail with ENOSYS, so that programs use their fallback. */
  readonly missingCalls: readonly number[];
}

/** Error numbers of refused calls. */
export const errors = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;
/** The flags CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, and NEWTIME. */
export const newNamespaces = 0x7e02_0080;
/** Permitted socket families. */
export const families = { unix: 1, inet: 2, inet6: 10 } as const;
/** TIOCSTI and TIOCLINUX inject input into a terminal, which its shell would execute. */
export const terminalInjections = [0x5412, 0x541c] as const;

type Numbers = readonly [x64: number | undefined, arm64: number | undefined];

/** Calls that fail with EPERM, by name. */
export const denied: Readonly<Record<string, Numbers>> = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  perf_event_open: [298, 241],
  fanotify_init: [300, 262],
  lookup_dcookie: [212, 18],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  mount: [165, 40],
  umount2: [166, 39],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  pivot_root: [155, 41],
  chroot: [161, 51],
  unshare: [272, 97],
  setns: [308, 268],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  create_module: [174, undefined],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  get_kernel_syms: [177, undefined],
  query_module: [178, undefined],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  acct: [163, 89],
  syslog: [103, 116],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  nfsservctl: [180, 42],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  get_mempolicy: [239, 236],
  set_mempolicy_home_node: [450, 450],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  uselib: [134, undefined],
  ustat: [136, undefined],
  sysfs: [139, undefined],
  _sysctl: [156, undefined],
  modify_ldt: [154, undefined],
  vhangup: [153, 58],
};

/**
 * Calls that fail with ENOSYS, by name. clone3 passes its flags by a pointer, which a filter cannot read; io_uring bypasses
 * filters; a message queue outlives its creator and cannot be listed.
 */
export const missing: Readonly<Record<string, Numbers>> = {
  clone3: [435, 435],
  mq_open: [240, 180],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
};

/** System calls by Node's name of the architecture. */
export const syscallTables: Readonly<Record<string, SyscallTable>> = {
  x64: {
    audit: 0xc000_003e,
    clone: 56,
    socket: 41,
    ioctl: 16,
    personality: 135,
    deniedCalls: numbers(denied, 0),
    missingCalls: numbers(missing, 0),
  },
  arm64: {
    audit: 0xc000_00b7,
    clone: 220,
    socket: 198,
    ioctl: 29,
    personality: 92,
    deniedCalls: numbers(denied, 1),
    missingCalls: numbers(missing, 1),
  },
};

function numbers(table: Readonly<Record<string, Numbers>>, column: 0 | 1): readonly number[] {
  return Object.values(table)
    .map((row) => row[column])
    .filter((found) => found !== undefined);
}
