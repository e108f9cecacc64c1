import { existsSync } from "node:fs";
import { systemProgram } from "@reeve/sandbox/host/system-view";

/** Where distributions have the program that `chromium` starts. */
const programs = ["/usr/lib/chromium/chromium", "/usr/lib64/chromium-browser/chromium-browser"];

/** Returns the path of Chromium on this host; undefined if it is not installed. */
export function findChromium(): string | undefined {
  return programs.find((path) => existsSync(path)) ?? systemProgram("chromium", "chromium-browser");
}

const flags = [
  "--headless=new",
  // It has the sandbox of the toolhost instead, in which it cannot create another one.
  "--no-sandbox",
  "--remote-debugging-pipe",
  "--user-data-dir=/workspace/profile",
  "--window-size=1280,800",
  // All traffic, also to the loopback, is for the proxy to decide.
  "--proxy-server=http://127.0.0.1:3128",
  "--proxy-bypass-list=<-loopback>",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--disable-quic",
  "--block-new-web-contents",
  "--deny-permission-prompts",
  "--disable-notifications",
  "--allow-browser-signin=false",
  "--check-for-update-interval=31536000",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-dev-shm-usage",
  "--disable-domain-reliability",
  "--disable-extensions",
  "--disable-component-extensions-with-background-pages",
  "--disable-features=AutofillServerCommunication,CertificateTransparencyComponentUpdater,DialMediaRouteProvider,MediaRouter,OptimizationHints,Translate",
  "--disable-gpu",
  "--disable-sync",
  "--metrics-recording-only",
  "--mute-audio",
  "--no-default-browser-check",
  "--no-first-run",
  "--no-pings",
  "--password-store=basic",
  "--renderer-process-limit=4",
  "about:blank",
];

/** Returns the command that starts Chromium with its DevTools protocol on the standard input and output. */
export function chromiumCommand(program: string): readonly string[] {
  const onPipes = 'exec 3<&0 4>&1 </dev/null >/dev/null 2>&1; exec "$@"';
  return ["/bin/sh", "-c", onPipes, "sh", program, ...flags];
}
