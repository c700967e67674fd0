import { Command } from 'commander';
import { VERSION } from '../version.js';
import { registerAlter } from './alter.js';
import { registerCat } from './cat.js';
import { registerChanges } from './changes.js';
import { registerCompletion } from './completion.js';
import { registerCreate } from './create.js';
import { registerDelete } from './delete.js';
import { registerDoctor } from './doctor.js';
import { registerExport } from './export.js';
import { registerFiles } from './files.js';
import { registerHistory } from './history.js';
import { registerImport } from './import.js';
import { registerInfo } from './info.js';
import { registerLog } from './log.js';
import type { StoreFlags } from './options.js';
import { registerPartitions } from './partitions.js';
import { registerBackfill } from './pipeline/backfill.js';
import { registerBlame } from './pipeline/blame.js';
import { registerCatchUp } from './pipeline/catchup.js';
import { registerCoverage } from './pipeline/coverage.js';
import { registerGaps } from './pipeline/gaps.js';
import { registerRun } from './pipeline/run.js';
import { registerRuns } from './pipeline/runs.js';
import { registerUndo } from './pipeline/undo.js';
import { registerVerify } from './pipeline/verify.js';
import { registerProtocol } from './protocol.js';
import { registerSchema } from './schema.js';
import type { Session } from './session.js';
import type { Terminal } from './terminal.js';
import { registerUpdate } from './update.js';

/** How a command takes an interruption. */
export interface RunOptions {
  /** True for a command that has something to clean up or to find out: it watches the signal itself. Others are left where they are. */
  readonly stopsItself?: boolean;
}

/** How a command is run: with a session that is closed behind it; what `action` gives is the exit code, 0 when nothing. */
export interface Cli {
  readonly terminal: Terminal;
  run(
    flags: StoreFlags,
    action: (session: Session) => Promise<number | undefined>,
    options?: RunOptions,
  ): Promise<void>;
}

/** Adds one command to the program. */
export type Register = (program: Command, cli: Cli) => void;

const TABLE_COMMANDS: readonly Register[] = [
  registerCreate,
  registerImport,
  registerDelete,
  registerUpdate,
  registerAlter,
  registerInfo,
  registerSchema,
  registerHistory,
  registerFiles,
  registerPartitions,
  registerCat,
  registerExport,
  registerChanges,
  registerProtocol,
  registerLog,
  registerDoctor,
];

const PIPELINE_COMMANDS: readonly Register[] = [
  registerRun,
  registerCatchUp,
  registerBackfill,
  registerCoverage,
  registerRuns,
  registerGaps,
  registerVerify,
  registerUndo,
  registerBlame,
];

/** The whole command line. Nothing heavy is loaded before an action asks for it. */
export function buildProgram(cli: Cli): Command {
  const program = new Command('tablectl')
    .description('Delta tables on S3-compatible object storage or in a local folder.')
    .version(VERSION, '--version', 'print the version')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => cli.terminal.stdout.write(text),
      writeErr: (text) => cli.terminal.stderr.write(text),
    })
    .showHelpAfterError('Run with --help to see the options and examples.');
  program.addHelpText(
    'after',
    `
A table is s3://bucket/prefix, file:///path or a path.
Exit codes: 0 done, 1 failed, 2 usage, 3 part of it failed, 4 conflict (safe to run again), 5 a check found something,
6 refused by a guard, 7 commit state unknown, 130 interrupted.`,
  );
  program.commandsGroup('Tables:');
  for (const register of TABLE_COMMANDS) register(program, cli);
  program.commandsGroup('Pipelines, each a file that exports what definePipeline gives:');
  for (const register of PIPELINE_COMMANDS) register(program, cli);
  program.commandsGroup('The shell:');
  registerCompletion(program, cli);
  return program;
}
