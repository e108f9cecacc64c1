import { existsSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { findProgram } from "@reeve/platform/nats/nats-server";
import { alternatives, closureOf, filesOf, missingOf, statusOf } from "./debian-packages.ts";
import { imageNames } from "./image-names.ts";
import { label } from "./docker.ts";
import type { Copy, ImageContents } from "./import-image.ts";
import { importImage } from "./import-image.ts";

/** The libraries that Node is linked against. */
const forNode = ["libc6", "libstdc++6", "libgcc-s1"];
/** The programs that a toolhost executes code with. */
const forCode =
  "bubblewrap python3 ripgrep coreutils dash bash grep sed mawk findutils diffutils gzip tar util-linux".split(
    " ",
  );
const certificates = "/etc/ssl/certs/ca-certificates.crt";
const accounts = "root:x:0:0:root:/:/sbin/nologin\nreeve:x:65532:65532:reeve:/data:/sbin/nologin\n";
const user = "USER 65532:65532";

/** A base image that is built from files of this machine. */
export interface LocalBase {
  readonly name: string;
  /** Builds the image, labeled with the fingerprint `inputs`. Throws an error that names missing packages. */
  build(inputs: string): void;
}

/** Replacements for the public bases: the Debian packages and the Node of this machine, without a registry. */
export const localBases: readonly LocalBase[] = [
  fromPackages(imageNames.runtimeBase, forNode, { changes: [user] }),
  fromPackages(imageNames.toolhostBase, [...forNode, ...forCode], { changes: [user] }),
  fromPackages(imageNames.nodeBase, forNode, {
    copies: [{ from: process.execPath, to: "usr/local/bin/node" }],
  }),
  { name: imageNames.nats, build: buildNats },
];

function fromPackages(
  name: string,
  wanted: readonly string[],
  { changes = [], copies = [] }: Pick<ImageContents, "changes" | "copies">,
): LocalBase {
  const build = (inputs: string) => {
    const missing = missingOf(wanted);
    if (missing.length > 0) {
      throw new Error(
        `${name} is built from packages that this machine lacks; run: apt-get install ${missing.join(" ")}`,
      );
    }
    const packages = closureOf(wanted);
    const statuses = [...statusOf(packages)].map(([each, text]) => ({
      to: `var/lib/dpkg/status.d/${each}`,
      text,
    }));
    importImage(name, {
      folders: ["run"],
      files: [...filesOf(packages), ...(wanted.includes("mawk") ? alternatives() : [])],
      copies: [...common(), ...statuses, ...copies],
      changes: ["ENV PATH=/usr/local/bin:/usr/bin:/bin", `LABEL ${label}=${inputs}`, ...changes],
    });
  };
  return { name, build };
}

/** Builds an image with only the NATS server of this machine. */
function buildNats(inputs: string): void {
  // Replicated streams need a newer server than some distributions have.
  const server = process.env["REEVE_NATS_SERVER"] ?? findProgram("nats-server");
  if (server === undefined) {
    throw new Error(
      `${imageNames.nats} is built from nats-server, which is not installed; run: apt-get install nats-server`,
    );
  }
  importImage(imageNames.nats, {
    folders: ["data"],
    files: filesOf(closureOf(["libc6"])),
    copies: [...common(), { from: server, to: "usr/local/bin/nats-server" }],
    changes: [
      "ENV PATH=/usr/local/bin",
      `LABEL ${label}=${inputs}`,
      "EXPOSE 4222 6222 8222",
      'ENTRYPOINT ["nats-server"]',
      'CMD ["--jetstream", "--store_dir", "/data"]',
    ],
  });
}

function common(): readonly Copy[] {
  return [
    { to: "etc/passwd", text: accounts },
    { to: "etc/group", text: "root:x:0:\nreeve:x:65532:\n" },
    { to: "etc/nsswitch.conf", text: "hosts: files dns\n" },
    ...(existsSync(dirname(certificates))
      ? [{ to: certificates.slice(1), from: certificates }]
      : []),
  ];
}
