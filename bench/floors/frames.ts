/** Frames of the process floor: a little-endian u32 counts the bytes that follow. Written together, read together. */
const PREFIX = 4;

export function encode(texts: readonly string[]): Buffer {
  // Three bytes per UTF-16 unit is UTF-8's worst case: no second pass to count them.
  let room = 0;
  for (const text of texts) room += PREFIX + text.length * 3;
  const out = Buffer.allocUnsafe(room);
  let end = 0;
  for (const text of texts) {
    const bytes = out.write(text, end + PREFIX);
    out.writeUInt32LE(bytes, end);
    end += PREFIX + bytes;
  }
  return out.subarray(0, end);
}

/** Gives every read's complete texts to the listener, all of them at once. */
export function decoder(listener: (texts: string[]) => void): (chunk: Buffer) => void {
  let rest: Buffer | undefined;
  return (chunk) => {
    const data = rest ? Buffer.concat([rest, chunk]) : chunk;
    const texts: string[] = [];
    let at = 0;
    while (at + PREFIX <= data.length) {
      const end = at + PREFIX + data.readUInt32LE(at);
      if (end > data.length) break;
      texts.push(data.toString("utf8", at + PREFIX, end));
      at = end;
    }
    rest = at < data.length ? data.subarray(at) : undefined;
    if (texts.length > 0) listener(texts);
  };
}
