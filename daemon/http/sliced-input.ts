import type { Socket } from 'node:net';

/** @limit Bytes that the HTTP parser takes at once, of what a socket has read: it calls back for each chunk of a body, so a full read of tiny ones would stop all others for 30 ms. */
const sliceBytes = 1024;
/** @limit Bytes that the parser takes at once after it was quick, in bytes: ordinary bodies come in large chunks. */
const sliceBytesMax = 8 * 1024;
/** @limit Time in which a parser is quick with a slice, in ms: one of tiny chunks takes several times as long. */
const quickMs = 0.02;

/**
 * Gives the HTTP parser of a new connection what arrives in slices. Between two of them, the listener of a request runs,
 * so that the rest of a refused body is never parsed.
 */
export function sliceInput(socket: Socket): void {
  const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[];
  if (!parse) throw new Error('the HTTP server listens to no data of this connection');
  let rest: Buffer = nothing;
  let size = sliceBytes;
  const parseSlice = (bytes: Buffer) => {
    const slice = bytes.subarray(0, size);
    if (bytes.length > size) {
      rest = bytes.subarray(size);
      afterMicrotasks(takeRest);
    }
    const startedMs = performance.now();
    parse(slice);
    size = performance.now() - startedMs < quickMs ? Math.min(2 * size, sliceBytesMax) : sliceBytes;
  };
  const takeRest = () => {
    const bytes = rest;
    rest = nothing;
    // The parser must get nothing more from a socket that was closed, or that someone else reads now.
    if (socket.destroyed || socket.listeners('data')[0] !== take) return;
    // The server waits until the sender has read its answers.
    if (socket.isPaused()) socket.unshift(bytes);
    else parseSlice(bytes);
  };
  const take = (bytes: Buffer) => {
    // A stream that is resumed may give several buffers at once.
    if (rest.length > 0) rest = Buffer.concat([rest, bytes]);
    else parseSlice(bytes);
  };
  socket.removeListener('data', parse).on('data', take);
}

const nothing = Buffer.alloc(0);

/** Runs `next` before anything else is read from any socket, but after all that is due already. */
function afterMicrotasks(next: () => void): void {
  queueMicrotask(() => process.nextTick(next));
}
