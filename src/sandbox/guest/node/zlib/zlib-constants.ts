/** Inside the isolate: numbers of `zlib`, those of Node. Brotli's are those that programs pass as options. */
const NUMBERS =
  "Z_NO_FLUSH 0,Z_PARTIAL_FLUSH 1,Z_SYNC_FLUSH 2,Z_FULL_FLUSH 3,Z_FINISH 4,Z_BLOCK 5,Z_OK 0,Z_STREAM_END 1,Z_NEED_DICT 2,Z_ERRNO -1," +
  "Z_STREAM_ERROR -2,Z_DATA_ERROR -3,Z_MEM_ERROR -4,Z_BUF_ERROR -5,Z_VERSION_ERROR -6,Z_NO_COMPRESSION 0,Z_BEST_SPEED 1," +
  "Z_BEST_COMPRESSION 9,Z_DEFAULT_COMPRESSION -1,Z_FILTERED 1,Z_HUFFMAN_ONLY 2,Z_RLE 3,Z_FIXED 4,Z_DEFAULT_STRATEGY 0,ZLIB_VERNUM 4897," +
  "DEFLATE 1,INFLATE 2,GZIP 3,GUNZIP 4,DEFLATERAW 5,INFLATERAW 6,UNZIP 7,BROTLI_DECODE 8,BROTLI_ENCODE 9,Z_MIN_WINDOWBITS 8," +
  "Z_MAX_WINDOWBITS 15,Z_DEFAULT_WINDOWBITS 15,Z_MIN_CHUNK 64,Z_MAX_CHUNK Infinity,Z_DEFAULT_CHUNK 16384,Z_MIN_MEMLEVEL 1," +
  "Z_MAX_MEMLEVEL 9,Z_DEFAULT_MEMLEVEL 8,Z_MIN_LEVEL -1,Z_MAX_LEVEL 9,Z_DEFAULT_LEVEL -1,BROTLI_OPERATION_PROCESS 0," +
  "BROTLI_OPERATION_FLUSH 1,BROTLI_OPERATION_FINISH 2,BROTLI_OPERATION_EMIT_METADATA 3,BROTLI_PARAM_MODE 0,BROTLI_MODE_GENERIC 0," +
  "BROTLI_MODE_TEXT 1,BROTLI_MODE_FONT 2,BROTLI_DEFAULT_MODE 0,BROTLI_PARAM_QUALITY 1,BROTLI_MIN_QUALITY 0,BROTLI_MAX_QUALITY 11," +
  "BROTLI_DEFAULT_QUALITY 11,BROTLI_PARAM_LGWIN 2,BROTLI_MIN_WINDOW_BITS 10,BROTLI_MAX_WINDOW_BITS 24,BROTLI_DEFAULT_WINDOW 22," +
  "BROTLI_PARAM_LGBLOCK 3,BROTLI_PARAM_SIZE_HINT 5";

const entries = NUMBERS.split(",").map((one) => one.split(" ") as [string, string]);

export const constants: Readonly<Record<string, number>> = Object.freeze(
  Object.fromEntries(entries.map(([name, value]) => [name, Number(value)])),
);

/** Both ways: number by name and name by number. */
const RESULTS = entries.slice(6, 15);
export const codes: Readonly<Record<string, number | string>> = Object.freeze({
  ...Object.fromEntries(RESULTS.map(([name, value]) => [name, Number(value)])),
  ...Object.fromEntries(RESULTS.map(([name, value]) => [value, name])),
});
