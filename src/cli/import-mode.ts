import type { Evolve, Verb } from '../write/verb.js';
import type { WriteFlags } from './write-options.js';

export const IMPORT_MODES = [
  'append',
  'overwrite-partitions',
  'overwrite',
  'replace-using',
  'merge',
] as const;
export type ImportMode = (typeof IMPORT_MODES)[number];

/** What `import` does with its rows, as commander parses it. */
export interface ModeFlags extends WriteFlags {
  readonly mode: ImportMode;
  readonly where?: string;
  readonly all?: boolean;
  readonly on?: readonly string[];
  readonly nullKeys?: boolean;
  readonly dedupeBy?: readonly string[];
  readonly dedupeOrder?: 'first' | 'last';
  readonly onReplay?: 'skip' | 'compare';
  readonly evolve?: readonly Evolve[];
}

/** What is wrong with a combination of options, in words; undefined where nothing is. */
export function modeFault(flags: ModeFlags): string | undefined {
  const { mode, on, token } = flags;
  const only = (given: unknown, option: string, modes: readonly ImportMode[]): string | undefined =>
    given !== undefined && !modes.includes(mode)
      ? `${option} goes with --mode ${modes.join(' or ')}, not with ${mode}`
      : undefined;
  const isReplaced = flags.evolve?.includes('overwrite') ?? false;
  const lacksKey = on === undefined && (mode === 'replace-using' || mode === 'merge');
  return (
    only(flags.where, '--where', ['overwrite']) ??
    only(flags.all, '--all', ['overwrite']) ??
    only(on, '--on', ['replace-using', 'merge']) ??
    only(flags.nullKeys, '--null-keys', ['replace-using']) ??
    only(flags.dedupeBy, '--dedupe-by', ['merge']) ??
    (lacksKey ? `--mode ${mode} needs --on: the key columns, separated by commas` : undefined) ??
    (flags.dedupeOrder && !flags.dedupeBy ? '--dedupe-order needs --dedupe-by' : undefined) ??
    (isReplaced && (!flags.all || flags.evolve!.length > 1)
      ? '--evolve overwrite goes with --mode overwrite --all alone'
      : undefined) ??
    (flags.onReplay && !token ? '--on-replay needs --token' : undefined)
  );
}

/** The verb that the options stand for; undefined for an overwrite that does not say of what. */
export function verbOf(flags: ModeFlags): Verb | undefined {
  const { mode, where, on = [], dedupeBy } = flags;
  switch (mode) {
    case 'append':
      return 'append';
    case 'overwrite-partitions':
      return 'overwritePartitions';
    case 'overwrite':
      if (where !== undefined) return { verb: 'overwrite', where };
      return flags.all ? { verb: 'overwrite', all: true } : undefined;
    case 'replace-using':
      return { verb: 'replaceUsing', columns: on, nullKeys: flags.nullKeys };
    case 'merge':
      return { verb: 'merge', on, dedupe: dedupeBy && { by: dedupeBy, order: flags.dedupeOrder ?? 'last' } };
  }
}
