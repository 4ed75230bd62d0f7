import { type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { parseContentLength } from './bodies.ts';

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
export class BoundedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** How much of the rest is read; with 0, a sender who still sends may lose the answer. */
  lingerBytes = lingerBytesMax;

  override writeHead(status: number, ...rest: never[]): this {
    const { req } = this;
    if (!req.complete && hasBody(req)) {
      if (isRestLong(req)) this.shouldKeepAlive = false;
      // Node calls this after the last answer on a connection.
      req.socket.destroySoon = () => closeAfterReading(req, this.lingerBytes);
    }
    return super.writeHead(status, ...rest);
  }

  override end(...args: never[]): this {
    super.end(...args);
    const { req } = this;
    // At once: the parser would get more until the answer is written.
    if (!req.complete && hasBody(req) && isRestLong(req))
      readPastParser(req, this.lingerBytes, () => closeSocket(req));
    return this;
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
function closeAfterReading(req: IncomingMessage, bytesMax: number): void {
  const { socket } = req;
  if (req.complete || socket.destroyed) {
    closeSocket(req);
    return;
  }
  const end = () => {
    clearTimeout(timer);
    closeSocket(req);
  };
  const timer = setTimeout(end, lingerMs);
  readPastParser(req, bytesMax, end);
  socket.once('end', end).once('close', end);
  socket.end();
}

/** Discards what still arrives: the HTTP parser would spend time on each chunk, however tiny. */
function readPastParser({ socket }: IncomingMessage, bytesMax: number, onTooMuch: () => void): void {
  let bytesLeft = bytesMax;
  socket.removeAllListeners('data').on('data', (bytes: Buffer) => {
    bytesLeft -= bytes.length;
    if (bytesLeft < 0) onTooMuch();
  });
  socket.resume();
}

/** Closes the socket once all of the answer is written, as Node does after the last one. */
function closeSocket({ socket }: IncomingMessage): void {
  Socket.prototype.destroySoon.call(socket);
}
