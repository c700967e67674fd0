import type { Tally } from './observe.js';

interface HttpAnswer {
  statusCode: number;
  body?: unknown;
}

/** The part of an SDK command that a middleware can be added to. */
interface Command {
  readonly middlewareStack: {
    add(
      middleware: (
        next: (args: never) => Promise<{ response: unknown }>,
      ) => (args: never) => Promise<{ response: unknown }>,
      options: { step: 'deserialize'; priority: 'low'; name: string },
    ): void;
  };
}

/**
 * Has the answer's body read to its end and counted before the SDK parses it. Answers of success whose body is an `<Error>` document (S3
 * sends them when a long operation fails after the status went out, and some gateways always do) become failures.
 */
export function buffered<C>(command: C, tally: Tally): C {
  (command as Command).middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const answer = result.response as HttpAnswer;
      const body = await collectBytes(answer.body);
      tally.received += body.length;
      answer.body = body;
      if (answer.statusCode >= 200 && answer.statusCode < 300 && isErrorDocument(body))
        answer.statusCode = 500;
      return result;
    },
    { step: 'deserialize', priority: 'low', name: 'bufferBody' },
  );
  return command;
}

/** Reads a streamed body to its end. A body that is not `expected` bytes long is a broken connection. */
export async function readBody(
  body: unknown,
  expected: number | undefined,
  tally: Tally,
): Promise<Uint8Array> {
  if (expected === undefined) {
    const bytes = await collectBytes(body);
    tally.received += bytes.length;
    return bytes;
  }
  const bytes = new Uint8Array(expected);
  let filled = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    if (chunk.length <= expected - filled) bytes.set(chunk, filled);
    filled += chunk.length;
  }
  tally.received += filled;
  if (filled === expected) return bytes;
  const message = `the body has ${filled} bytes and should have ${expected}`;
  throw Object.assign(new Error(message), { code: 'ERR_STREAM_PREMATURE_CLOSE' });
}

/** Reads a body to its end, whatever its length. */
export async function collectBytes(body: unknown): Promise<Uint8Array> {
  if (body === undefined || body === null) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return chunks.length === 1 && chunks[0] ? chunks[0] : new Uint8Array(Buffer.concat(chunks));
}

/** True for the document that an answer of success has where the operation failed all the same. */
export function isErrorDocument(body: Uint8Array): boolean {
  if (body.length === 0) return false;
  const head = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 512)).toString('utf8');
  return /^\s*(<\?xml[^>]*\?>\s*)?<Error[\s>]/.test(head);
}
