import { remoteProvider } from "../resolve/remote-endpoint.ts";

/** Names of the providers that settings of the runtimes configure. */
export const settingProviders: readonly string[] = ["openai", "anthropic", "scripted"];

/** Names that no other provider may have: two providers with one name would hide each other. */
export const reservedProviders: readonly string[] = [...settingProviders, remoteProvider];
