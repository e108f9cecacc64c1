// A program in place of the reader: takes memory outside of the heap of JavaScript, without end.
const taken: Buffer[] = [];
setInterval(() => taken.push(Buffer.alloc(8 * 1_048_576, 1)), 1);
