import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RuntimeOptions } from '../runtime/runtime.js';

/** How the store is reached, as commander parses it. */
export interface StoreFlags {
  readonly endpoint?: string;
  readonly region?: string;
  readonly pathStyle?: boolean;
  readonly singleWriter?: boolean;
  readonly requestTimeout?: number;
  readonly retryFor?: number;
  readonly fsync?: boolean;
}

/** One document, or one line a record. */
export interface OutputFlags {
  readonly json?: boolean;
  readonly ndjson?: boolean;
}

/** Which version to look at. */
export interface VersionFlags {
  readonly version?: number;
  readonly timestamp?: string;
}

/** Options of every command that reaches a store. */
export function withStore(command: Command): Command {
  const group = 'Store:';
  const add = (flags: string, text: string, parse?: (text: string) => unknown): void => {
    const option = new Option(flags, text).helpGroup(group);
    command.addOption(parse ? option.argParser(parse) : option);
  };
  add(
    '--endpoint <url>',
    'S3-compatible server (default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile, AWS)',
  );
  add('--region <name>', 'region (default: AWS_REGION, the profile)');
  add('--path-style', 'endpoint/bucket/key instead of bucket.endpoint/key (default for custom endpoints)');
  add(
    '--single-writer',
    'states that nothing else writes to the table: allows a server that ignores If-None-Match',
  );
  add('--request-timeout <seconds>', 'longest wait for an answer (default: 30)', seconds);
  add(
    '--retry-for <seconds>',
    'longest time that passing faults of a request are tried again (default: 60)',
    seconds,
  );
  add('--no-fsync', 'local tables: do not wait for the disk; a power cut may lose what was acknowledged');
  return command;
}

/** `--json`, and `--ndjson` where records can be streamed. */
export function withOutput(command: Command, options: { readonly ndjson?: boolean } = {}): Command {
  command.option('--json', 'print one JSON document');
  if (options.ndjson)
    command.addOption(new Option('--ndjson', 'print one JSON object a line').conflicts('json'));
  return command;
}

/** `--version` and `--timestamp`. */
export function withVersion(command: Command): Command {
  return command
    .option('--version <n>', 'the table at this version', wholeNumber)
    .addOption(
      new Option('--timestamp <instant>', 'the table as it was then, such as 2024-01-31T12:00:00Z').conflicts(
        'version',
      ),
    );
}

/** The runtime options that the flags stand for. */
export function runtimeOptions(flags: StoreFlags): RuntimeOptions {
  return {
    fsync: flags.fsync,
    s3: {
      ...given('endpoint', flags.endpoint),
      ...given('region', flags.region),
      ...given('forcePathStyle', flags.pathStyle),
      ...given('singleWriter', flags.singleWriter),
      ...given(
        'requestTimeoutMs',
        flags.requestTimeout === undefined ? undefined : flags.requestTimeout * 1000,
      ),
      ...given('retryForMs', flags.retryFor === undefined ? undefined : flags.retryFor * 1000),
    },
  };
}

/** An object with the member, or without it where there is no value. */
export function given<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: V });
}

/** A whole number, 0 or more. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('It must be a whole number, 0 or more.');
  return value;
}

/** Names separated by commas. */
export function nameList(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) throw new InvalidArgumentError('It must be names separated by commas.');
  return names;
}

/** Gathers a repeated option. */
export function repeated(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

/** Gathers `key=value` pairs. */
export function keyValue(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be KEY=VALUE.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

function seconds(text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value)))
    throw new InvalidArgumentError('It must be a number of seconds above 0.');
  return value;
}
