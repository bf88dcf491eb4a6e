/** Trusted side: detects native code, which no cell can load, by file name and by the first bytes of a file. */

/** Describes the entry if it is native code. */
export function nativeName(segments: readonly string[], kind: "file" | "folder"): string | undefined {
  const names = segments.map((segment) => segment.toLowerCase());
  const last = names.at(-1);
  if (names.slice(0, kind === "file" ? -1 : undefined).includes("prebuilds")) return "among the prebuilt binaries of a native addon";
  if (kind === "file" && last?.endsWith(".node")) return "a native addon";
  return kind === "file" && last === "binding.gyp" ? "the build file of a native addon" : undefined;
}

const MACH_O = new Set([0xfeedface, 0xfeedfacf, 0xcefaedfe, 0xcffaedfe]);

/** `start`: the first 512 bytes of a file, or all of it. */
export function nativeContent(start: Buffer): string | undefined {
  if (start.length < 64) return undefined;
  if (start.readUInt32BE(0) === 0x7f454c46) return "a binary for Linux";
  if (MACH_O.has(start.readUInt32BE(0))) return "a binary for macOS";
  // A universal binary. A Java class has the same magic number, with a version where this has the number of
  // architectures.
  if (start.readUInt32BE(0) === 0xcafebabe && start.readUInt32BE(4) < 20) return "a binary for macOS";
  const at = start.readUInt32LE(0x3c);
  if (start.toString("latin1", 0, 2) === "MZ" && at + 4 <= start.length && start.toString("latin1", at, at + 4) === "PE\0\0")
    return "a binary for Windows";
  return undefined;
}
