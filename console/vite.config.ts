import { defineConfig } from "vite";

/** A static build without inline scripts or styles, so that a strict Content-Security-Policy holds. */
export default defineConfig({
  resolve: {
    alias: {
      "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js": new URL(
        "src/api/validate-file.ts",
        import.meta.url,
      ).pathname,
    },
  },
  build: {
    target: "es2022",
    // The gateway compresses what it serves; its test checks the size.
    reportCompressedSize: false,
    // Inlined assets would be data: addresses, which the policy does not permit for scripts and fonts.
    assetsInlineLimit: 0,
    // One file, which the page itself names: a screen must not fail because a request for its styles does.
    cssCodeSplit: false,
    cssTarget: ["chrome123", "firefox121", "safari17.5"],
    // The notices of the libraries in the build. The gateway does not serve the file.
    license: { fileName: "licenses.md" },
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "^/reeve\\.": "http://127.0.0.1:4680", "/console": "http://127.0.0.1:4680" } },
});
