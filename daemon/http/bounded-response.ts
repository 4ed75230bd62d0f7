import { type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { parseContentLength } from './read-body.ts';

/** @limit Rest of a body that is still parsed after its answer, in bytes: more of it may cost more than a new connection. */
const restBytesMax = 256 * 1024;
/** @limit Bytes of a body that are still read after its answer: the sender then sees the answer and not a reset connection. */
const lingerBytesMax = 16 * 1024 * 1024;
/** @limit Time for which a body is still read after its answer, in ms: most of it is already in transit. */
const lingerMs = 1_000;

/**
 * A response that may be given before the body of its request has ended. If the rest may be long, the connection closes:
 * nothing more of it is parsed, whoever answers.
 */
export class BoundedResponse extends ServerResponse<IncomingMessage> {
  override writeHead(status: number, ...rest: never[]): this {
    const { req } = this;
    if (!req.complete && hasBody(req)) {
      if (isRestLong(req)) this.shouldKeepAlive = false;
      // Node calls this after the last answer on a connection.
      req.socket.destroySoon = () => closeAfterReading(req);
    }
    return super.writeHead(status, ...rest);
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined;
}

function isRestLong(req: IncomingMessage): boolean {
  const length = parseContentLength(req);
  return length === undefined || length > restBytesMax;
}

/**
 * Ends our side of the connection, and reads a little more of the request before it closes the socket. Closing it with
 * unread data would reset the connection, and the client would lose the answer.
 */
function closeAfterReading({ socket, complete }: IncomingMessage): void {
  const close = () => Socket.prototype.destroySoon.call(socket);
  if (complete || socket.destroyed) {
    close();
    return;
  }
  let bytesLeft = lingerBytesMax;
  const end = () => {
    clearTimeout(timer);
    close();
  };
  const timer = setTimeout(end, lingerMs);
  // Reads past the HTTP parser, which would spend time on each chunk, however tiny.
  socket.removeAllListeners('data').on('data', (bytes: Buffer) => {
    bytesLeft -= bytes.length;
    if (bytesLeft < 0) end();
  });
  socket.once('end', end).once('close', end).resume();
  socket.end();
}
