import { CommanderError } from 'commander';
import { describe, expect, test } from 'vitest';
import { errorDocument, errorLines, exitCodeOf } from '../../../src/cli/errors.js';
import { type ErrorCode, TableError } from '../../../src/errors.js';
import { schemaFaults } from '../../support/json-schema.js';

describe('the exit code of an error', () => {
  test.each<[ErrorCode, number]>([
    ['NOT_A_TABLE', 1],
    ['STORE_FAILED', 1],
    ['COMMIT_CONFLICT', 4],
    ['GUARD_REFUSED', 6],
    ['COMMIT_STATE_UNKNOWN', 7],
    ['ABORTED', 130],
  ])('%s is %i', (code, exit) => {
    expect(exitCodeOf(new TableError(code, 'x'))).toBe(exit);
    expect(schemaFaults('error', errorDocument(new TableError(code, 'x', { a: 1 })))).toEqual([]);
  });

  test('a wrong command line is 2, help is 0, anything else 1', () => {
    expect(exitCodeOf(new CommanderError(1, 'commander.unknownOption', 'error: x'))).toBe(2);
    expect(exitCodeOf(new CommanderError(0, 'commander.helpDisplayed', 'x'))).toBe(0);
    expect(exitCodeOf(new Error('x'))).toBe(1);
  });
});

describe('the words of an error', () => {
  test('a conflict says that it is safe to run again', () => {
    expect(errorLines(new TableError('COMMIT_CONFLICT', 'No.')).join('\n')).toMatch(
      /error: No\.\n.*safe to run/,
    );
  });

  test('what is no table error is shown by its message', () => {
    expect(errorLines(new Error('x'))).toEqual(['error: x']);
    expect(errorDocument('x')).toMatchObject({ error: { code: 'INTERNAL', message: 'x' } });
  });
});
