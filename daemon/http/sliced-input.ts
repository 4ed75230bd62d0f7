import type { Socket } from 'node:net';

/** @limit Bytes that the HTTP parser takes at once, of what a socket has read: it calls back for each chunk of a body, so a full read of tiny ones would stop all others for 30 ms. */
const sliceBytes = 1024;

/**
 * Gives the HTTP parser of a new connection what arrives in slices. Between two of them, the listener of a request runs,
 * so that the rest of a refused body is never parsed.
 */
export function sliceInput(socket: Socket): void {
  const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[];
  if (!parse) throw new Error('the HTTP server listens to no data of this connection');
  let rest: Buffer = nothing;
  const parseSlice = (bytes: Buffer) => {
    if (bytes.length <= sliceBytes) return parse(bytes);
    rest = bytes.subarray(sliceBytes);
    afterMicrotasks(takeRest);
    parse(bytes.subarray(0, sliceBytes));
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
