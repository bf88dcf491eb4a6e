// @class: MODULES / 150 MB of zeros in 237 bytes of Brotli, opened at once and as a stream, again and again
// @expect: named
const zlib = require('zlib');
const bomb = Buffer.from('y///P/gnAOKxQCD3/o///3/wTwDEYRGA7v0f////4J8AiMMCAN37P/7//8E/ARCHBQC693/8//+DfwIgDgsAdO//+P//B/8EQBwWAOje//H//w/+CYA4LADQvf/j//8f/BMAcVgAoHv/x///P/gnAOKwAED3/o///3/wTwDEYQGA7v0f////4J8AiMMCAN37P/7//8E/ARCHBQC693/8//+DfwIgDgsAdO//+P//B/8EQBwWAOje//H//w/+CYA4LADQvf/j//8f/BMAcVgAoHv/x///P/gnAOKwAED3/i//ouHwTwDEYQGATjIc', 'base64');
const kept = [];
hook(() => { for (;;) { try { kept.push(zlib.brotliDecompressSync(bomb)); } catch {} zlib.createBrotliDecompress().end(bomb); } });
