const samplesPerSecond = 8_000;

/** A frame of MPEG 1, layer III, with 128 kbit/s and 44.1 kHz, and nothing in it. */
const emptyFrame = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x00]), Buffer.alloc(413)]);
/** Frames of about half a second. */
const frames = 20;

/** Returns half a second of silence. */
export function silence(format: "mp3" | "wav"): Uint8Array {
  if (format === "mp3") return Buffer.concat(Array.from({ length: frames }, () => emptyFrame));
  const samples = Buffer.alloc(samplesPerSecond / 2, 0x80);
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + samples.length, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  // PCM, one channel, one byte for each sample.
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(samplesPerSecond, 24);
  header.writeUInt32LE(samplesPerSecond, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}
